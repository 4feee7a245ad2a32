# SPDX-License-Identifier: Apache-2.0
"""What a transaction has read, in whatever shape of SQL, decides whether it may commit after others: each question below is answered
differently after the other's insert of (1000, 5, 'new'), or is not."""

import duckdb
import pytest

LEVELS = ["Serializable", "WriteSerializable"]
MINE = "INSERT INTO t VALUES (2000, 77, 'mine')"  # without it the transaction is read-only and commits always
BLIND = "INSERT INTO t VALUES (1000, 5, 'new')"
SEEING = "INSERT INTO t SELECT 1000, 5, 'new' FROM t LIMIT 1"  # no level may order us before it

ASKS = {
    "everything": "FROM t",
    "count by statistics": "SELECT count(*) FROM t",
    "extremes by statistics": "SELECT min(id), max(id) FROM t",
    "nothing by statistics": "FROM t WHERE id > 500",
    "count of nothing": "SELECT count(*) FROM t WHERE id > 500",
    "top": "FROM t ORDER BY id DESC LIMIT 3",
    "late materialisation": "FROM t ORDER BY v DESC, id LIMIT 3",
    "limit": "FROM t LIMIT 1",
    "sample": "SELECT count(*) FROM t USING SAMPLE 50%",
    "window": "SELECT row_number() OVER (ORDER BY id) FROM t",
    "materialised expression": "WITH c AS MATERIALIZED (FROM t) SELECT count(*) FROM c a, c b WHERE a.id = b.id",
    "exists": "SELECT 1 WHERE NOT EXISTS (FROM t WHERE id = 1000)",
    "in": "SELECT 1 WHERE 1000 IN (SELECT id FROM t)",
    "join with itself": "FROM t a JOIN t b ON a.id = b.v WHERE a.id = 1000",
    "not in": "FROM range(1000, 1001) r(i) WHERE i NOT IN (SELECT id FROM t)",
    "anti join": "FROM range(1000, 1001) r(i) ANTI JOIN t ON i = id",
    "semi join": "FROM range(1000, 1001) r(i) SEMI JOIN t ON i = id",
    "left join": "FROM range(1000, 1001) r(i) LEFT JOIN t ON i = id",
    "asof join": "FROM range(1000, 1001) r(i) ASOF JOIN t ON i >= id",
    "inequality join": "SELECT count(*) FROM range(1000, 1001) r(i) JOIN t ON id > i - 1",
    "scalar subquery": "SELECT (SELECT s FROM t WHERE id = 1000)",
    "lateral": "FROM range(1000, 1001) r(i), LATERAL (SELECT count(*) FROM t WHERE id = i)",
    "recursion": "WITH RECURSIVE r AS (SELECT 999 AS i UNION ALL SELECT id FROM t JOIN r ON id = i + 1) FROM r",
    "row number of the file": "SELECT count(*) FROM t WHERE file_row_number = 0",
    "names of files": "SELECT count(DISTINCT filename) FROM t",
    "function": "FROM t WHERE id % 1000 = 0",
    "cast": "FROM t WHERE id::VARCHAR = '1000'",
    "like": "FROM t WHERE s LIKE 'n%'",
    "expression": "FROM t WHERE regexp_matches(s, '^n')",
    "case": "FROM t WHERE CASE WHEN id = 1000 THEN true ELSE false END",
    "volatile": "FROM t WHERE random() < 2 AND id = 1000",
    "not": "FROM t WHERE NOT (id < 1000)",
    "no distinction": "FROM t WHERE id IS NOT DISTINCT FROM 1000",
    "rows in": "FROM t WHERE (id, v) IN ((1000, 5))",
    "filter of an aggregate": "SELECT count(*) FILTER (WHERE id = 1000) FROM t",
    "summary": "SUMMARIZE t",
    "copy": "CREATE TEMP TABLE copied AS FROM t WHERE id = 1000",
    "insert": "INSERT INTO t SELECT id, 1, 'x' FROM t WHERE id = 1000",
    "delete": "DELETE FROM t WHERE id = 1000",
    "delete by subquery": "DELETE FROM t WHERE id IN (SELECT v FROM t WHERE id > 500)",
    "delete using": "DELETE FROM t USING t b WHERE t.id = b.v + 1 AND b.id = 1000",
    "update": "UPDATE t SET v = 1 WHERE s = 'new'",
    "update from": "UPDATE t SET v = 1 FROM range(999, 1001) r(i) WHERE t.id = i",
    "value by subquery": "UPDATE t SET v = (SELECT count(*) FROM t) WHERE id = 3",
    "returning": "DELETE FROM t WHERE v = 5 AND id > 40 RETURNING *",
}
DOES_NOT_ASK = {
    "another key": "FROM t WHERE id = 999",
    "another range": "SELECT count(*) FROM t WHERE id < 900",
    "another list": "FROM t WHERE id IN (1, 2, 1001)",
    "another function": "FROM t WHERE id % 1001 = 0",
    "another pattern": "FROM t WHERE s LIKE 'q%'",
    "null": "FROM t WHERE id = NULL",
    "never": "FROM t WHERE false",
    "a plan": "EXPLAIN FROM t",
    "a preparation": "PREPARE p AS FROM t WHERE id = 1000",
    "a description": "DESCRIBE t",
    "the past": "SELECT count(*) FROM t AT (VERSION => 1)",
    "another row": "DELETE FROM t WHERE id = 7",
    "another join": "UPDATE t SET v = 1 FROM range(5, 10) r(i) WHERE t.id = i",
}


@pytest.fixture
def table(con):
    def create(level):
        con.execute(f"CREATE TABLE t (id INT, v INT, s VARCHAR) WITH ('delta.isolationLevel' = '{level}')")
        con.execute("INSERT INTO t SELECT i, i % 10, 's' || i FROM range(100) r(i)")

    return create


def run(con, other, mine, theirs):
    con.execute("BEGIN")
    for statement in mine:
        con.execute(statement).fetchall()
    other.execute(theirs)
    con.execute("COMMIT")


@pytest.mark.parametrize("level, theirs", [("Serializable", BLIND), ("Serializable", SEEING), ("WriteSerializable", SEEING)])
@pytest.mark.parametrize("question", ASKS)
def test_an_answer_that_changed_refuses_the_commit(con, connect, lake, table, question, level, theirs):
    table(level)
    with pytest.raises(duckdb.TransactionException, match="ConcurrentAppend|CONCURRENT_APPEND"):
        run(con, connect(lake), [ASKS[question], MINE], theirs)
    assert con.execute("SELECT count(*) FROM t").fetchone() == (101,)


@pytest.mark.parametrize("question", DOES_NOT_ASK)
def test_an_answer_that_did_not_change_does_not(con, connect, lake, table, question):
    table("Serializable")
    run(con, connect(lake), [DOES_NOT_ASK[question], MINE], BLIND)
    assert con.execute("SELECT count(*) FILTER (id = 1000), count(*) FILTER (id = 2000) FROM t").fetchone() == (1, 1)


@pytest.mark.parametrize("keys, refused", [((1000, 1), True), ((1, 1000), True), ((1, 2), False)])
def test_each_execution_of_a_prepared_statement_reads_by_its_own_parameters(con, connect, lake, table, keys, refused):
    table("Serializable")
    con.execute("PREPARE p AS DELETE FROM t WHERE id = $1")
    program = [f"EXECUTE p({key})" for key in keys]
    if not refused:
        return run(con, connect(lake), program, BLIND)
    with pytest.raises(duckdb.TransactionException):
        run(con, connect(lake), program, BLIND)


@pytest.mark.parametrize("prepared", ["SELECT count(*) FROM t", "SELECT max(id) FROM t", "FROM t WHERE id > 500"])
def test_a_plan_made_in_another_transaction_reads_in_this_one(con, connect, lake, table, prepared):
    table("Serializable")
    con.execute(f"PREPARE p AS {prepared}")
    con.execute("EXECUTE p")
    with pytest.raises(duckdb.TransactionException):
        run(con, connect(lake), ["EXECUTE p", MINE], BLIND)


@pytest.mark.parametrize("question", ["FROM t", "SELECT count(*) FROM t", "DELETE FROM t", "INSERT INTO t SELECT max(id), 1, '' FROM t"])
@pytest.mark.parametrize("emptied", [False, True])
def test_an_empty_table_has_been_read(con, connect, lake, question, emptied):
    con.execute("CREATE TABLE t (id INT, v INT, s VARCHAR) WITH ('delta.isolationLevel' = 'Serializable')")
    if emptied:
        con.execute("INSERT INTO t VALUES (1, 1, '')")
        con.execute("DELETE FROM t")
    with pytest.raises(duckdb.TransactionException):
        run(con, connect(lake), [question, MINE], BLIND)


@pytest.mark.parametrize("level", LEVELS)
def test_two_doctors_on_call(con, connect, lake, level):
    con.execute(f"CREATE TABLE t (name VARCHAR, on_call BOOLEAN) WITH ('delta.isolationLevel' = '{level}')")
    con.execute("INSERT INTO t VALUES ('A', true), ('B', true)")
    leave = "UPDATE t SET on_call = false WHERE name = '{}' AND (SELECT count(*) FROM t WHERE on_call) >= 2"
    with pytest.raises(duckdb.TransactionException):
        run(con, connect(lake), [leave.format("A")], leave.format("B"))
    assert con.execute("FROM t ORDER BY ALL").fetchall() == [("A", True), ("B", False)]


@pytest.mark.parametrize("level", LEVELS)
def test_a_key_is_inserted_once_if_both_look_first(con, connect, lake, table, level):
    table(level)
    insert = "INSERT INTO t SELECT 1000, {}, '' WHERE NOT EXISTS (FROM t WHERE id = 1000)"
    with pytest.raises(duckdb.TransactionException):
        run(con, connect(lake), [insert.format(1)], insert.format(2))
    assert con.execute("SELECT v FROM t WHERE id = 1000").fetchall() == [(2,)]
