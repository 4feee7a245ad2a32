# SPDX-License-Identifier: Apache-2.0
"""braid_txn_app_id and braid_txn_version: an application's version is written once. braid_last_commit() and braid_last_conflict() say what
happened; braid_user_metadata goes into the log."""

import duckdb
import pytest
from deltalake import DeltaTable

import delta_log


@pytest.fixture
def table(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(10)")
    return lake / "t"


def as_application(con, version, app="loader"):
    con.execute(f"SET braid_txn_app_id = '{app}'")
    con.execute(f"SET braid_txn_version = {version}")


def count(con):
    return con.execute("SELECT count(*) FROM t").fetchone()[0]


def test_a_repeated_version_is_skipped_and_says_so(con, lake, table):
    as_application(con, 5)
    assert con.execute("INSERT INTO t VALUES (100)").fetchall() == [(1,)]
    assert DeltaTable(str(table)).transaction_version("loader") == 5
    assert con.execute("SELECT outcome, version FROM braid_last_commit()").fetchall() == [("committed", 1)]
    before = delta_log.files_on_disk(table)
    for statement in ("INSERT INTO t VALUES (100)", "DELETE FROM t", "UPDATE t SET id = 0",
                      "MERGE INTO t USING (SELECT 1 AS id) s USING (id) WHEN MATCHED THEN DELETE"):
        assert con.execute(statement).fetchall() == [(0,)], statement
        assert con.execute("SELECT outcome, version FROM braid_last_commit()").fetchall() == [("skipped", 1)]
    assert con.execute("INSERT INTO t VALUES (100) RETURNING id").fetchall() == []
    assert (delta_log.files_on_disk(table), delta_log.version(table), count(con)) == (before, 1, 11)
    as_application(con, 4)
    con.execute("INSERT INTO t VALUES (101)")
    as_application(con, 5, "another")
    con.execute("INSERT INTO t VALUES (102)")
    as_application(con, 6)
    con.execute("DELETE FROM t WHERE id = 102")
    assert count(con) == 11
    assert DeltaTable(str(table)).transaction_version("loader") == 6
    assert DeltaTable(str(table)).transaction_version("another") == 5


def test_a_version_that_changed_nothing_counts_as_written(con, table):
    as_application(con, 1)
    con.execute("DELETE FROM t WHERE id = 77")
    con.execute("INSERT INTO t VALUES (77)")
    assert (delta_log.version(table), delta_log.info(table)["operation"], count(con)) == (1, "DELETE", 10)


def test_the_statements_of_a_transaction_are_one_write(con, table):
    as_application(con, 1)
    con.execute("BEGIN")
    con.execute("INSERT INTO t VALUES (100)")
    con.execute("INSERT INTO t VALUES (101)")
    con.execute("COMMIT")
    assert (delta_log.version(table), count(con)) == (1, 12)


def test_two_that_race_with_one_application(con, connect, lake, table):
    other = connect(lake)
    as_application(con, 1)
    con.execute("BEGIN")
    con.execute("INSERT INTO t VALUES (100)")
    as_application(other, 1)
    other.execute("INSERT INTO t VALUES (100)")
    with pytest.raises(duckdb.TransactionException, match="DELTA_CONCURRENT_TRANSACTION"):
        con.execute("COMMIT")
    assert con.execute("SELECT class, winner_version FROM braid_last_conflict()").fetchall() == [
        ("DELTA_CONCURRENT_TRANSACTION", 1)]
    assert count(con) == 11


@pytest.mark.parametrize("half", ["SET braid_txn_app_id = 'a'", "SET braid_txn_version = 1"])
def test_half_of_the_pair_is_refused(con, table, half):
    con.execute(half)
    with pytest.raises(duckdb.InvalidInputException, match="go together"):
        con.execute("INSERT INTO t VALUES (1)")
    assert delta_log.version(table) == 0


def test_making_a_table_is_no_repeated_write(con, lake, table):
    as_application(con, 1)
    con.execute("INSERT INTO t VALUES (100)")
    con.execute("CREATE OR REPLACE TABLE t AS SELECT range AS id FROM range(3)")
    assert count(con) == 3


def test_user_metadata(con, table):
    con.execute("SET braid_user_metadata = 'nightly load'")
    con.execute("DELETE FROM t WHERE id = 1")
    con.execute("RESET braid_user_metadata")
    con.execute("DELETE FROM t WHERE id = 2")
    assert [entry.get("userMetadata") for entry in DeltaTable(str(table)).history()] == [None, "nightly load", None]


def test_last_conflict_and_last_commit(con, connect, lake, table):
    assert con.execute("FROM braid_last_conflict()").fetchall() == []
    other = connect(lake)
    assert other.execute("FROM braid_last_commit()").fetchall() == []
    con.execute("BEGIN")
    con.execute("DELETE FROM t WHERE id = 3")
    other.execute("UPDATE t SET id = 1000 WHERE id = 3")
    with pytest.raises(duckdb.TransactionException):
        con.execute("COMMIT")
    (conflict,) = con.execute(
        "SELECT sqlstate, operation, read_version, winner_version, winner_operation, rows, retry_would_help "
        "FROM braid_last_conflict()").fetchall()
    assert conflict[:5] == ("2D521", "DELETE", 0, 1, "UPDATE")
    assert "3" in conflict[5][0] and conflict[6] is True
    (more,) = con.execute(
        "SELECT winner_engine LIKE 'Braid/%', epoch_ms(winner_timestamp), old_rows, new_rows, matched_predicate, partition "
        "FROM braid_last_conflict()").fetchall()
    assert more[:2] == (True, delta_log.info(table)["timestamp"])
    assert more[2:] == (["id=3"], [], None, None)  # found by its position: no condition was evaluated
    con.execute("BEGIN")
    con.execute("DELETE FROM t WHERE id = 4")
    other.execute("DELETE FROM t WHERE id = 5")
    con.execute("COMMIT")
    assert con.execute(
        "SELECT operation, outcome, version, attempts, winners, rows_rebased FROM braid_last_commit()").fetchall() == [
        ("DELETE", "committed", 3, 1, 1, 1)]
    txn_id = con.execute("SELECT txn_id FROM braid_last_commit()").fetchone()[0]
    assert delta_log.info(table)["txnId"] == txn_id
