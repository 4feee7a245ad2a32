# SPDX-License-Identifier: Apache-2.0
"""RESTORE, SHALLOW CLONE, CONVERT TO DELTA, FSCK, REORG of dropped columns and an INSERT that is followed by a compaction, ended by kill -9 before each
of their operations on a file of the lake: for every engine the table is as before or as after, a source is as ever, the statement can be run again."""

import dataclasses
import os
import shutil
from collections.abc import Callable

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import delta_log
from judges import seen_by_deltalake

T = ["CREATE TABLE t (k BIGINT, v BIGINT)", "INSERT INTO t SELECT range, 7 FROM range(30)", "DELETE FROM t WHERE k % 10 = 3",
     "INSERT INTO t SELECT range, 8 FROM range(100, 110)"]  # fmt: skip
FIRST = [(k, 7) for k in range(30)]
NOW = [row for row in FIRST if row[0] % 10 != 3] + [(k, 8) for k in range(100, 110)]
FILES = [f"INSERT INTO t SELECT range, 7 FROM range({n}, {n + 2})" for n in (0, 2, 4)]


def remove_one_file(lake):
    (file,) = delta_log.actions(lake / "t", "add", at=3)
    os.remove(lake / "t" / file["path"])


def write_parquet(lake):
    for day, keys in ("1", range(5)), ("a b%", range(5, 8)):
        folder = lake / "t" / f"day={day.replace('%', '%25')}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"k": pa.array(keys, pa.int64())}), folder / "file.parquet")


def dropped_columns_are_gone(lake):
    files = delta_log.active(lake / "t")
    assert files and all(len(pq.ParquetFile(lake / "t" / path).schema.names) == 2 for path in files)


def is_compacted(lake):
    assert delta_log.info(lake / "t")["operationParameters"].get("auto") == "true" or len(delta_log.active(lake / "t")) == 2


@dataclasses.dataclass
class Case:
    prepare: list[str]  # statements that make the tables
    statement: str
    before: list[tuple] | None  # rows of the table; None: it cannot be read
    after: list[tuple]
    table: str = "t"
    files: Callable | None = None  # what else is done to the lake before
    settings: list[str] = dataclasses.field(default_factory=list)
    again: list[tuple] | None = None  # rows once the statement has been run again after it was done; None: the same
    refused_again: str = ""  # ... or it is refused with these words
    finally_: Callable | None = None  # what holds of the lake afterwards


CASES = {
    "restore": Case(T, "RESTORE t TO VERSION AS OF 1", NOW, FIRST),
    "restore of metadata": Case([*T, "ALTER TABLE t ADD COLUMN x INT", "INSERT INTO t VALUES (500, 9, 1)"], "RESTORE t TO VERSION AS OF 3",
                                [(*row, None) for row in NOW] + [(500, 9, 1)], NOW),
    "clone": Case(T, "CREATE TABLE c SHALLOW CLONE t", None, NOW, "c", refused_again="already exists"),
    "clone over a table": Case([*T, "CREATE TABLE c AS SELECT 1 AS other"], "CREATE OR REPLACE TABLE c SHALLOW CLONE t", [(1,)], NOW, "c"),
    "clone that follows": Case([*T, "CREATE TABLE c SHALLOW CLONE t VERSION AS OF 2"], "CREATE OR REPLACE TABLE c SHALLOW CLONE t",
                               NOW[:27], NOW, "c"),
    "convert": Case([], "CONVERT TO DELTA t PARTITIONED BY (day VARCHAR)", None, [(k, "1" if k < 5 else "a b%") for k in range(8)],
                    files=write_parquet),
    "repair": Case(T, "FSCK REPAIR TABLE t", None, NOW[:27], files=remove_one_file),
    "dropped columns": Case(["CREATE TABLE t (k BIGINT, x VARCHAR, v BIGINT) WITH ('delta.columnMapping.mode' = 'name')",
                             "INSERT INTO t SELECT range, 'secret', 7 FROM range(30)", "INSERT INTO t VALUES (30, 'y', 7)", "DELETE FROM t WHERE k = 30",
                             "INSERT INTO t VALUES (31, 'z', 8)", "ALTER TABLE t DROP COLUMN x"], "REORG TABLE t APPLY (PURGE)",
                            [*FIRST, (31, 8)], [*FIRST, (31, 8)], finally_=dropped_columns_are_gone),
    "auto compaction": Case(["CREATE TABLE t (k BIGINT, v BIGINT) WITH ('delta.autoOptimize.autoCompact' = 'true')", *FILES],
                            "INSERT INTO t VALUES (6, 7)", FIRST[:6], FIRST[:7], again=sorted([*FIRST[:7], (6, 7)]),
                            settings=["SET braid_auto_compact_min_files = 4"], finally_=is_compacted),
}  # fmt: skip


def assert_rows(con, lake, table, rows, place):
    """Both engines see them; or neither can read the table, and says so."""
    if rows is not None:
        assert sorted(con.execute(f"FROM {table}").fetchall(), key=repr) == sorted(rows, key=repr), place
        assert seen_by_deltalake(lake / table) == sorted(rows, key=repr), place
        return
    with pytest.raises(duckdb.Error, match=r"\bt\b|\bc\b|parquet") as error:
        con.execute(f"FROM {table}").fetchall()
    assert "INTERNAL" not in str(error.value), place
    with pytest.raises(Exception):  # noqa: B017 - each engine has its own
        seen_by_deltalake(lake / table)


@pytest.mark.parametrize("name", CASES)
def test_killed_at_each_step(name, lake, tmp_path, connect, stepped):
    case = CASES[name]
    con = connect(lake)
    for statement in case.prepare:
        con.execute(statement)
    con.close()
    if case.files:
        case.files(lake)
    process = stepped(lake, *case.settings, watched=case.statement)
    shutil.copytree(lake, tmp_path / "saved")
    version = delta_log.version(lake / case.table) + 1 if (lake / case.table / "_delta_log").exists() else 0
    commit = f"/{case.table}/_delta_log/{version:020}.json"

    steps, said = process.run()
    assert said == "acknowledged"
    assert sum(kind == "link" and path.endswith(commit) for kind, path in steps) == 1, steps
    for done, place in process.die_before_each(steps, lake, tmp_path / "saved"):
        committed = any(kind == "link" and path.endswith(commit) for kind, path in done)

        con = connect(lake)
        con.execute("SET braid_durability = 'none'")
        assert_rows(con, lake, case.table, case.after if committed else case.before, place)
        if case.table != "t":
            assert_rows(con, lake, "t", NOW, place)
        for setting in case.settings:
            con.execute(setting)
        if committed and case.refused_again:
            with pytest.raises(duckdb.Error, match=case.refused_again):
                con.execute(case.statement)
        else:
            con.execute(case.statement)
        rows = case.again if committed and case.again else case.after
        assert_rows(con, lake, case.table, rows, place)
        if case.finally_:
            case.finally_(lake)
        con.execute(f"INSERT INTO {case.table} SELECT * FROM {case.table} LIMIT 1")  # the next writer goes on
        assert len(seen_by_deltalake(lake / case.table)) == len(rows) + 1, place
        con.close()
