# SPDX-License-Identifier: Apache-2.0
"""Names of every kind: of lakes, tables, columns and partition values. A name is a name, never a path, a pattern or SQL."""

import os

import duckdb
import pytest

import delta_log
from conftest import quote

TABLES = ["a b", "it's", 'dq"x', "100%", "a%20b", "#h", "x=y", "ü€😀", "a.b", "Upper", "?q", "a&b", "a;b", "[x]", "a*b", "{b}", "back\\slash",
          "~t", "-dash", "a:b", "$v", "new\tline", "x" * 200, "%2F"]
COLUMNS = ["a b", "it's", 'dq"x', "100%", "a%20b", "#h", "x=y", "ü€😀", "a.b", "`tick`", "a;b", "(p)", "new\nline", "filename", "file_row_number",
           "_metadata", "select", "x" * 300]
VALUES = ["a/b", "..", ".", "../../x", "a b", "x=y", "100%", "%2F", "ü€😀", "'\"", "__HIVE_DEFAULT_PARTITION__", "null", "y" * 300, "😀" * 60,
          "\n", "\\", "a:b", "?", "#", "*", " lead", "trail ", "{}", "\x01", "file:x", "//x"]


def identifier(name):
    return '"' + name.replace('"', '""') + '"'


def assert_files_are_where_the_log_says(table):
    live = delta_log.active(table)
    assert live and set(live) <= delta_log.files_on_disk(table)


@pytest.mark.parametrize("name", TABLES)
def test_tables(tmp_path, connect, name):
    lake = tmp_path / "la'ke 1% #e"
    lake.mkdir()
    con = connect(lake)
    table = identifier(name)
    con.execute(f"CREATE TABLE {table} AS SELECT range AS id, '' AS v FROM range(4)")
    con.execute(f"DELETE FROM {table} WHERE id = 1")
    for _ in range(11):  # past a checkpoint
        con.execute(f"UPDATE {table} SET v = v || 'x' WHERE id = 2")
    expected = [(0, ""), (2, "x" * 11), (3, "")]
    assert connect(lake).execute(f"FROM {table} ORDER BY id").fetchall() == expected
    assert connect(lake / name).execute(f"FROM {table} ORDER BY id").fetchall() == expected
    assert con.execute(f"FROM braid_scan({quote(lake / name)}) ORDER BY id").fetchall() == expected
    assert con.execute("SHOW TABLES").fetchall() == [(name,)]
    assert_files_are_where_the_log_says(lake / name)


@pytest.mark.parametrize("partitioned", [False, True])
@pytest.mark.parametrize("name", COLUMNS)
def test_columns(con, connect, lake, name, partitioned):
    column = identifier(name)
    con.execute(f"CREATE TABLE t (id INT, {column} VARCHAR)" + (f" PARTITIONED BY ({column})" if partitioned else ""))
    con.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    con.execute(f"DELETE FROM t WHERE {column} = 'a'")
    con.execute(f"UPDATE t SET {column} = 'q' WHERE id = 2")
    assert connect(lake).execute(f"SELECT id, {column} FROM t WHERE {column} > 'a' ORDER BY id").fetchall() == [(2, "q"), (3, "c")]
    assert_files_are_where_the_log_says(lake / "t")


def test_partition_values(con, connect, lake):
    con.execute("CREATE TABLE t (id INT, p VARCHAR, v INT) PARTITIONED BY (p)")
    con.executemany("INSERT INTO t VALUES (?, ?, 1)", [[id, value] for id, value in enumerate(VALUES)])
    con.execute("INSERT INTO t SELECT id + 1000, p, v FROM t")
    con.execute("UPDATE t SET v = 2 WHERE id < 1000")
    con.execute("DELETE FROM t WHERE v = 1")
    assert connect(lake).execute("FROM t ORDER BY id").fetchall() == [(id, value, 2) for id, value in enumerate(VALUES)]
    for id, value in enumerate(VALUES):
        assert con.execute("SELECT id FROM t WHERE p = ?", [value]).fetchall() == [(id,)]
    assert_files_are_where_the_log_says(lake / "t")
    assert os.listdir(lake) == ["t"]


@pytest.mark.parametrize("name", ["_x", ".x", "a/b", "..", "/abs", "_delta_log", "y" * 256])
def test_what_cannot_be_a_directory_cannot_be_a_table(con, lake, name):
    with pytest.raises(duckdb.Error):
        con.execute(f"CREATE TABLE {identifier(name)} (a INT)")
    assert os.listdir(lake) == []


def test_symbolic_links(con, connect, lake, tmp_path):
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(10)")
    (tmp_path / "link").symlink_to(lake)
    (lake / "other").symlink_to(lake / "t")
    linked = connect(tmp_path / "link")
    con.execute("BEGIN")
    con.execute("DELETE FROM t WHERE id = 1")
    linked.execute("DELETE FROM other WHERE id = 2")
    con.execute("COMMIT")
    assert linked.execute("SELECT count(*) FROM t").fetchone() == (8,)
    linked.execute("DROP TABLE other")  # the link goes, the table stays
    assert connect(lake).execute("SELECT count(*), min(id) FROM t").fetchone() == (8, 0)
    assert os.listdir(lake) == ["t"]


def test_a_relative_lake_stays_where_it_was(lake, connect, monkeypatch):
    monkeypatch.chdir(lake.parent)
    con = connect(lake.name)
    con.execute("CREATE TABLE t AS SELECT 1 AS id")
    monkeypatch.chdir("/")
    con.execute("INSERT INTO t VALUES (2)")
    assert connect(lake / ".." / lake.name).execute("FROM t ORDER BY id").fetchall() == [(1,), (2,)]


def test_a_folder_named_main_is_not_hidden(con, connect, lake):
    con.execute("CREATE TABLE t AS SELECT 1 AS id")
    con.execute("CREATE TABLE u AS SELECT 2 AS id")
    (lake / "main").mkdir()
    (lake / "u").rename(lake / "main" / "u")
    assert con.execute("SHOW TABLES").fetchall() == [("t",), ("u",)]
    con.execute("INSERT INTO u VALUES (3)")
    con.execute("CREATE TABLE v AS FROM main.u")
    assert (lake / "v").is_dir() and (lake / "main" / "u").is_dir()
    con.execute("ALTER TABLE u RENAME TO w")
    assert con.execute("FROM w ORDER BY id").fetchall() == [(2,), (3,)]
    con.execute("DROP TABLE w")
    assert con.execute("SHOW TABLES").fetchall() == [("t",), ("v",)]
