# SPDX-License-Identifier: Apache-2.0
"""Public cases C68 to C81: deleted rows stay deleted under every filter, join and aggregate, and in what the log says of them."""

import json

import pyarrow as pa
import pytest

import delta_log
from conftest import connect_lake
from handmade import make_table, removal, write_commit
from judges import assert_all_see, seen_by_deltalake, seen_by_duckdb_delta
from plain_reader import seen_plainly


def rows(con, query="FROM t ORDER BY ALL"):
    return con.execute(query).fetchall()


def test_c68_a_filter_that_drops_row_groups(con, lake):
    """Three row groups; rows of the first are deleted; the filter wants the last."""
    ids = list(range(300))
    make_table(lake / "t", [("id", "long"), ("g", "long")], pa.table({"id": ids, "g": [i // 100 for i in ids]}), row_group_size=100)
    con.execute("ALTER TABLE t SET ('delta.enableDeletionVectors' = 'true')")
    con.execute("DELETE FROM t WHERE id IN (3, 50, 99)")
    for where, expected in [("g = 2", range(200, 300)), ("id >= 250", range(250, 300)), ("id < 101", [i for i in range(101) if i not in (3, 50, 99)]), ("g <> 1", [*(i for i in range(100) if i not in (3, 50, 99)), *range(200, 300)])]:
        assert rows(con, f"SELECT id FROM t WHERE {where} ORDER BY id") == [(i,) for i in expected], where
    con.execute("DELETE FROM t WHERE g = 2 AND id % 50 = 0")  # positions in the third group are those of the file
    assert rows(con, "SELECT count(*), sum(id)::INT FROM t") == [(295, sum(ids) - 3 - 50 - 99 - 200 - 250)]
    assert len(assert_all_see(con, lake / "t")) == 295


def test_c70_filters_that_come_at_run_time_bring_no_row_back(con):
    con.execute("CREATE TABLE t AS SELECT range AS id, range % 100 AS k FROM range(50000)")
    con.execute("DELETE FROM t WHERE id % 3 = 0 OR k = 7")
    con.execute("CREATE TEMP TABLE keys AS SELECT range * 11 AS k FROM range(9)")
    con.execute("CREATE TEMP TABLE plain AS FROM t WHERE random() < 2")
    for query in (
        "SELECT count(*), sum(id) FROM {} AS x JOIN keys USING (k)",
        "SELECT count(*), sum(id) FROM {} AS x WHERE k IN (SELECT k FROM keys WHERE k > 5)",
        "SELECT id, k FROM {} AS x ORDER BY id DESC LIMIT 7",
        "SELECT id, k FROM {} AS x ORDER BY k, id LIMIT 7",
        "SELECT id, k FROM {} AS x WHERE k > 3 ORDER BY k DESC, id LIMIT 3",
        "SELECT max(id), min(k) FROM {} AS x JOIN (SELECT max(id) - 1 AS id FROM t) USING (id)",
    ):
        assert rows(con, query.format("t")) == rows(con, query.format("plain")), query
    assert rows(con, "SELECT count(*) FROM plain") == [(sum(1 for i in range(50000) if i % 3 and i % 100 != 7),)]


# C120: what made trouble in paths. The empty string is refused (test_write_partitions.py).
VALUES = ["A/A", "B B", "R&D", "ID$", "x:y", "a%20b", "a~b", "a?", "aé", "(beta)", "/lead", "trail/", "a=b", "#1", "it's", 'q"q', "new\nline",
          "2023-11-05 00:00:00", "back\\slash", "+", "a//b", "%2F"]  # fmt: skip


def test_c71_c72_c120_two_deletes_in_every_partition(con, lake):
    """10 rows for each value, deleted in two goes: 8 are left, and the path in the remove is that of the add, byte for byte."""
    con.execute("CREATE TABLE t (id BIGINT, p VARCHAR, v INT) PARTITIONED BY (p)")
    con.executemany("INSERT INTO t SELECT range, ?, 0 FROM range(10)", [[value] for value in VALUES])
    con.execute("DELETE FROM t WHERE id = 3")
    first = delta_log.version(lake / "t")
    con.execute("DELETE FROM t WHERE id = 4")
    adds = {add["path"]: add for add in delta_log.actions(lake / "t", "add", first)}
    for remove in delta_log.actions(lake / "t", "remove"):
        assert remove["deletionVector"] == adds[remove["path"]]["deletionVector"]
    assert len(adds) == len(VALUES)
    assert dict(rows(con, "SELECT p, count(*) FROM t GROUP BY p")) == {value: 8 for value in VALUES}
    for value in VALUES:
        assert con.execute("SELECT count(*) FROM t WHERE p = ?", [value]).fetchone() == (8,)
    # C100: the same MERGE twice changes rows in place.
    for turn in (1, 2):
        con.execute("""MERGE INTO t USING (SELECT DISTINCT 5 AS id, p FROM t) src ON t.id = src.id AND t.p = src.p
                       WHEN MATCHED THEN UPDATE SET v = v + 1 WHEN NOT MATCHED THEN INSERT VALUES (src.id, src.p, -1)""")
        assert rows(con, "SELECT count(*), sum(v)::INT FROM t") == [(8 * len(VALUES), turn * len(VALUES))]
    con.execute("UPDATE t SET p = p || '!' WHERE id = 6")
    assert len(assert_all_see(con, lake / "t")) == 8 * len(VALUES)
    assert set(delta_log.active(lake / "t")) <= delta_log.files_on_disk(lake / "t")


@pytest.mark.parametrize("threads", [1, 4])
def test_c74_aggregates_leave_deleted_rows_out(con, threads):
    con.execute(f"SET threads = {threads}")
    con.execute("CREATE TABLE t (id INT, x INT)")
    con.execute("INSERT INTO t VALUES (1, NULL), (2, 1), (3, 2)")
    question = "SELECT count(*), count(x), min(x), max(x), sum(x)::INT, count(*) FILTER (x IS NULL) FROM t"
    assert rows(con, question) == [(3, 2, 1, 2, 3, 1)]
    con.execute("DELETE FROM t WHERE x IS NULL")
    assert rows(con, question) == [(2, 2, 1, 2, 3, 0)]
    assert rows(con, "SELECT count(*) FROM t WHERE x IS NULL") == [(0,)] and rows(con, "SELECT count(*) FROM t WHERE x IS NOT NULL") == [(2,)]
    con.execute("DELETE FROM t WHERE x = 2")
    assert rows(con, question) == [(1, 1, 1, 1, 1, 0)]
    assert rows(con, "SELECT max(x), max(id) FROM t") == [(1, 2)]
    con.execute("BEGIN")
    con.execute("DELETE FROM t")
    assert rows(con, question) == [(0, 0, None, None, None, 0)]
    con.execute("ROLLBACK")


def test_c77_a_restore_to_before_a_delete(con, lake):
    """Another engine's RESTORE: the same path with no vector, then with the first of two."""
    table = lake / "t"
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(10)")
    con.execute("DELETE FROM t WHERE id = 1")
    con.execute("DELETE FROM t WHERE id = 2")
    adds = {version: delta_log.actions(table, "add", version)[0] for version in range(3)}
    for version, restored in ((3, 0), (4, 1)):
        (now,) = delta_log.active(table).values()
        write_commit(table, version, {"commitInfo": {"operation": "RESTORE"}}, {"remove": removal(now, True)}, {"add": adds[restored]})
        assert rows(con, "SELECT count(*) FROM t") == [(10 - restored,)]
        assert seen_by_duckdb_delta(table) == [(i,) for i in range(10) if restored == 0 or i != 1]
    con.execute("DELETE FROM t WHERE id = 2")
    assert rows(con, "SELECT id FROM t ORDER BY id") == [(i,) for i in range(10) if i not in (1, 2)]


def test_c77_our_restore_to_before_a_delete(con, lake):
    """10 rows, two deleted, restored: 10 rows, and one pair of remove and add of the same path, each with its own vector."""
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(10)")
    con.execute("DELETE FROM t WHERE id IN (3, 4)")
    con.execute("RESTORE TABLE t TO VERSION AS OF 0")
    assert len(assert_all_see(con, lake / "t")) == 10
    (remove,), (add,) = delta_log.actions(lake / "t", "remove"), delta_log.actions(lake / "t", "add")
    assert remove["path"] == add["path"] and "deletionVector" in remove and "deletionVector" not in add


@pytest.mark.parametrize("mode", ["name", "id"])
@pytest.mark.parametrize("vectors", ["true", "false"])
def test_c78_c124_column_mapping_with_vectors_and_partitions(con, lake, mode, vectors):
    con.execute(f"""CREATE TABLE t (id BIGINT, "the part" VARCHAR, v INT) PARTITIONED BY ("the part")
                    WITH ('delta.columnMapping.mode' = '{mode}', 'delta.enableDeletionVectors' = '{vectors}')""")
    con.execute("INSERT INTO t SELECT range, 'p' || range % 3, 0 FROM range(30)")
    (physical,) = {key for add in delta_log.active(lake / "t").values() for key in add["partitionValues"]}
    assert physical != "the part"
    con.execute("DELETE FROM t WHERE id IN (3, 4, 5)")
    con.execute("UPDATE t SET v = 1 WHERE \"the part\" = 'p1' AND id < 10")
    con.execute("UPDATE t SET \"the part\" = 'p9' WHERE id = 29")
    con.execute("""MERGE INTO t USING (VALUES (0, 'p0'), (100, 'p7')) src(id, p) ON t.id = src.id AND t."the part" = src.p
                   WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (src.id, src.p, 2)""")
    expected = [(i, "p9" if i == 29 else f"p{i % 3}", int(i % 3 == 1 and i < 10)) for i in range(1, 30) if i not in (3, 4, 5)] + [(100, "p7", 2)]
    assert rows(con) == expected
    assert rows(connect_lake(lake), "SELECT count(*) FROM t WHERE \"the part\" = 'p1'") == [(9,)]
    assert seen_by_deltalake(lake / "t") == seen_plainly(lake / "t") == sorted(expected, key=repr)


def test_c81_add_before_remove_in_one_commit(con, lake):
    table = lake / "t"
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(10)")
    con.execute("DELETE FROM t WHERE id = 1")
    con.execute("DELETE FROM t WHERE id = 2")
    for version in (1, 2):
        path = table / "_delta_log" / f"{version:020}.json"
        lines = path.read_text().splitlines()
        path.write_text("\n".join(sorted(lines, key=lambda line: '{"remove"' in line)) + "\n")
        assert list(json.loads(path.read_text().splitlines()[-1])) == ["remove"]
    for version in range(3, 11):  # past a checkpoint, which alone is left
        con.execute(f"INSERT INTO t VALUES ({version * 10})")
    for version in range(10):
        (table / "_delta_log" / f"{version:020}.json").unlink()
    expected = [(i,) for i in (0, *range(3, 10), *range(30, 101, 10))]
    assert rows(connect_lake(lake), "FROM t ORDER BY id") == expected
    assert seen_by_duckdb_delta(table) == sorted(expected, key=repr)


def test_c88_vectors_that_overlap(con, lake):
    """Two statements of one transaction that meet the same rows; then more after it."""
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(70000)")
    con.execute("BEGIN")
    con.execute("DELETE FROM t WHERE id BETWEEN 10 AND 65600")
    con.execute("DELETE FROM t WHERE id BETWEEN 5 AND 65550")
    con.execute("COMMIT")
    con.execute("DELETE FROM t WHERE id IN (4, 65601, 69999)")
    assert rows(con, "SELECT count(*), min(id), max(id) FROM t") == [(70000 - 65596 - 3, 0, 69998)]
    assert rows(con, "SELECT id FROM t WHERE id < 65605 ORDER BY id") == [(0,), (1,), (2,), (3,), (65602,), (65603,), (65604,)]
    (add,) = delta_log.active(lake / "t").values()
    assert add["deletionVector"]["cardinality"] == 65599

