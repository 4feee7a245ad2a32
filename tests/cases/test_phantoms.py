# SPDX-License-Identifier: Apache-2.0
"""Public cases C15, C17, C45, C60, C63: what was asked counts, not what was found; levels; tables made by many; an error means that nothing was written."""

import duckdb
import pytest

import delta_log
from racing import overlapped, race

LEVELS = ["Serializable", "WriteSerializable"]


def rows(con, query="FROM t ORDER BY ALL"):
    return con.execute(query).fetchall()


def empty_table(con, level):
    con.execute(f"CREATE TABLE t (id BIGINT, v INT) WITH ('delta.isolationLevel' = '{level}')")


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("present", [False, True])
def test_c15_delete_that_finds_nothing_then_insert(con, lake, level, present):
    empty_table(con, level)
    if present:
        con.execute("INSERT INTO t VALUES (2, 0)")
    program = ["DELETE FROM t WHERE id = 1", "INSERT INTO t VALUES (1, 1)"]
    said = overlapped(lake, program, program, program)
    assert said[0] is None and all("DELTA_CONCURRENT_APPEND" in error for error in said[1:])
    assert rows(con, "SELECT count(*) FROM t WHERE id = 1") == [(1,)]
    for _ in range(2):  # run again, one after the other
        con.execute("BEGIN")
        for statement in program:
            con.execute(statement)
        con.execute("COMMIT")
    assert rows(con, "SELECT count(*) FROM t WHERE id = 1") == [(1,)]


@pytest.mark.parametrize("level", LEVELS)
def test_c15_two_upserts_of_one_absent_key(con, lake, level):
    empty_table(con, level)
    upsert = "MERGE INTO t USING (SELECT 1 AS id) src ON t.id = src.id WHEN MATCHED THEN UPDATE SET v = v + 1 WHEN NOT MATCHED THEN INSERT VALUES (src.id, 1)"
    won, lost = overlapped(lake, upsert, upsert)
    assert won is None and "DELTA_CONCURRENT_APPEND" in lost
    con.execute(upsert)  # run again it is an update
    assert rows(con) == [(1, 2)]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("insert, blind", [("INSERT INTO t VALUES (5, 7)", True), ("INSERT INTO t SELECT 5, 7 FROM t LIMIT 1", False)])
def test_c17_a_long_delete_and_an_insert_of_a_row_that_it_selects(con, lake, level, insert, blind):
    empty_table(con, level)
    con.execute("INSERT INTO t SELECT range, 0 FROM range(10)")
    won, said = overlapped(lake, insert, "DELETE FROM t WHERE id = 5")
    assert won is None
    if blind and level == "WriteSerializable":
        assert said is None and rows(con, "FROM t WHERE id = 5") == [(5, 7)]
    else:
        assert "DELTA_CONCURRENT_APPEND" in said and rows(con, "SELECT v FROM t WHERE id = 5 ORDER BY v") == [(0,), (7,)]


def test_c45_five_processes_make_one_table_and_fill_it(con, lake):
    program = "CREATE TABLE IF NOT EXISTS t (id BIGINT, v INT)"
    outcomes = race(lake, [[program, f"INSERT INTO t VALUES ({number}, 0)"] for number in range(5)])
    assert [outcome.error for outcome in outcomes] == [None] * 5
    assert rows(con, "SELECT id FROM t ORDER BY id") == [(number,) for number in range(5)]


def test_c45_only_a_different_schema_fails(con, lake):
    said = overlapped(
        lake,
        ["CREATE TABLE IF NOT EXISTS t (id BIGINT)", "INSERT INTO t VALUES (1)"],
        ["CREATE TABLE IF NOT EXISTS t (id VARCHAR)", "INSERT INTO t VALUES ('x')"],
    )
    assert said[0] is None and "t" in said[1]
    assert rows(con) == [(1,)]


@pytest.mark.parametrize("vectors", ["true", "false"])
@pytest.mark.parametrize("statement", ["DELETE FROM t WHERE id = 1", "UPDATE t SET v = 9 WHERE id = 1"])
def test_c60_an_error_means_that_nothing_was_written(con, connect, lake, statement, vectors):
    con.execute(f"CREATE TABLE t (id BIGINT, v INT) WITH ('delta.enableDeletionVectors' = {vectors})")
    con.execute("INSERT INTO t VALUES (1, 0), (2, 0)")
    old = connect(lake)
    assert rows(old, "SELECT count(*) FROM t") == [(2,)]
    con.execute("DELETE FROM t WHERE id = 2")  # a handle that is behind: it looks before each statement
    old.execute(statement)
    assert delta_log.version(lake / "t") == 3
    con.execute("INSERT INTO t VALUES (1, 5)")
    old.execute("BEGIN")
    old.execute(statement)
    con.execute("UPDATE t SET v = 4 WHERE id = 1")
    before, staged = (rows(con), delta_log.version(lake / "t")), delta_log.files_on_disk(lake / "t")
    with pytest.raises(duckdb.TransactionException, match="DELTA_CONCURRENT"):
        old.execute("COMMIT")
    assert (rows(con), delta_log.version(lake / "t")) == before
    left = delta_log.files_on_disk(lake / "t")
    assert left <= staged and (left < staged or statement.startswith("DELETE"))  # a new image does not stay


def test_c63_one_snapshot_for_reading_and_writing(con, connect, lake):
    """A transaction is the expected version: what it has read must still hold."""
    con.execute("CREATE TABLE t AS SELECT range AS id, 0 AS v FROM range(10)")
    for question, theirs, clash in [
        ("SELECT sum(v) FROM t", "UPDATE t SET v = 1 WHERE id = 3", True),
        ("SELECT sum(v) FROM t WHERE id < 3", "UPDATE t SET v = 2 WHERE id = 3", False),
        ("SELECT sum(v) FROM t WHERE id < 3", "UPDATE t SET v = 2 WHERE id = 2", True),
    ]:
        con.execute("BEGIN")
        total = con.execute(question).fetchone()[0]
        connect(lake).execute(theirs)
        con.execute("INSERT INTO t VALUES (?, ?)", [100, total])
        if clash:
            with pytest.raises(duckdb.TransactionException, match="DELTA_CONCURRENT"):
                con.execute("COMMIT")
        else:
            con.execute("COMMIT")
    assert rows(con, "FROM t WHERE id = 100") == [(100, 0)]
