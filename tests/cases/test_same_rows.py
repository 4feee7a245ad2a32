# SPDX-License-Identifier: Apache-2.0
"""Public cases C1 to C25: writers of different rows of one file all commit, writers of one row do not. After each race every file is live once."""

import threading

import pytest

import delta_log
from conftest import connect_lake
from racing import overlapped


def ids(con, where="true"):
    return [i for (i,) in con.execute(f"SELECT id FROM t WHERE {where} ORDER BY id").fetchall()]


def vector(action):
    return action["deletionVector"]


def test_c1_deletes_of_different_rows_of_one_file(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(100)")
    assert overlapped(lake, "DELETE FROM t WHERE id < 10", "DELETE FROM t WHERE id >= 90") == [None, None]
    assert ids(con) == list(range(10, 90))
    (live,) = delta_log.active(lake / "t").values()
    assert vector(live)["cardinality"] == 20
    (first,), (removed,) = delta_log.actions(lake / "t", "add", 1), delta_log.actions(lake / "t", "remove", 2)
    assert vector(removed) == vector(first)


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 1, 2), (2, 3, 1)])
def test_c2_a_file_that_has_a_vector_and_several_winners(con, lake, order):
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(10)")
    con.execute("DELETE FROM t WHERE id = 5")
    programs = [f"DELETE FROM t WHERE id = {i}" for i in order]
    *won, lost = overlapped(lake, *programs, "DELETE FROM t WHERE id IN (4, 2)")
    assert won == [None] * 3
    assert "DELTA_CONCURRENT_DELETE_DELETE" in lost and "id=2" in lost
    assert ids(con) == [0, 4, 6, 7, 8, 9]
    assert len(delta_log.active(lake / "t")) == 1


def test_c2_two_files_in_one_commit(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(10)")
    con.execute("INSERT INTO t SELECT range FROM range(10, 20)")
    con.execute("DELETE FROM t WHERE id IN (5, 15)")
    said = overlapped(lake, "DELETE FROM t WHERE id IN (1, 11)", "DELETE FROM t WHERE id IN (2, 12)", "DELETE FROM t WHERE id IN (3, 12)")
    assert said[:2] == [None, None] and "id=12" in said[2]
    assert ids(con) == [i for i in range(20) if i not in (1, 2, 5, 11, 12, 15)]
    assert len(delta_log.active(lake / "t")) == 2


ONE_ROW = {
    "delete": "DELETE FROM t WHERE id = 7",
    "update": "UPDATE t SET v = v + 100 WHERE id = 7",
    "merge": "MERGE INTO t USING (SELECT 7 AS id) src ON t.id = src.id WHEN MATCHED THEN UPDATE SET v = -1",
    "merge that deletes": "MERGE INTO t USING (SELECT 7 AS id) src ON t.id = src.id WHEN MATCHED THEN DELETE",
}


@pytest.mark.parametrize("vectors", ["true", "false"])
@pytest.mark.parametrize("winner", ONE_ROW)
@pytest.mark.parametrize("loser", ONE_ROW)
def test_c3_c6_one_row_twice(con, lake, winner, loser, vectors):
    con.execute(f"CREATE TABLE t (id BIGINT, v BIGINT) WITH ('delta.enableDeletionVectors' = {vectors})")
    con.execute("INSERT INTO t SELECT range, range FROM range(20)")
    won, lost = overlapped(lake, ONE_ROW[winner], ONE_ROW[loser])
    assert won is None
    assert "DELTA_CONCURRENT_" in lost and "SQLSTATE: 2D521" in lost
    assert "id=7" in lost or (vectors == "false" and "WITHOUT_HINT" in lost and ".parquet" in lost)  # without vectors judged by file
    assert delta_log.version(lake / "t") == 2
    delta_log.active(lake / "t")  # fails if a path is live twice
    left = con.execute("SELECT v FROM t WHERE id = 7").fetchall()
    assert left == {"delete": [], "update": [(107,)], "merge": [(-1,)], "merge that deletes": []}[winner]
    assert len(ids(con)) == 19 + len(left)


@pytest.mark.parametrize("level", ["Serializable", "WriteSerializable"])
def test_c4_a_new_image_that_the_loser_does_not_select(con, lake, level):
    con.execute(f"CREATE TABLE t (id BIGINT, v BIGINT) WITH ('delta.isolationLevel' = '{level}')")
    con.execute("INSERT INTO t SELECT range, CASE WHEN range = 9 THEN 6 ELSE 0 END FROM range(20)")
    assert overlapped(lake, "UPDATE t SET v = 5 WHERE id = 1", "DELETE FROM t WHERE id = 2") == [None, None]
    assert ids(con) == [0, 1, *range(3, 20)] and ids(con, "v = 5") == [1]
    won, lost = overlapped(lake, "UPDATE t SET v = 6 WHERE id = 3", "DELETE FROM t WHERE v = 6")  # the twin: the image matches
    assert won is None and "DELTA_CONCURRENT_APPEND.ROW_LEVEL_CHANGES" in lost and "id=3" in lost
    assert ids(con, "v = 6") == [3, 9]


READS_GROUP_A = {
    "a MERGE that finds nothing": """MERGE INTO t USING (SELECT 'a' AS grp) src ON t.grp = src.grp
                                     WHEN MATCHED AND t.v > 1000 THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (-1, src.grp, 0)""",
    "a count": "INSERT INTO t SELECT -1, 'count', count(*) FROM t WHERE grp = 'a'",
    "a DELETE that finds nothing": "DELETE FROM t WHERE grp = 'a' AND v > 1000",
}
CHANGES_OF_GROUP_A = {  # by what READS_GROUP_A reads of a row, "count" reads all of the group
    "removed": ("DELETE FROM t WHERE id = 0", {"a MERGE that finds nothing", "a count"}),
    "moved out": ("UPDATE t SET grp = 'c' WHERE id = 0", {"a MERGE that finds nothing", "a count"}),
    "of another group": ("DELETE FROM t WHERE id = 1", set()),
}


@pytest.mark.parametrize("level", ["Serializable", "WriteSerializable"])
@pytest.mark.parametrize("change", CHANGES_OF_GROUP_A)
@pytest.mark.parametrize("reader", READS_GROUP_A)
def test_c5_a_file_that_was_only_read(con, lake, reader, change, level):
    con.execute(f"CREATE TABLE t (id BIGINT, grp VARCHAR, v BIGINT) WITH ('delta.isolationLevel' = '{level}')")
    con.execute("INSERT INTO t SELECT range, CASE WHEN range % 2 = 0 THEN 'a' ELSE 'b' END, range FROM range(20)")
    theirs, refuses = CHANGES_OF_GROUP_A[change]
    # Something to commit, also if the reader found nothing.
    won, said = overlapped(lake, theirs, [READS_GROUP_A[reader], "INSERT INTO t VALUES (-2, 'mine', 0)"])
    assert won is None
    if reader in refuses:
        assert "DELTA_CONCURRENT_DELETE_READ" in said and "id=0" in said
    else:
        assert said is None
    assert (ids(con, "id = -2") == []) == (reader in refuses)


@pytest.mark.parametrize("bounds", [32, 0])
@pytest.mark.parametrize("layout", ["", "CLUSTER BY (customer_id)"])
def test_c7_new_files_of_another_range_are_no_conflict(con, lake, layout, bounds):
    con.execute(f"CREATE TABLE t (customer_id BIGINT, id BIGINT, v INT) USING DELTA {layout} TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '{bounds}')")
    for first in (1, 101):
        con.execute(f"INSERT INTO t SELECT range, range, 0 FROM range({first}, {first + 100})")
    update = "UPDATE t SET v = 1 WHERE customer_id BETWEEN {} AND {}"
    assert overlapped(lake, update.format(10, 20), update.format(110, 120)) == [None, None]
    assert ids(con, "v = 1") == [*range(10, 21), *range(110, 121)]


def test_c10_twenty_jobs_and_their_rows_of_a_control_table(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id, 0 AS mark FROM range(20)")
    jobs = [connect_lake(lake, threads=1) for _ in range(20)]
    barrier, failures = threading.Barrier(20), []

    def job(number):
        barrier.wait(120)
        try:
            jobs[number].execute(f"UPDATE t SET mark = mark + 1 + {number} WHERE id = {number}")
        except Exception as error:  # noqa: BLE001 - a thread's exception would not be seen
            failures.append(str(error))

    threads = [threading.Thread(target=job, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    for connection in jobs:
        connection.close()
    assert failures == []
    assert con.execute("FROM t ORDER BY id").fetchall() == [(i, 1 + i) for i in range(20)]
    assert delta_log.version(lake / "t") == 20


@pytest.mark.parametrize("order", ["large first", "small first"])
def test_c14_vectors_inline_and_in_a_file_are_compared_by_row(con, lake, order):
    con.execute("CREATE TABLE t AS SELECT range AS id, (hash(range) % 3)::INT AS h FROM range(30000)")
    (one, other) = con.execute("SELECT min(id) FILTER (h = 1), min(id) FILTER (h <> 1) FROM t").fetchone()
    large, small = "DELETE FROM t WHERE h = 1", f"DELETE FROM t WHERE id IN ({one}, {other})"
    before = con.execute("SELECT count(*) FROM t WHERE h = 1").fetchone()[0]
    won, lost = overlapped(lake, *((large, small) if order == "large first" else (small, large)))
    assert won is None and f"id={one}" in lost
    (add,) = delta_log.actions(lake / "t", "add", 1)
    assert vector(add)["storageType"] == ("u" if order == "large first" else "i")
    assert len(ids(con)) == 30000 - (before if order == "large first" else 2)
    assert overlapped(lake, f"DELETE FROM t WHERE id = {other + 3} OR id = {other}" if order == "large first" else large.replace("h = 1", "h = 2"),
                      "DELETE FROM t WHERE h = 0 AND id > 20000")[0] is None  # fmt: skip


@pytest.mark.parametrize("vectors", ["true", "false"])
@pytest.mark.parametrize("partitioned", ["", "PARTITIONED BY (p)"])
def test_c23_two_overwrites_by_one_condition(con, lake, partitioned, vectors):
    con.execute(f"CREATE TABLE t (p VARCHAR, b BOOLEAN, id BIGINT, v INT) {partitioned} WITH ('delta.enableDeletionVectors' = {vectors})")
    con.execute("INSERT INTO t VALUES ('a', true, 1, 0), ('a', true, 2, 0), ('a', false, 3, 0), ('b', true, 4, 0), ('b', false, 5, 0), ('b', true, 6, 0)")
    overwrite = "INSERT INTO t REPLACE WHERE p = 'a' AND b VALUES ('a', true, {}, 1)"
    won, lost = overlapped(lake, overwrite.format(10), overwrite.format(20))
    assert won is None and "DELTA_CONCURRENT_" in lost
    assert ids(con) == [3, 4, 5, 6, 10]
    con.execute("DELETE FROM t WHERE p = 'a' AND b")
    won, lost = overlapped(lake, overwrite.format(30), overwrite.format(40))  # nothing there to be replaced: both have asked
    assert won is None and "DELTA_CONCURRENT_APPEND" in lost
    assert ids(con) == [3, 4, 5, 6, 30]


@pytest.mark.parametrize("kind, values", [("VARCHAR", ("'x'", "'y z'")), ("INTEGER", ("1", "2")), ("DATE", ("'2024-02-29'::DATE", "'2024-03-01'::DATE"))])
def test_c25_merges_into_partitions_of_their_own(con, lake, kind, values):
    con.execute(f"CREATE TABLE t (id BIGINT, p {kind}, v INT) PARTITIONED BY (p)")
    for value in values:
        con.execute(f"INSERT INTO t SELECT range, {value}, 0 FROM range(10)")
    merge = """MERGE INTO t AS target USING (SELECT range AS id, {0} AS p FROM range(5, 15)) AS source
               ON target.id = source.id AND target.p = source.p AND target.p = {0}
               WHEN MATCHED THEN UPDATE SET v = 1 WHEN NOT MATCHED THEN INSERT VALUES (source.id, source.p, 2)"""
    assert overlapped(lake, *(merge.format(value) for value in values)) == [None, None]
    assert con.execute("SELECT p, count(*), sum(v)::INT FROM t GROUP BY p").fetchall().__len__() == 2
    assert con.execute("SELECT DISTINCT count(*), sum(v)::INT FROM t GROUP BY p").fetchall() == [(15, 5 + 10)]
