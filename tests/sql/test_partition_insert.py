# SPDX-License-Identifier: Apache-2.0
"""INSERT ... PARTITION (...), REPLACE TABLE, and changes of tables by their path."""

import duckdb
import pytest

import delta_log
from judges import assert_all_see
from refusal import refuse


def rows(con, query="FROM t ORDER BY ALL"):
    return con.execute(query).fetchall()


@pytest.fixture
def t(con, lake):
    con.execute("CREATE TABLE t (p VARCHAR, id BIGINT, q INTEGER, s VARCHAR) PARTITIONED BY (p, q)")
    con.execute("INSERT INTO t VALUES ('a', 1, 1, 'x'), ('a', 2, 2, 'y'), ('b', 3, 1, 'z'), (NULL, 4, 1, 'n')")
    return lake / "t"


def test_values_of_partition_columns_stand_beside_the_query(con, t):
    con.execute("INSERT INTO t PARTITION (p = 'c', q = 7) VALUES (10, 'ten'), (11, 'eleven')")
    con.execute("INSERT INTO t PARTITION (q, p = 'd') SELECT 12, 'twelve', 8")
    con.execute("INSERT INTO t PARTITION (p = 'e', q) (q, id) SELECT 9, 13")
    con.execute("INSERT INTO TABLE t PARTITION (p = NULL, q = 1 + 1) SELECT 14, 'fourteen'")
    assert rows(con, "SELECT p, q, id, s FROM t WHERE id >= 10 ORDER BY id") == [
        ("c", 7, 10, "ten"), ("c", 7, 11, "eleven"), ("d", 8, 12, "twelve"), ("e", 9, 13, None), (None, 2, 14, "fourteen")]
    assert con.execute("INSERT INTO t PARTITION (p = 'f', q = 1) SELECT 15, 'r' RETURNING p, id").fetchall() == [("f", 15)]
    assert_all_see(con, t)


def test_overwrite_takes_the_rows_of_the_given_values(con, t):
    con.execute("INSERT OVERWRITE t PARTITION (p = 'a', q = 1) SELECT 20, 'new'")
    assert rows(con, "SELECT p, q, id FROM t ORDER BY id") == [("a", 2, 2), ("b", 1, 3), (None, 1, 4), ("a", 1, 20)]
    con.execute("INSERT OVERWRITE TABLE t PARTITION (p = 'a', q) SELECT 21, 'new', 5")
    assert rows(con, "SELECT p, q, id FROM t ORDER BY id") == [("b", 1, 3), (None, 1, 4), ("a", 5, 21)]
    con.execute("INSERT OVERWRITE t PARTITION (p = NULL, q) SELECT 22, 'new', 6")
    assert rows(con, "SELECT p, q, id FROM t ORDER BY id") == [("b", 1, 3), ("a", 5, 21), (None, 6, 22)]
    con.execute("SET braid_partition_overwrite_mode = 'dynamic'")
    con.execute("INSERT INTO t PARTITION (p = 'a', q = 6) SELECT 23, 'other'")
    con.execute("INSERT OVERWRITE t PARTITION (p = 'a', q) SELECT 24, 'dynamic', 6")
    assert rows(con, "SELECT p, q, id FROM t ORDER BY id") == [("b", 1, 3), ("a", 5, 21), (None, 6, 22), ("a", 6, 24)]
    con.execute("SET braid_partition_overwrite_mode = 'static'")
    con.execute("INSERT OVERWRITE t PARTITION (p, q) SELECT 25, 'all', 'z', 9")
    assert rows(con) == [("z", 25, 9, "all")]
    assert_all_see(con, t)


def test_what_partition_refuses(con, lake, t):
    for statement, *parts in (
        ("INSERT INTO t PARTITION (s = 'x') SELECT 1, 2, 3", '"s"', "no partition column", "(p, q)", "t"),
        ("INSERT INTO t PARTITION (p = 'x', p = 'y') SELECT 1, 's', 3", "twice"),
        ("INSERT INTO t PARTITION (p = 'x') SELECT 1", "columns"),
        ("INSERT INTO t PARTITION (p = 'x', q = 'nan') SELECT 1, 's'", "nan"),
        ("INSERT INTO t PARTITION (p = 'x', q) BY NAME SELECT 1 AS id", "position"),
        ("INSERT INTO t PARTITION (p = 'x', q = 1) REPLACE WHERE id > 3 SELECT 1, 's'", "REPLACE WHERE"),
        ("INSERT INTO t PARTITION (p = ) SELECT 1, 's'", "a value"),
    ):
        refuse(con, t, statement, *parts)
    with pytest.raises(duckdb.Error, match="no table of a lake"):
        con.execute("CREATE TABLE memory.m (p INT, x INT)")
        con.execute("INSERT INTO memory.m PARTITION (p = 1) SELECT 2")


def test_replace_table(con, lake):
    with pytest.raises(duckdb.Error, match="DELTA_CANNOT_REPLACE_MISSING_TABLE"):
        con.execute("REPLACE TABLE t (id BIGINT)")
    assert list(lake.iterdir()) == []
    con.execute("CREATE TABLE t (id BIGINT)")
    con.execute("INSERT INTO t VALUES (1)")
    con.execute("REPLACE TABLE t USING DELTA PARTITIONED BY (p) AS SELECT 2 AS id, 'x' AS p")
    assert rows(con) == [(2, "x")]
    assert delta_log.info(lake / "t")["operation"] == "REPLACE TABLE AS SELECT"
    con.execute("replace table t (a INT COMMENT 'first') TBLPROPERTIES (delta.appendOnly = true)")
    assert delta_log.info(lake / "t")["operation"] == "REPLACE TABLE" and rows(con) == []
    assert rows(con, "SELECT count(*) FROM t AT (VERSION => 1)") == [(1,)]
    assert_all_see(con, lake / "t")


def test_changes_by_path(con, lake):
    (lake / "s").mkdir()
    con.execute("CREATE TABLE s.t AS SELECT range AS id, {'a': range, 'b': 'x'} AS v FROM range(3)")
    path = f"delta.`{lake}/s/t`"
    con.execute(f"INSERT INTO {path} VALUES (10, {{'a': 10, 'b': 'y'}})")
    con.execute(f"UPDATE {path} SET v = NULL WHERE id = 10")
    con.execute(f"UPDATE {path} AS u SET u.v.a = u.id + 100 WHERE u.id < 2")
    con.execute(f"DELETE FROM {path} WHERE id = 2")
    assert rows(con, f"SELECT id, v FROM {path} ORDER BY id") == [
        (0, {"a": 100, "b": "x"}), (1, {"a": 101, "b": "x"}), (10, None)]
    con.execute(f"""MERGE INTO {path} AS t USING (SELECT 10 AS id, {{'a': 1, 'b': 'm'}} AS v UNION ALL SELECT 11, NULL) AS u
                    ON t.id = u.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *""")
    con.execute(f"INSERT OVERWRITE {path} SELECT * FROM {path} WHERE id >= 10")
    assert rows(con, "FROM s.t ORDER BY id") == [(10, {"a": 1, "b": "m"}), (11, None)]
    with pytest.raises(duckdb.Error, match="attach the directory"):
        con.execute("DELETE FROM delta.`/nowhere/t`")
    with pytest.raises(duckdb.Error, match="t"):
        con.execute(f"DELETE FROM delta.`{lake}/s/none`")
    assert_all_see(con, lake / "s" / "t", "s.t")


def test_changes_by_path_of_a_single_table(connect, con, lake):
    con.execute("CREATE TABLE t AS SELECT 1 AS id")
    con.close()
    single = connect(lake / "t")
    single.execute(f"UPDATE delta.`{lake}/t` SET id = 5 WHERE id = 1 ")
    assert single.execute(f"SELECT * FROM delta.`{lake}/t`").fetchall() == [(5,)]
