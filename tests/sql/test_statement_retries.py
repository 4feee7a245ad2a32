# SPDX-License-Identifier: Apache-2.0
"""braid_statement_retries: after a conflict a statement outside of BEGIN is executed again as a whole on the newest version, so often and no
oftener; what cannot be had again fails with the conflict."""

import duckdb
import pyarrow
import pytest

import delta_log
from racing import commit_late


@pytest.fixture
def winner(con):
    con.execute("""CREATE TABLE t WITH ("delta.isolationLevel" = 'Serializable') AS SELECT range AS id, range AS v FROM range(10)""")
    return con


@pytest.fixture
def loser(winner, connect, lake):
    other = connect(lake)
    other.execute("SET braid_statement_retries = 2")
    return other


def increments(winner, times):
    return [lambda: winner.execute("UPDATE t SET v = v + 1 WHERE id = 5")] * times


def value(con):
    return con.execute("SELECT v FROM t WHERE id = 5").fetchone()[0]


def test_the_default_is_none(winner, connect, lake):
    other = connect(lake)
    assert other.execute("SELECT current_setting('braid_statement_retries')").fetchone() == (0,)
    with pytest.raises(duckdb.TransactionException, match="DELTA_CONCURRENT_APPEND"):
        commit_late(other, "UPDATE t SET v = v * 2 WHERE id = 5", *increments(winner, 1))


def test_a_value_below_zero_is_refused(con):
    with pytest.raises(duckdb.InvalidInputException, match="at least 0"):
        con.execute("SET braid_statement_retries = -1")


@pytest.mark.parametrize("races", [1, 2])
def test_a_statement_is_executed_again(winner, loser, lake, races):
    assert commit_late(loser, "UPDATE t SET v = v * 2 WHERE id = 5", *increments(winner, races)) == [(1,)]
    assert value(winner) == (5 + races) * 2
    info = delta_log.info(lake / "t")
    assert info["operationMetrics"]["numStatementRetries"] == str(races)
    assert info["readVersion"] == races
    assert loser.execute("SELECT statement_retries FROM braid_last_commit()").fetchone() == (races,)


def test_it_gives_up_when_the_retries_are_used_up(winner, loser, lake):
    with pytest.raises(duckdb.TransactionException, match=r"version 3 \(UPDATE.*read version 2"):
        commit_late(loser, "UPDATE t SET v = v * 2 WHERE id = 5", *increments(winner, 3))
    assert value(winner) == 8
    named = {line["add"]["path"] for lines in delta_log.commits(lake / "t").values() for line in lines if "add" in line}
    assert delta_log.files_on_disk(lake / "t") == named, "files are left behind"


def test_the_count_is_that_of_the_first_run(winner, loser, lake):
    answer = commit_late(loser, "DELETE FROM t WHERE v < 5", lambda: winner.execute("DELETE FROM t WHERE id = 1"))
    assert answer == [(5,)]
    assert delta_log.info(lake / "t")["operationMetrics"]["numDeletedRows"] == "4"


def test_an_insert_that_reads_the_table(winner, loser):
    insert = "INSERT INTO t SELECT max(id) + 1, 0 FROM t"
    commit_late(loser, insert, lambda: winner.execute(insert))
    assert winner.execute("SELECT max(id), count(*) FROM t").fetchone() == (11, 12)


def test_a_schema_that_changed(winner, loser):
    """Bound anew, so the new column is there."""
    commit_late(loser, "UPDATE t SET v = 0 WHERE id = 5", lambda: winner.execute("ALTER TABLE t ADD COLUMN more INT"))
    assert winner.execute("SELECT * FROM t WHERE id = 5").fetchall() == [(5, 0, None)]


def test_a_column_that_is_gone(winner, loser):
    winner.execute("ALTER TABLE t SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    with pytest.raises(duckdb.TransactionException, match="DELTA_METADATA_CHANGED"):
        commit_late(loser, "UPDATE t SET v = 0 WHERE id = 5", lambda: winner.execute("ALTER TABLE t DROP COLUMN v"))


def test_settings_variables_and_the_search_path_are_those_of_the_client(winner, loser):
    loser.execute("SET VARIABLE wanted = 5")
    loser.execute("SET timezone = 'Asia/Tokyo'")
    commit_late(loser, """UPDATE main.t SET v = hour('2024-01-01 00:00:00+00'::TIMESTAMPTZ) WHERE id = getvariable('wanted')""",
                *increments(winner, 1))
    assert value(winner) == 9


def test_one_statement_of_several_in_one_text(winner, loser):
    commit_late(loser, "SET VARIABLE a = 1; UPDATE t SET v = v * 2 WHERE id = 5", *increments(winner, 1))
    assert value(winner) == 12


def test_spelled_as_in_delta(winner, loser):
    commit_late(loser, "MERGE INTO `t` USING (VALUES (5, 40), (6, 50)) s(id, v) ON t.id = s.id WHEN MATCHED THEN UPDATE SET *",
                *increments(winner, 1))
    assert winner.execute("SELECT v FROM t WHERE id IN (5, 6) ORDER BY id").fetchall() == [(40,), (50,)]


def test_now_is_what_it_was(winner, loser):
    winner.execute("CREATE TABLE log (id BIGINT, seen TIMESTAMPTZ)")
    winner.execute("INSERT INTO log VALUES (1, NULL), (2, NULL)")
    loser.execute("SET braid_concurrency_mode = 'max'")
    commit_late(loser, "UPDATE log SET seen = now()", lambda: winner.execute("UPDATE log SET id = 3 WHERE id = 2"))
    assert winner.execute("SELECT count(DISTINCT seen), count(seen) FROM log").fetchone() == (1, 2)


# What cannot be had again, in both modes that would execute it.
@pytest.mark.parametrize("setting", ["SET braid_statement_retries = 2", "SET braid_concurrency_mode = 'max'"])
class TestNever:
    @pytest.fixture
    def loser(self, winner, connect, lake, setting):
        other = connect(lake)
        other.execute(setting)
        return other

    def fails(self, loser, winner, statement, parameters=None):
        with pytest.raises(duckdb.TransactionException, match="DELTA_CONCURRENT"):
            commit_late(loser, statement, *increments(winner, 1), parameters=parameters)
        assert value(winner) == 6

    def test_returning(self, loser, winner):
        self.fails(loser, winner, "UPDATE t SET v = 0 WHERE id = 5 RETURNING v")

    def test_parameters(self, loser, winner):
        self.fails(loser, winner, "UPDATE t SET v = ? WHERE id = 5", [7])

    def test_prepared(self, loser, winner):
        loser.execute("PREPARE p AS UPDATE t SET v = 0 WHERE id = 5")
        self.fails(loser, winner, "EXECUTE p")

    def test_temporary_table(self, loser, winner):
        loser.execute("CREATE TEMP TABLE chosen AS SELECT 5 AS id")
        self.fails(loser, winner, "UPDATE t SET v = 0 WHERE id IN (SELECT id FROM chosen)")

    def test_inside_a_transaction(self, loser, winner):
        loser.execute("BEGIN")
        loser.execute("UPDATE t SET v = 0 WHERE id = 5")
        increments(winner, 1)[0]()
        with pytest.raises(duckdb.TransactionException, match="DELTA_CONCURRENT"):
            loser.execute("COMMIT")
        assert value(winner) == 6


def test_rows_of_the_client(winner, loser):
    loser.register("chosen", pyarrow.table({"id": [5]}))
    with pytest.raises(duckdb.TransactionException, match="DELTA_CONCURRENT"):
        commit_late(loser, "UPDATE t SET v = 0 WHERE id IN (SELECT id FROM chosen)", *increments(winner, 1))
