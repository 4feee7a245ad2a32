# SPDX-License-Identifier: Apache-2.0
"""INSERT OVERWRITE, INSERT ... REPLACE WHERE, BY NAME, TRUNCATE: rows that go when others come, in one commit."""

import json

import duckdb
import pytest

import delta_log
from judges import assert_all_see


def rows(con, query):
    return con.execute(query).fetchall()


@pytest.fixture
def t(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id, 'p' || range % 3 AS p FROM range(9)")
    return lake / "t"


def test_overwrite_replaces_all_rows_and_keeps_the_history(con, t):
    assert con.execute("INSERT OVERWRITE t SELECT id * 100, p FROM t WHERE id > 6").fetchall() == [(2,)]
    assert rows(con, "SELECT id FROM t ORDER BY id") == [(700,), (800,)]
    assert rows(con, "SELECT count(*) FROM t AT (VERSION => 0)") == [(9,)]
    commit = delta_log.info(t)
    assert commit["operation"] == "WRITE" and commit["operationParameters"] == {"mode": "Overwrite", "partitionBy": "[]"}
    assert len(delta_log.actions(t, "remove")) == 1 and not delta_log.actions(t, "metaData")
    con.execute("INSERT OVERWRITE TABLE lake.t (p, id) VALUES ('z', 1)")
    assert rows(con, "FROM t") == [(1, "z")]
    con.execute("INSERT OVERWRITE t SELECT * FROM t WHERE false")
    assert rows(con, "FROM t") == []
    assert assert_all_see(con, t) == []


def test_overwrite_inside_a_transaction(con, t):
    con.execute("BEGIN")
    con.execute("INSERT INTO t VALUES (50, 'x')")
    con.execute("DELETE FROM t WHERE id < 3")
    con.execute("INSERT OVERWRITE t SELECT id + 1, p FROM t WHERE id > 7")
    assert rows(con, "FROM t ORDER BY id") == [(9, "p2"), (51, "x")]
    con.execute("DELETE FROM t WHERE id = 51")
    con.execute("INSERT INTO t VALUES (52, 'y')")
    con.execute("COMMIT")
    assert set(assert_all_see(con, t)) == {(9, "p2"), (52, "y")}
    assert delta_log.version(t) == 1
    con.execute("BEGIN")
    con.execute("INSERT OVERWRITE t VALUES (0, 'none')")
    con.execute("ROLLBACK")
    assert len(rows(con, "FROM t")) == 2


def test_replace_where(con, t):
    assert con.execute("INSERT INTO t REPLACE WHERE p = 'p1' OR id = 0 SELECT id, p FROM t WHERE id = 1").fetchall() == [(1,)]
    assert rows(con, "SELECT id FROM t ORDER BY id") == [(i,) for i in (1, 2, 3, 5, 6, 8)]
    commit = delta_log.info(t)
    assert commit["operation"] == "WRITE" and commit["operationParameters"]["predicate"] == json.dumps(["(p = 'p1' OR id = 0)"])
    con.execute("INSERT INTO t BY NAME REPLACE WHERE p IN ('p2') SELECT 'p2' AS p, 20 AS id")
    assert rows(con, "SELECT id FROM t ORDER BY id") == [(1,), (3,), (6,), (20,)]
    before = delta_log.everything(t)
    with pytest.raises(duckdb.ConstraintException, match="DELTA_REPLACE_WHERE_MISMATCH.*id=7"):
        con.execute("INSERT INTO t REPLACE WHERE p = 'p1' VALUES (4, 'p1'), (7, 'p2')")
    with pytest.raises(duckdb.ConstraintException, match="MISMATCH"):
        con.execute("INSERT INTO t REPLACE WHERE p = 'p1' VALUES (4, NULL)")
    with pytest.raises(duckdb.BinderException, match="nope"):
        con.execute("INSERT INTO t REPLACE WHERE nope = 'p1' VALUES (4, 'p1')")
    with pytest.raises(duckdb.BinderException, match="subqueries"):
        con.execute("INSERT INTO t REPLACE WHERE id = (SELECT 1) VALUES (4, 'p1')")
    assert delta_log.everything(t) == before
    assert len(assert_all_see(con, t)) == 4


def test_from_inside_of_the_condition_is_no_query(con, t):
    con.execute("INSERT INTO t REPLACE WHERE p IS NOT DISTINCT FROM 'p1' AND id IS DISTINCT FROM 7 FROM (VALUES (100, 'p1'))")
    assert rows(con, "SELECT id FROM t ORDER BY id") == [(i,) for i in (0, 2, 3, 5, 6, 7, 8, 100)]


def test_replace_where_is_a_row_level_change(con, t):
    con.execute("BEGIN")
    con.execute("INSERT INTO t REPLACE WHERE p = 'p0' VALUES (100, 'p0')")
    other = con.cursor()
    other.execute("DELETE FROM lake.t WHERE id = 1")
    other.execute("INSERT INTO lake.t VALUES (9, 'p9')")
    con.execute("COMMIT")
    assert rows(con, "SELECT id FROM t ORDER BY id") == [(i,) for i in (2, 4, 5, 7, 8, 9, 100)]
    con.execute("ALTER TABLE t SET ('delta.isolationLevel' = 'Serializable')")
    con.execute("BEGIN")
    con.execute("INSERT INTO t REPLACE WHERE p = 'p0' VALUES (101, 'p0')")
    other.execute("INSERT INTO lake.t VALUES (3, 'p0')")
    with pytest.raises(duckdb.TransactionException, match="ConcurrentAppend|CONCURRENT_APPEND"):
        con.execute("COMMIT")


@pytest.mark.parametrize("setting", ["braid_partition_overwrite_mode", "spark.sql.sources.partitionOverwriteMode"])
def test_dynamic_partition_overwrite(con, lake, setting):
    con.execute("CREATE TABLE t (id BIGINT, p VARCHAR) PARTITIONED BY (p)")
    con.execute("INSERT INTO t SELECT range, CASE WHEN range < 6 THEN 'p' || range % 3 END FROM range(9)")
    con.execute(f"SET \"{setting}\" = 'dynamic'")
    con.execute("INSERT OVERWRITE t VALUES (10, 'p1'), (11, 'new')")
    assert rows(con, "SELECT id FROM t ORDER BY id") == [(i,) for i in (0, 2, 3, 5, 6, 7, 8, 10, 11)]
    assert delta_log.info(lake / "t")["operationParameters"]["isDynamicPartitionOverwrite"] is True
    con.execute("INSERT OVERWRITE t VALUES (12, NULL)")
    assert rows(con, "SELECT id FROM t ORDER BY id") == [(i,) for i in (0, 2, 3, 5, 10, 11, 12)]
    assert len(assert_all_see(con, lake / "t")) == 7
    con.execute(f"SET \"{setting}\" = 'static'")
    con.execute("INSERT OVERWRITE t VALUES (13, 'p1')")
    assert rows(con, "SELECT id FROM t ORDER BY id") == [(13,)]
    with pytest.raises(duckdb.InvalidInputException, match="static.*dynamic"):
        con.execute(f"SET \"{setting}\" = 'sometimes'")


def test_truncate_and_insert_into_table(con, t):
    assert con.execute("TRUNCATE TABLE t").fetchall() == [(9,)]
    con.execute("INSERT INTO TABLE t BY NAME SELECT 'a' AS p, 1 AS id")
    assert assert_all_see(con, t) == [(1, "a")]
    con.execute("PREPARE o AS INSERT OVERWRITE t SELECT ?, ?")
    con.execute("EXECUTE o(5, 'five')")
    con.execute("EXECUTE o(6, 'six')")
    assert rows(con, "FROM t") == [(6, "six")]
    assert con.execute("INSERT OVERWRITE t VALUES (7, 'seven') RETURNING id").fetchall() == [(7,)]


@pytest.mark.parametrize(
    "statement, message",
    [("INSERT OVERWRITE memory.n VALUES (1)", "INSERT OVERWRITE"), ("INSERT OVERWRITE t PARTITION (p = 'a') SELECT 1", "no partition column"),
     ("INSERT INTO t REPLACE USING (nope) SELECT 1, 'a'", "nope"), ("INSERT INTO t REPLACE USING (id) SELECT 1", "1 columns for 2"),
     ("INSERT INTO t REPLACE ON t.nope = 1 SELECT 1, 'a'", "nope"), ("INSERT INTO t REPLACE USING (id)", "query|syntax"),
     ("INSERT INTO t REPLACE USING (id) SELECT 1, 'a' RETURNING id", "RETURNING"), ("INSERT OVERWRITE t SELECT 1", "columns"), ("INSERT OVERWRITE", "a name")],
)
def test_what_is_refused(con, t, statement, message):
    con.execute("CREATE TABLE memory.n (id BIGINT)")
    with pytest.raises(duckdb.Error, match=message):
        con.execute(statement)
    assert delta_log.version(t) == 0


def test_append_only_tables_are_not_overwritten(con, t):
    con.execute("ALTER TABLE t SET ('delta.appendOnly' = true)")
    for statement in ("INSERT OVERWRITE t VALUES (1, 'a')", "INSERT INTO t REPLACE WHERE id = 1 VALUES (1, 'a')", "TRUNCATE t",
                      "UPDATE t SET p = 'x'", "MERGE INTO t USING (SELECT 1 AS k) ON id = k WHEN MATCHED THEN DELETE"):
        with pytest.raises(duckdb.Error, match="DELTA_CANNOT_MODIFY_APPEND_ONLY"):
            con.execute(statement)
    con.execute("MERGE INTO t USING (SELECT 77 AS k) ON id = k WHEN NOT MATCHED THEN INSERT VALUES (k, 'm')")
    assert len(rows(con, "FROM t")) == 10


def test_replace_using(con, t):
    con.execute("INSERT INTO t VALUES (NULL, 'p1')")
    con.execute("INSERT INTO t REPLACE USING (p) SELECT 100, 'p1' UNION ALL SELECT 101, 'p1' UNION ALL SELECT 102, NULL UNION ALL SELECT 103, 'new'")
    assert rows(con, "FROM t ORDER BY id") == [
        (0, "p0"), (2, "p2"), (3, "p0"), (5, "p2"), (6, "p0"), (8, "p2"), (100, "p1"), (101, "p1"), (102, None), (103, "new")]
    con.execute("INSERT INTO t REPLACE USING (p) SELECT 104, NULL")
    assert rows(con, "SELECT id FROM t WHERE p IS NULL ORDER BY id") == [(102,), (104,)]
    before = delta_log.version(t)
    con.execute("INSERT INTO t REPLACE USING (id, p) SELECT * FROM t WHERE false")
    assert delta_log.version(t) == before
    con.execute("INSERT INTO t BY NAME REPLACE USING (id) SELECT 'named' AS p, 0 AS id")
    con.execute("INSERT INTO t (p, id) REPLACE USING (id) VALUES ('listed', 2)")
    assert rows(con, "FROM t WHERE id < 3 ORDER BY id") == [(0, "named"), (2, "listed")]
    assert_all_see(con, t)


def test_replace_on(con, t):
    con.execute("INSERT INTO t AS x REPLACE ON x.id BETWEEN s.id AND s.id + 2 AND x.p <> 'p2' (SELECT 3 AS id, 'r' AS p) AS s")
    assert rows(con, "FROM t ORDER BY id, p") == [
        (0, "p0"), (1, "p1"), (2, "p2"), (3, "r"), (5, "p2"), (6, "p0"), (7, "p1"), (8, "p2")]
    con.execute("INSERT INTO t u REPLACE ON u.p IS NOT DISTINCT FROM s.p (SELECT 50 AS id, 'p2' AS p UNION ALL SELECT 51, NULL) s")
    con.execute("INSERT INTO t REPLACE ON t.id IN (SELECT 7) SELECT 70, 'seventy'")
    assert rows(con, "FROM t ORDER BY id") == [(0, "p0"), (1, "p1"), (3, "r"), (6, "p0"), (50, "p2"), (51, None), (70, "seventy")]
    assert_all_see(con, t)


def test_replacements_of_other_keys_commit_side_by_side(con, t, connect, lake):
    other = connect(lake)
    other.execute("BEGIN")
    other.execute("INSERT INTO t REPLACE USING (id) SELECT 1, 'one'")
    con.execute("INSERT INTO t REPLACE USING (id) SELECT 2, 'two'")
    other.execute("COMMIT")
    assert rows(con, "FROM t WHERE id < 3 ORDER BY id") == [(0, "p0"), (1, "one"), (2, "two")]
    other.execute("BEGIN")
    other.execute("INSERT INTO t REPLACE USING (id) SELECT 900, 'other'")
    con.execute("INSERT INTO t REPLACE USING (id) SELECT 900, 'mine'")
    with pytest.raises(duckdb.TransactionException, match="DELTA_CONCURRENT_APPEND"):
        other.execute("COMMIT")
