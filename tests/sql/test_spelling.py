# SPDX-License-Identifier: Apache-2.0
"""Statements as Delta users write them: what is respelled, what is left alone, and what errors show."""

import duckdb
import pytest


@pytest.fixture
def three_versions(con):
    con.execute("CREATE TABLE t AS SELECT 1 AS id")
    con.execute("INSERT INTO t VALUES (2)")
    con.execute("INSERT INTO t VALUES (3)")
    return con


def count(con, table):
    return con.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


@pytest.mark.parametrize(
    "table, rows",
    [
        ("t VERSION AS OF 0", 1),
        ("t version as of 1", 2),
        ("t FOR VERSION AS OF 1", 2),
        ("lake.main.t FOR SYSTEM_VERSION AS OF 0", 1),
        ("`t` VERSION AS OF (0 + 1)", 2),
        ("t VERSION AS OF 0 AS a", 1),
        ("t VERSION AS OF 0 a JOIN t VERSION AS OF 1 b ON a.id = b.id", 1),
        ("t VERSION AS OF 0 WHERE id > 1", 0),
        ("t TIMESTAMP AS OF now() + INTERVAL 1 HOUR", 3),
        ("t TIMESTAMP AS OF '2999-01-01'", 3),
        ("t FOR SYSTEM_TIME AS OF TIMESTAMP '2999-01-01 00:00:00'", 3),
        ("(SELECT * FROM t VERSION AS OF 1 LIMIT 1)", 1),
    ],
)
def test_time_travel(three_versions, table, rows):
    assert count(three_versions, table) == rows


def test_time_travel_with_parameters(three_versions):
    assert three_versions.execute("SELECT count(*) FROM t VERSION AS OF ?", [1]).fetchone() == (2,)
    assert three_versions.execute("SELECT count(*) FROM t VERSION AS OF $v", {"v": 0}).fetchone() == (1,)


def test_tables_by_path(three_versions, lake):
    assert count(three_versions, f"delta.`{lake}/t`") == 3
    assert count(three_versions, f"delta.`{lake}/t@v1`") == 2
    assert count(three_versions, f"delta.`{lake}/t` VERSION AS OF 0") == 1
    assert count(three_versions, f"delta.`{lake}/t` TIMESTAMP AS OF '2999-01-01' AS x WHERE x.id > 1") == 2
    assert count(three_versions, f'delta."{lake}/t"') == 3


def test_the_option_timestamp_of_braid_scan_needs_no_quotes(three_versions, lake):
    assert count(three_versions, f"braid_scan('{lake}/t', timestamp => '2999-01-01'::TIMESTAMPTZ)") == 3


def test_back_quoted_names(con):
    con.execute("CREATE TABLE `a b` (`x y` BIGINT, `q``q` VARCHAR, `d\"d` BIGINT)")
    con.execute("INSERT INTO `a b` VALUES (1, '`not a name`', 2)")
    con.execute("UPDATE `a b` SET `x y` = `x y` + 1")
    result = con.execute('SELECT `x y`, "q`q", `d"d` FROM `a b`')
    assert [column[0] for column in result.description] == ["x y", "q`q", 'd"d']
    assert result.fetchall() == [(2, "`not a name`", 2)]


def test_quotes_and_comments_are_no_words(con):
    query = """SELECT 't VERSION AS OF 1 `x`' /* ` /* nested ` */ VERSION AS OF */ , $$ ` $$, E'\\'` x', 1 AS "a`b" -- `"""
    assert con.execute(query).fetchall() == [("t VERSION AS OF 1 `x`", " ` ", "'` x", 1)]
    assert con.execute("SELECT version AS of FROM (SELECT 1 AS version)").fetchall() == [(1,)]
    assert con.execute('SELECT `x` /* ; */ FROM (SELECT 1 AS x) -- ;\n; SELECT \';\'').fetchall() == [(";",)]


def test_explain_and_prepare(three_versions):
    con = three_versions
    assert "BRAID" in con.execute("EXPLAIN SELECT * FROM t VERSION AS OF 1").fetchall()[0][1].upper()
    con.execute("PREPARE p AS SELECT count(*) FROM `t` VERSION AS OF 1")
    assert con.execute("EXECUTE p").fetchall() == [(2,)]


def test_errors_show_the_text_of_the_user(con):
    con.execute("CREATE TABLE t AS SELECT 1 AS id")
    with pytest.raises(duckdb.ParserException) as error:
        con.execute("SELECT 1;\nSELECT FROM WHERE `a`")
    assert "SELECT FROM WHERE `a`" in str(error.value) and "LINE 2" in str(error.value)
    with pytest.raises(duckdb.BinderException) as error:
        con.execute("SELECT id, nope FROM t VERSION AS OF 0")
    lines = str(error.value).splitlines()
    shown = next(line for line in lines if line.startswith("LINE 1"))
    assert shown.endswith("SELECT id, nope FROM t VERSION AS OF 0")
    assert lines[lines.index(shown) + 1].index("^") == shown.index("nope")
