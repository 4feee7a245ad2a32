# SPDX-License-Identifier: Apache-2.0
"""Partitioned tables: values live in the log, directories are named the Hive way, rows move between partitions."""

import duckdb
import pytest

import delta_log


def rows(con, query):
    return con.execute(query).fetchall()


def test_values_are_in_the_log_and_not_in_the_file(con, lake):
    con.execute("CREATE TABLE t (id BIGINT, p VARCHAR, q INTEGER) PARTITIONED BY (p, q)")
    con.execute("INSERT INTO t VALUES (1, 'x', 1), (2, 'y', NULL), (3, 'x', 1), (4, NULL, 2)")
    active = delta_log.active(lake / "t")
    values = sorted((add["partitionValues"]["p"] or "", add["partitionValues"]["q"] or "") for add in active.values())
    assert values == [("", "2"), ("x", "1"), ("y", "")]
    assert any(path.startswith("p=x/q=1/") for path in active)
    assert any(path.startswith("p=y/q=__HIVE_DEFAULT_PARTITION__/") for path in active)
    path = next(path for path in active if path.startswith("p=x"))
    assert rows(con, f"DESCRIBE SELECT * FROM read_parquet('{lake}/t/{path}', hive_partitioning = false)")[0][0] == "id"
    assert len(rows(con, f"DESCRIBE SELECT * FROM read_parquet('{lake}/t/{path}', hive_partitioning = false)")) == 1
    assert rows(con, "FROM t ORDER BY id") == [(1, "x", 1), (2, "y", None), (3, "x", 1), (4, None, 2)]
    assert delta_log.info(lake / "t")["operationParameters"]["partitionBy"] == '["p","q"]'


@pytest.mark.parametrize("value", ["a/b", "a b", "50%", "x=y", "it's", 'q"q', "ä", "a:b", "#?", "[z]", "%41", "..", "tab\there"])
def test_names_with_special_characters(con, lake, value):
    con.execute("CREATE TABLE t (id BIGINT, p VARCHAR) PARTITIONED BY (p)")
    con.execute("INSERT INTO t VALUES (1, ?), (2, 'other')", [value])
    assert rows(con, "SELECT p FROM t WHERE id = 1") == [(value,)]
    con.execute("UPDATE t SET id = 10 WHERE p = ?", [value])
    assert con.execute("SELECT id FROM t WHERE p = ?", [value]).fetchall() == [(10,)]
    con.execute("DELETE FROM t WHERE p = ?", [value])
    assert rows(con, "FROM t") == [(2, "other")]
    values = {add["partitionValues"]["p"] for version in (1,) for add in delta_log.actions(lake / "t", "add", version)}
    assert values == {value, "other"}


@pytest.mark.parametrize(
    "type_name, value, text",
    [
        ("DATE", "DATE '2024-02-29'", "2024-02-29"),
        ("BOOLEAN", "true", "true"),
        ("DECIMAL(9,2)", "12.50", "12.50"),
        ("BIGINT", "-5", "-5"),
        ("DOUBLE", "1.5", "1.5"),
        ("TIMESTAMP", "TIMESTAMP '2024-02-29 01:02:03.000004'", None),
        ("TIMESTAMPTZ", "TIMESTAMPTZ '2024-02-29 01:02:03.000004+00'", None),
        ("BLOB", "'\\x41\\x42'::BLOB", None),
    ],
)
def test_partition_values_of_every_type(con, lake, type_name, value, text):
    con.execute(f"CREATE TABLE t (id BIGINT, p {type_name}) PARTITIONED BY (p)")
    con.execute(f"INSERT INTO t VALUES (1, {value}), (2, NULL)")
    assert rows(con, f"SELECT id FROM t WHERE p = {value}") == [(1,)]
    assert rows(con, "SELECT id FROM t WHERE p IS NULL") == [(2,)]
    assert rows(con, f"SELECT p = {value} FROM t WHERE id = 1") == [(True,)]
    if text:
        written = {add["partitionValues"]["p"] for add in delta_log.active(lake / "t").values()}
        assert written == {text, None}


def test_the_empty_string_is_refused(con, lake):
    """PROTOCOL: Partition Value Serialization: it would come back as NULL."""
    con.execute("CREATE TABLE t (id BIGINT, p VARCHAR) PARTITIONED BY (p)")
    with pytest.raises(duckdb.ConstraintException, match="empty"):
        con.execute("INSERT INTO t VALUES (1, 'x'), (2, '')")
    assert delta_log.files_on_disk(lake / "t") == set()


def test_update_moves_rows_between_partitions(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id, range % 3 AS p FROM range(9)")
    con.execute("CREATE OR REPLACE TABLE t PARTITIONED BY (p) AS SELECT range AS id, range % 3 AS p FROM range(9)")
    con.execute("UPDATE t SET p = 7 WHERE id IN (0, 1)")
    assert rows(con, "SELECT p, list(id ORDER BY id) FROM t GROUP BY p ORDER BY p") == [
        (0, [3, 6]), (1, [4, 7]), (2, [2, 5, 8]), (7, [0, 1])]
    assert {add["partitionValues"]["p"] for add in delta_log.active(lake / "t").values()} == {"0", "1", "2", "7"}


def test_many_partitions(con, lake):
    con.execute("CREATE TABLE t (id BIGINT, p INTEGER) PARTITIONED BY (p)")
    con.execute("INSERT INTO t SELECT range, range % 500 FROM range(200000)")
    adds = delta_log.actions(lake / "t", "add")
    assert len(adds) == 500
    assert rows(con, "SELECT count(*), sum(id), count(DISTINCT p) FROM t") == [(200000, 199999 * 100000, 500)]
    con.execute("DELETE FROM t WHERE p = 250")
    assert len(delta_log.actions(lake / "t", "remove")) == 1
    assert rows(con, "SELECT count(*) FROM t") == [(199600,)]


def test_rolled_back_partitions_leave_no_directory(con, lake):
    con.execute("CREATE TABLE t (id BIGINT, a BIGINT, b BIGINT) PARTITIONED BY (a, b)")
    con.execute("INSERT INTO t VALUES (1, 1, 1)")
    before = delta_log.everything(lake / "t")
    con.execute("BEGIN")
    con.execute("INSERT INTO t VALUES (2, 1, 1), (3, 1, 2), (4, 2, 2)")
    assert len(list((lake / "t").glob("a=*/b=*/*.parquet"))) == 4
    con.execute("ROLLBACK")
    assert delta_log.everything(lake / "t") == before
    con.execute("INSERT INTO t VALUES (3, 1, 2)")
    assert con.execute("SELECT * FROM t ORDER BY id").fetchall() == [(1, 1, 1), (3, 1, 2)]
