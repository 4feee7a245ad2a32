# SPDX-License-Identifier: Apache-2.0
"""Mode max: a statement that meets a conflict is executed again on the rows that changed, or as a whole, instead of failing. A statement has run on
version 0 when a winner commits; the table must be what plain DuckDB has after the winner and then the statement."""

import duckdb
import pytest

import delta_log
from racing import commit_late

ROWS = "SELECT range AS id, range % 10 AS v, 'old' AS s FROM range(100)"
MERGE = """MERGE INTO t USING (VALUES (5, 0), (300, 1)) s(k, w) ON t.id = s.k
           WHEN MATCHED AND t.v > 1000 THEN UPDATE SET v = 0 WHEN NOT MATCHED THEN INSERT VALUES (s.k, s.w, 'merged')"""
UPSERT = """MERGE INTO t USING (VALUES (500, 1)) s(k, w) ON t.id = s.k
            WHEN MATCHED THEN UPDATE SET v = t.v + 100 WHEN NOT MATCHED THEN INSERT VALUES (s.k, s.w, 'merged')"""


def content(con):
    return con.execute("SELECT * FROM t ORDER BY ALL").fetchall()


def serially(*statements):
    con = duckdb.connect()
    con.execute(f"CREATE TABLE t AS {ROWS}")
    for statement in statements:
        con.execute(statement)
    return content(con)


@pytest.fixture
def winner(con):
    con.execute(f"""CREATE TABLE t WITH ("delta.isolationLevel" = 'Serializable') AS {ROWS}""")
    return con


@pytest.fixture
def loser(winner, connect, lake):
    other = connect(lake)
    other.execute("SET braid_concurrency_mode = 'max'")
    return other


# Numbers are those of the list of scenarios; the last column: rows that were repaired.
BY_ROWS = {
    "3 the rest is deleted": ("DELETE FROM t WHERE id IN (1, 2)", "DELETE FROM t WHERE id IN (2, 3)", 1),
    "5 one row twice": ("UPDATE t SET v = 100 WHERE id = 1", "UPDATE t SET v = 200 WHERE id = 1", 2),
    "different columns": ("UPDATE t SET v = 100 WHERE id = 1", "UPDATE t SET s = 'new' WHERE id = 1", 2),
    "increments": ("UPDATE t SET v = v + 1 WHERE id < 30", "UPDATE t SET v = v + 1 WHERE id >= 20", 20),
    "6 updated, then deleted": ("UPDATE t SET v = 100 WHERE id = 1", "DELETE FROM t WHERE id = 1", 2),
    "13 everything": ("DELETE FROM t WHERE id = 1", "DELETE FROM t", 1),
    "15 write skew": ("UPDATE t SET v = 5 WHERE v = 1", "UPDATE t SET v = 1 WHERE v = 5", 10),
    "16 an image enters": ("UPDATE t SET v = 77 WHERE id = 1", "DELETE FROM t WHERE v IN (77, 8)", 1),
    "18 an image like before": ("UPDATE t SET v = v WHERE id = 1", "UPDATE t SET v = 9 WHERE id = 1", 2),
    "21 appended": ("INSERT INTO t VALUES (200, 3, 'new')", "DELETE FROM t WHERE v = 3", 1),
    "the image leaves": ("UPDATE t SET v = 100 WHERE v = 3", "UPDATE t SET s = 'x' WHERE v IN (3, 4)", 10),
    "functions": ("UPDATE t SET s = 'Old' WHERE id = 7", "UPDATE t SET s = upper(s) WHERE lower(s) LIKE 'o%'", 2),
    "keys of another table": ("UPDATE t SET v = 50 WHERE id = 1", "DELETE FROM t WHERE id IN (SELECT k FROM u) AND v < 60", 2),
    "MERGE: increments": ("UPDATE t SET v = v + 50 WHERE id IN (1, 2, 9)", "MERGE INTO t USING u ON t.id = u.k WHEN MATCHED THEN UPDATE SET v = t.v + u.k", 4),
    "MERGE: a row is gone": ("DELETE FROM t WHERE id IN (1, 2)", "MERGE INTO t USING u ON t.id = u.k WHEN MATCHED THEN UPDATE SET v = t.v + u.k", 2),
    "MERGE: the other clause": (
        "UPDATE t SET v = 50 WHERE id = 2",
        "MERGE INTO t USING u ON t.id = u.k WHEN MATCHED AND t.v = 50 THEN DELETE WHEN MATCHED THEN UPDATE SET v = -t.v", 2),
    "MERGE: the key was appended": (
        "INSERT INTO t VALUES (3, 50, 'new')", "MERGE INTO t USING u ON t.id = u.k WHEN MATCHED THEN UPDATE SET s = 'met'", 1),
    "from another table": ("UPDATE t SET v = 50 WHERE id = 2", "UPDATE t SET v = t.v + u.k FROM u WHERE u.k = t.id", 2),
}


@pytest.mark.parametrize("name", BY_ROWS)
def test_rows_that_changed_are_changed_again(winner, loser, lake, name):
    theirs, mine, repaired = BY_ROWS[name]
    plain = "CREATE TABLE u AS SELECT range AS k FROM range(4)"
    winner.execute(plain)
    expected = serially(plain, theirs, mine)
    commit_late(loser, mine, lambda: winner.execute(theirs))
    assert content(winner) == expected
    info = delta_log.info(lake / "t")
    assert info["readVersion"] == 1, "it has read the winner's version after all"
    assert info["operationMetrics"]["numRowsRepaired"] == str(repaired)
    assert "numStatementRetries" not in info["operationMetrics"]
    assert loser.execute("SELECT rows_repaired, statement_retries, winners FROM braid_last_commit()").fetchone() == (repaired, 0, 1)
    named = {line["add"]["path"] for lines in delta_log.commits(lake / "t").values() for line in lines if "add" in line}
    assert delta_log.files_on_disk(lake / "t") <= named, "files are left behind"


AS_A_WHOLE = {
    "36 the same key is inserted": (UPSERT, UPSERT),
    "38 the key was appended": ("INSERT INTO t VALUES (500, 7, 'new')", UPSERT),
    "40 the matched row is gone": ("DELETE FROM t WHERE id = 5", MERGE),
    "41 the clause fires": ("UPDATE t SET v = 2000 WHERE id = 5", MERGE),
    "43 the key has changed": ("UPDATE t SET id = 105 WHERE id = 5", MERGE),
    "42 rows without a source row": (
        "INSERT INTO t VALUES (300, 1, 'new')",
        "MERGE INTO t USING (SELECT range AS k FROM range(99)) s ON t.id = s.k WHEN NOT MATCHED BY SOURCE THEN DELETE"),
    "a sub-query of the table itself": ("UPDATE t SET v = 100 WHERE id = 1", "DELETE FROM t WHERE v > (SELECT avg(v) FROM t)"),
}


@pytest.mark.parametrize("name", AS_A_WHOLE)
def test_other_statements_are_executed_again(winner, loser, lake, name):
    theirs, mine = AS_A_WHOLE[name]
    expected = serially(theirs, mine)
    commit_late(loser, mine, lambda: winner.execute(theirs))
    assert content(winner) == expected
    info = delta_log.info(lake / "t")
    assert info["readVersion"] == 1
    assert info["operationMetrics"]["numStatementRetries"] == "1"
    named = {line["add"]["path"] for lines in delta_log.commits(lake / "t").values() for line in lines if "add" in line}
    assert delta_log.files_on_disk(lake / "t") <= named, "files are left behind"


@pytest.mark.parametrize("mine", ["UPDATE t SET v = 1 WHERE id = 1", "DELETE FROM t WHERE id IN (1, 3)"])
def test_without_deletion_vectors(con, connect, lake, mine):
    """19: files are replaced, so the statement runs again as a whole."""
    con.execute(f"""CREATE TABLE t WITH ("delta.enableDeletionVectors" = 'false') AS {ROWS}""")
    loser = connect(lake)
    loser.execute("SET braid_concurrency_mode = 'max'")
    theirs = "UPDATE t SET v = v + 50 WHERE id < 3"
    commit_late(loser, mine, lambda: con.execute(theirs))
    assert content(con) == serially(theirs, mine)


def test_nothing_is_left_to_do(winner, loser, lake):
    """2"""
    assert commit_late(loser, "DELETE FROM t WHERE id = 5", lambda: winner.execute("DELETE FROM t WHERE id = 5")) == [(1,)]
    assert delta_log.version(lake / "t") == 1
    assert content(winner) == serially("DELETE FROM t WHERE id = 5")


def test_the_client_is_told_the_count_of_the_first_run(winner, loser, lake):
    answer = commit_late(loser, "DELETE FROM t WHERE v = 3", lambda: winner.execute("DELETE FROM t WHERE id IN (3, 13)"))
    assert answer == [(10,)]
    assert delta_log.info(lake / "t")["operationMetrics"]["numDeletedRows"] == "8"


def test_random_conditions_draw_again(winner, loser):
    """34: the rows of the winner get draws of their own."""
    commit_late(loser, "DELETE FROM t WHERE random() < 2", lambda: winner.execute("INSERT INTO t VALUES (200, 3, 'new')"))
    assert content(winner) == []


def test_constraints_hold_for_what_is_changed_again(winner, loser, lake):
    winner.execute("ALTER TABLE t ADD CONSTRAINT small CHECK (v < 1000)")
    with pytest.raises(duckdb.TransactionException, match="CHECK constraint small .* id=1, v=50000"):
        commit_late(loser, "UPDATE t SET v = v * 100 WHERE id = 1", lambda: winner.execute("UPDATE t SET v = 500 WHERE id = 1"))
    assert delta_log.version(lake / "t") == 2
    named = {line["add"]["path"] for lines in delta_log.commits(lake / "t").values() for line in lines if "add" in line}
    assert delta_log.files_on_disk(lake / "t") == named, "files are left behind"


def test_partitions_and_generated_columns(con, connect, lake):
    con.execute("CREATE TABLE t (id BIGINT, part BIGINT, twice BIGINT GENERATED ALWAYS AS (id * 2)) USING DELTA PARTITIONED BY (part)")
    con.execute("INSERT INTO t (id, part) SELECT range, range % 3 FROM range(30)")
    loser = connect(lake)
    loser.execute("SET braid_concurrency_mode = 'max'")
    commit_late(loser, "UPDATE t SET part = part + 1 WHERE part = 1", lambda: con.execute("UPDATE t SET id = id + 100 WHERE id IN (1, 2, 4)"))
    expected = sorted((i + 100 * (i in (1, 2, 4)), 2 if i % 3 else 0) for i in range(30))
    assert con.execute("SELECT id, part, twice FROM t ORDER BY ALL").fetchall() == [(i, p, 2 * i) for i, p in expected]


def test_races_are_lost_again_and_again(winner, loser, lake):
    """Each run meets another winner."""
    def increment():
        winner.execute("UPDATE t SET v = v + 1 WHERE id = 5")

    merge = """MERGE INTO t USING (VALUES (5)) s(k) ON t.id = s.k WHEN MATCHED THEN UPDATE SET v = t.v + 10
               WHEN NOT MATCHED THEN INSERT VALUES (s.k, 10, 'new')"""
    commit_late(loser, merge, *[increment] * 3)
    assert winner.execute("SELECT v FROM t WHERE id = 5").fetchone() == (5 + 3 + 10,)
    assert delta_log.info(lake / "t")["operationMetrics"]["numStatementRetries"] == "3"
    assert delta_log.info(lake / "t")["operationMetrics"]["numConflictsResolved"] == "3"


def test_many_rows_in_many_row_groups(con, connect, lake):
    con.execute("""CREATE TABLE t WITH ("delta.isolationLevel" = 'Serializable') AS SELECT range AS id, range % 1000 AS v FROM range(600000)""")
    loser = connect(lake, threads=2)
    loser.execute("SET braid_concurrency_mode = 'max'")
    commit_late(loser, "UPDATE t SET v = v + 1000000 WHERE id % 2 = 0", lambda: con.execute("UPDATE t SET v = 7 WHERE id % 1000 = 500"))
    assert con.execute("SELECT count(*), sum(v) FROM t WHERE id % 2 = 0 AND id % 1000 <> 500").fetchone() == con.execute(
        "SELECT count(*), sum(range % 1000 + 1000000) FROM range(600000) WHERE range % 2 = 0 AND range % 1000 <> 500").fetchone()
    assert con.execute("SELECT count(*), min(v), max(v) FROM t WHERE id % 1000 = 500").fetchone() == (600, 1000007, 1000007)
    assert con.execute("SELECT count(*) FROM t").fetchone() == (600000,)
    assert delta_log.info(lake / "t")["operationMetrics"]["numRowsRepaired"] == "1200"


@pytest.mark.parametrize("theirs, metrics", {
    "UPDATE t SET v = 50 WHERE id = 2": {"numTargetRowsUpdated": 2, "numTargetRowsMatchedUpdated": 2, "numTargetRowsDeleted": 2},
    "UPDATE t SET v = 0 WHERE id = 3": {"numTargetRowsUpdated": 4, "numTargetRowsMatchedUpdated": 4, "numTargetRowsDeleted": 0},
    "DELETE FROM t WHERE id = 3": {"numTargetRowsUpdated": 3, "numTargetRowsMatchedUpdated": 3, "numTargetRowsDeleted": 0},
    "INSERT INTO t VALUES (0, 50, 'new')": {"numTargetRowsUpdated": 3, "numTargetRowsMatchedUpdated": 3, "numTargetRowsDeleted": 2},
}.items())
def test_metrics_of_a_repaired_merge(winner, loser, lake, theirs, metrics):
    """Four keys; the row 3 is deleted (unless a winner changed it), the others are updated."""
    winner.execute("CREATE TABLE u AS SELECT range AS k FROM range(4)")
    merge = "MERGE INTO t USING u ON t.id = u.k WHEN MATCHED AND t.v IN (3, 50) THEN DELETE WHEN MATCHED THEN UPDATE SET s = 'met'"
    commit_late(loser, merge, lambda: winner.execute(theirs))
    told = delta_log.info(lake / "t")["operationMetrics"]
    assert {name: int(told[name]) for name in metrics} == metrics
    assert int(told["numRowsRepaired"]) > 0


def test_a_repaired_merge_still_wants_one_source_row_for_each(winner, loser, lake):
    """The winner's row is met by two rows of the source."""
    winner.execute("CREATE TABLE u AS FROM (VALUES (1), (500), (500)) v(k)")
    with pytest.raises(duckdb.TransactionException, match="MULTIPLE_SOURCE_ROW_MATCHING"):
        commit_late(loser, "MERGE INTO t USING u ON t.id = u.k WHEN MATCHED THEN UPDATE SET s = 'met'",
                    lambda: winner.execute("INSERT INTO t VALUES (500, 0, 'new')"))
    assert delta_log.version(lake / "t") == 1


REFUSED = {
    "N20 INSERT ... SELECT of the table": "INSERT INTO t SELECT 500, 0, 'x' WHERE NOT EXISTS (SELECT 1 FROM t WHERE id = 500)",
    "RETURNING": "DELETE FROM t WHERE v = 5 RETURNING id",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_repaired(winner, loser, lake, name):
    with pytest.raises(duckdb.TransactionException, match="DELTA_CONCURRENT"):
        commit_late(loser, REFUSED[name], lambda: winner.execute(REFUSED[name]))
    assert delta_log.version(lake / "t") == 1


def test_transactions_of_several_statements_are_not_repaired(winner, loser):
    loser.execute("BEGIN")
    loser.execute("DELETE FROM t WHERE id = 5")
    winner.execute("DELETE FROM t WHERE id = 5")
    with pytest.raises(duckdb.TransactionException, match="DELTA_CONCURRENT_DELETE_DELETE"):
        loser.execute("COMMIT")


def test_metadata_that_changed_is_not_repaired(winner, loser):
    with pytest.raises(duckdb.TransactionException, match="DELTA_METADATA_CHANGED"):
        commit_late(loser, "DELETE FROM t WHERE id = 5", lambda: winner.execute("ALTER TABLE t ADD COLUMN more INT"))


def test_no_time_to_look_is_not_repaired(winner, loser):
    loser.execute("SET braid_conflict_time_budget_ms = 0")
    with pytest.raises(duckdb.TransactionException, match="ALLOTTED_TIME_EXCEEDED"):
        commit_late(loser, "DELETE FROM t WHERE v % 7 = 5", lambda: winner.execute("UPDATE t SET v = 6 WHERE id = 50"))
