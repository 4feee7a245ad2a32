# SPDX-License-Identifier: Apache-2.0
"""SET t.struct.field = value, in UPDATE and in MERGE."""

import duckdb
import pytest

import delta_log
from judges import assert_all_see


def rows(con, query="FROM t ORDER BY id"):
    return con.execute(query).fetchall()


@pytest.fixture
def t(con, lake):
    con.execute("CREATE TABLE t AS SELECT 1 AS id, {'a': 1, 'B c': {'x': 'one', 'y': 1.5}} AS s, 0 AS n")
    con.execute("INSERT INTO t VALUES (2, NULL, 0), (3, {'a': NULL, 'B c': NULL}, 0)")
    return lake / "t"


def test_update(con, t):
    con.execute("UPDATE t SET s.a = s.a + 1, n = 5, t.s.`b C`.x = concat('n', id) WHERE id = 1")
    assert rows(con) == [(1, {"a": 2, "B c": {"x": "n1", "y": 1.5}}, 5), (2, None, 0), (3, {"a": None, "B c": None}, 0)]
    con.execute('UPDATE t AS u SET s."B c".y = CASE WHEN u.n IS DISTINCT FROM 5 THEN 7 ELSE 8 END')
    assert [row[1]["B c"]["y"] for row in rows(con)] == [8, 7, 7]
    assert rows(con)[1][1] == {"a": None, "B c": {"x": None, "y": 7}}, "a NULL becomes a struct"
    con.execute("UPDATE t SET s.a = u.v, s.`B c` = NULL FROM (VALUES (2, 20), (3, 30)) AS u (id, v) WHERE t.id = u.id")
    assert rows(con, "SELECT s FROM t WHERE id > 1 ORDER BY id") == [({"a": 20, "B c": None},), ({"a": 30, "B c": None},)]
    assert con.execute("UPDATE t SET s.a = NULL WHERE id = 1 RETURNING s.a").fetchall() == [(None,)]
    con.execute("PREPARE p AS UPDATE t SET s.a = $1 WHERE id = $2")
    con.execute("EXECUTE p(77, 3)")
    assert rows(con, "SELECT s.a FROM t WHERE id = 3") == [(77,)]
    con.execute("UPDATE t SET t.n = 9 WHERE t.id = 3")
    assert rows(con, "SELECT n FROM t WHERE id = 3") == [(9,)]
    assert_all_see(con, t)


def test_merge(con, t):
    con.execute("""MERGE INTO t USING (VALUES (1, 10, 'm'), (4, 40, 'i')) AS u (id, v, x) ON t.id = u.id
                   WHEN MATCHED AND u.v = 10 THEN UPDATE SET s.a = u.v, t.n = 1, t.s."B c".x = u.x
                   WHEN NOT MATCHED THEN INSERT (id, n) VALUES (u.id, u.v)""")
    assert rows(con, "SELECT * FROM t WHERE id IN (1, 4) ORDER BY id") == [
        (1, {"a": 10, "B c": {"x": "m", "y": 1.5}}, 1), (4, None, 40)]
    con.execute("""MERGE INTO t AS target USING (SELECT 1 AS id, {'a': 99} AS s) AS u ON target.id = u.id
                   WHEN MATCHED THEN UPDATE SET target.s.a = u.s.a WHEN NOT MATCHED BY SOURCE THEN UPDATE SET s.a = 0""")
    assert rows(con, "SELECT id, s.a FROM t ORDER BY id") == [(1, 99), (2, 0), (3, 0), (4, 0)]


def test_what_is_refused(con, t):
    before = (delta_log.version(t), delta_log.files_on_disk(t))
    for statement, message in (
        ("UPDATE t SET s.nope = 1", "no such field"),
        ("UPDATE t SET n.a = 1", "no struct"),
        ("UPDATE t SET nope.a = 1", "nope"),
        ("UPDATE t SET s.a = 'text'", "text"),
        ("UPDATE t SET s.a = 1, s = NULL", "s"),
    ):
        with pytest.raises(duckdb.Error, match=message):
            con.execute(statement)
    assert (delta_log.version(t), delta_log.files_on_disk(t)) == before


def test_tables_of_duckdb_too(con):
    con.execute("CREATE TABLE memory.m AS SELECT {'a': 1, 'b': 2} AS s")
    con.execute("UPDATE memory.m SET s.b = 3")
    assert rows(con, "SELECT s FROM memory.m") == [({"a": 1, "b": 3},)]
