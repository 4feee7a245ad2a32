# SPDX-License-Identifier: Apache-2.0
"""Braid's settings are DuckDB options: listed, checked, obeyed."""

import duckdb
import pytest

import delta_log

DEFAULTS = {
    "braid_durability": "fsync",
    "braid_concurrency_mode": "sound",
    "braid_compat_runtime": "14.3",
    "braid_compat_photon": "true",
    "braid_row_level_concurrency_preview": "false",
    "braid_conflict_time_budget_ms": "10000",
    "braid_commit_timeout_ms": "600000",
    "braid_statement_retries": "0",
    "braid_explain_rows": "5",
    "braid_auto_compact_min_files": "50",
    "braid_txn_app_id": None,
    "braid_txn_version": None,
    "braid_user_metadata": None,
    "braid_partition_overwrite_mode": "static",
    "braid_restore_ignore_missing_files": "false",
    "braid_retention_check": "true",
}


def test_listed_with_defaults_and_help(con):
    listed = con.execute("SELECT name, value, description FROM duckdb_settings() WHERE name LIKE 'braid%'").fetchall()
    assert {name: value for name, value, _ in listed} == DEFAULTS
    assert all(len(help_text) > 10 for _, _, help_text in listed)


@pytest.mark.parametrize(
    "setting, value",
    [("braid_durability", "'maybe'"), ("braid_concurrency_mode", "'loose'"), ("braid_compat_runtime", "'15'"), ("braid_commit_timeout_ms", "0"),
     ("braid_conflict_time_budget_ms", "-1"), ("braid_explain_rows", "-1"), ("braid_statement_retries", "-1"),
     ("braid_auto_compact_min_files", "1")],
)
def test_values_are_checked(con, setting, value):
    with pytest.raises(duckdb.Error, match=setting):
        con.execute(f"SET {setting} = {value}")
    assert con.execute(f"SELECT current_setting('{setting}')::VARCHAR").fetchone()[0] == DEFAULTS[setting]


def test_commits_without_fsync(con, lake):
    con.execute("SET braid_durability = 'NONE'")
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(10)")
    con.execute("DELETE FROM t WHERE id = 1")
    assert delta_log.version(lake / "t") == 1


def test_a_conflict_names_as_many_rows_as_asked(con, connect, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(100)")
    for limit, named in ((0, 0), (2, 2), (50, 10)):
        first, second = connect(lake), connect(lake)
        second.execute(f"SET braid_explain_rows = {limit}")
        low = 20 * limit % 100 if limit else 0
        for connection in (first, second):
            connection.execute("BEGIN")
            connection.execute(f"DELETE FROM t WHERE id BETWEEN {low} AND {low + 9}")
        first.execute("COMMIT")
        with pytest.raises(duckdb.TransactionException) as caught:
            second.execute("COMMIT")
        assert sum(f"id={i}" in str(caught.value) for i in range(low, low + 10)) == named
        con.execute(f"INSERT INTO t SELECT range + {low} FROM range(10)")


def test_no_time_for_row_tests_is_a_conflict_and_not_an_accept(con, connect, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id, range AS v FROM range(1000)")
    winner, loser = connect(lake), connect(lake)
    loser.execute("SET braid_conflict_time_budget_ms = 0")
    winner.execute("BEGIN")
    winner.execute("UPDATE t SET v = 5 WHERE id = 900")
    loser.execute("BEGIN")
    loser.execute("DELETE FROM t WHERE v % 7 = 5")
    winner.execute("COMMIT")
    with pytest.raises(duckdb.TransactionException, match="ALLOTTED_TIME_EXCEEDED"):
        loser.execute("COMMIT")
