# SPDX-License-Identifier: Apache-2.0
"""FSCK REPAIR TABLE: entries of files that are gone leave the log; a vector that is gone brings nothing back. CHECKPOINT of a table."""

import os

import duckdb
import pytest

import delta_log
from conftest import connect_lake
from judges import assert_all_see, last_checkpoint
from racing import commit_late
from refusal import refuse


def rows(con, query="SELECT id FROM t ORDER BY ALL"):
    return [row[0] for row in con.execute(query).fetchall()]


@pytest.fixture
def t(con, lake):
    con.execute("CREATE TABLE t (id BIGINT)")
    for i in range(3):
        con.execute(f"INSERT INTO t VALUES ({i})")
    return lake / "t"


def file_of(t, version):
    return delta_log.actions(t, "add", at=version)[0]["path"]


def test_nothing_missing_is_no_commit(con, t):
    assert con.execute("FSCK REPAIR TABLE t").fetchall() == []
    assert con.execute("FSCK REPAIR TABLE t DRY RUN").fetchall() == []
    assert delta_log.version(t) == 3


def test_missing_files_leave_the_log(con, t):
    gone = file_of(t, 2)
    os.remove(t / gone)
    with pytest.raises(duckdb.Error, match=gone):
        rows(con)
    report = [(gone, True, None, False)]
    assert con.execute("FSCK REPAIR TABLE lake.t DRY RUN").fetchall() == report
    assert delta_log.version(t) == 3
    assert con.execute("FSCK REPAIR TABLE t").fetchall() == report
    assert [row[0] for row in assert_all_see(con, t)] == [0, 2]
    info = delta_log.info(t)
    assert (info["operation"], info["operationMetrics"]["numRemovedFiles"], info["isBlindAppend"]) == ("FSCK", "1", False)
    remove, = delta_log.actions(t, "remove")
    assert (remove["path"], remove["dataChange"]) == (gone, True)
    assert con.execute("FSCK REPAIR TABLE t").fetchall() == []


def test_a_vector_that_is_gone_is_reported_and_no_row_comes_back(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(100000)")
    con.execute("INSERT INTO t VALUES (-1)")
    con.execute("DELETE FROM t WHERE hash(id) % 2 = 0")
    vector, = [file for file in delta_log.files_on_disk(lake / "t") if file.startswith("deletion_vector")]
    data, = delta_log.actions(lake / "t", "add")[0:1]
    os.remove(lake / "t" / vector)
    assert con.execute("FSCK REPAIR TABLE t").fetchall() == [(data["path"], False, vector, True)]
    assert delta_log.version(lake / "t") == 2
    with pytest.raises(duckdb.Error, match=vector):
        rows(con, "SELECT id FROM t WHERE id > 5")
    os.remove(lake / "t" / data["path"])  # now the file is gone as well
    assert con.execute("FSCK REPAIR TABLE t").fetchall() == [(data["path"], True, vector, True)]
    assert rows(con) in ([], [-1])
    assert assert_all_see(con, lake / "t") == [(id,) for id in rows(con)]


def test_others_write_meanwhile(con, t):
    other = connect_lake(t.parent)
    os.remove(t / file_of(t, 1))
    commit_late(con, "FSCK REPAIR TABLE t", lambda: other.execute("INSERT INTO t VALUES (7)"))
    assert [row[0] for row in assert_all_see(con, t)] == [1, 2, 7]
    os.remove(t / file_of(t, 2))
    with pytest.raises(duckdb.TransactionException, match="DELTA_CONCURRENT_DELETE_DELETE"):
        commit_late(con, "FSCK REPAIR TABLE t", lambda: other.execute("FSCK REPAIR TABLE t"))
    assert [row[0] for row in assert_all_see(con, t)] == [2, 7]


def test_refusals(con, t, connect):
    for statement in ("FSCK REPAIR TABLE", "FSCK REPAIR TABLE t DRY", "FSCK REPAIR TABLE t WHERE id = 1"):
        refuse(con, t, statement, "syntax error")
    refuse(con, t, "FSCK REPAIR TABLE missing", "missing")
    con.execute("ALTER TABLE t SET TBLPROPERTIES ('delta.appendOnly' = 'true')")
    os.remove(t / file_of(t, 1))
    refuse(con, t, "FSCK REPAIR TABLE t", "DELTA_CANNOT_MODIFY_APPEND_ONLY")
    con.close()
    refuse(connect(t.parent, read_only=True), t, "FSCK REPAIR TABLE t", "read-only")


@pytest.mark.parametrize("policy", ["classic", "v2"])
def test_checkpoint_of_a_table(con, lake, policy):
    con.execute(f"CREATE TABLE t (id BIGINT) TBLPROPERTIES ('delta.checkpointPolicy' = '{policy}')")
    con.execute("INSERT INTO t VALUES (1), (2)")
    con.execute("DELETE FROM t WHERE id = 1")
    assert con.execute("CHECKPOINT t").fetchall() == [(2,)]
    log = lake / "t" / "_delta_log"
    assert last_checkpoint(lake / "t") == 2
    kind = "*.checkpoint.parquet" if policy == "classic" else "*.checkpoint.*.json"
    assert len(list(log.glob(kind))) == 1
    before = {path: path.stat().st_mtime_ns for path in log.rglob("*") if path.is_file()}
    assert con.execute(f"CHECKPOINT delta.`{lake / 't'}`").fetchall() == [(2,)]
    assert {path: path.stat().st_mtime_ns for path in log.rglob("*") if path.is_file()} == before  # there was one
    for version in range(2):
        os.remove(log / f"{version:020}.json")
    fresh = connect_lake(lake)
    assert fresh.execute("FROM t").fetchall() == [(2,)]
    assert assert_all_see(fresh, lake / "t") == [(2,)]


def test_checkpoint_of_a_database_is_duckdbs(con, lake, tmp_path):
    con.execute(f"ATTACH '{tmp_path / 'plain.duckdb'}' AS plain")
    con.execute("CREATE TABLE plain.x AS SELECT 1 AS a")
    con.execute("CHECKPOINT plain")
    con.execute("CREATE TABLE plain (id INT)")  # a table of the lake by the name of a database
    con.execute("CHECKPOINT plain")
    assert not (lake / "plain" / "_delta_log" / "_last_checkpoint").exists()
    con.execute("CHECKPOINT lake.plain")
    assert last_checkpoint(lake / "plain") == 0
    with pytest.raises(duckdb.Error, match="CHECKPOINT"):
        con.execute("CHECKPOINT lake")
    with pytest.raises(duckdb.Error, match="missing"):
        con.execute("CHECKPOINT missing")
