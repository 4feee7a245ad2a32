# SPDX-License-Identifier: Apache-2.0
"""Spark reads what Braid wrote, Braid reads what Spark wrote, and both change one table in turn."""
import datetime
import decimal
import json

import pytest

TYPES = {
    "b": ("BOOLEAN", [True, False, None]),
    "t": ("TINYINT", [-128, 127, None]),
    "sh": ("SMALLINT", [-32768, 32767, None]),
    "i": ("INTEGER", [-(2**31), 2**31 - 1, None]),
    "l": ("BIGINT", [-(2**63), 2**63 - 1, None]),
    "f": ("FLOAT", [-1.5, 3.25, None]),
    "d": ("DOUBLE", [-1e300, 2.5, None]),
    "dec": ("DECIMAL(20,5)", [decimal.Decimal("-12345.67890"), decimal.Decimal("99999999999999.99999"), None]),
    "s": ("VARCHAR", ["", "häagen ☃ 'quote'", None]),
    "bin": ("BLOB", [b"\x00\xff", b"", None]),
    "day": ("DATE", [datetime.date(1969, 12, 31), datetime.date(2024, 2, 29), None]),
    "ntz": ("TIMESTAMP", [datetime.datetime(1999, 12, 31, 23, 59, 59, 999999), datetime.datetime(2024, 1, 1), None]),
}


def normal(rows):
    return sorted((tuple(bytes(v) if isinstance(v, (bytearray, memoryview)) else v for v in row) for row in rows), key=repr)


def test_spark_reads_every_type(con, lake, query):
    con.execute("CREATE TABLE t (" + ", ".join(f"{name} {kind}" for name, (kind, _) in TYPES.items()) + ")")
    for n in range(3):
        con.execute("INSERT INTO t VALUES (" + ", ".join("?" for _ in TYPES) + ")", [values[n] for _, values in TYPES.values()])
    expected = normal(tuple(values[n] for _, values in TYPES.values()) for n in range(3))
    assert normal(query(f"SELECT * FROM delta.`{lake}/t`")) == expected
    # Spark prunes by our bounds: each value must be found through a filter on it
    for name, (_, values) in TYPES.items():
        for value in values[:2]:
            literal = f"X'{value.hex()}'" if isinstance(value, bytes) else f"{value}" if isinstance(value, (bool, int, float, decimal.Decimal)) else (
                "TIMESTAMP_NTZ" if isinstance(value, datetime.datetime) else "DATE" if isinstance(value, datetime.date) else "") + " '" + str(value).replace("'", "\\'") + "'"
            if name == "f":
                literal = f"CAST({literal} AS FLOAT)"
            elif name == "d":
                literal = f"CAST('{value}' AS DOUBLE)"
            elif name == "l":
                literal = f"CAST('{value}' AS BIGINT)"
            assert query(f"SELECT count(*) FROM delta.`{lake}/t` WHERE {name} = {literal}") == [(1,)], (name, value)


def test_spark_reads_nested_and_partitioned(con, lake, query):
    con.execute("CREATE TABLE t (id BIGINT, p VARCHAR, st STRUCT(a INTEGER, b VARCHAR[]), m MAP(VARCHAR, DOUBLE)) PARTITIONED BY (p)")
    con.execute("INSERT INTO t SELECT i, CASE i % 3 WHEN 0 THEN 'a b/c=%' WHEN 1 THEN NULL ELSE 'ü' END, {a: i, b: ['x', NULL]}, MAP {'k': i / 2} FROM range(9) r(i)")
    con.execute("DELETE FROM t WHERE id = 4")
    con.execute("UPDATE t SET p = 'moved' WHERE id = 5")
    assert query(f"SELECT id, p, st.a, st.b[0], m['k'] FROM delta.`{lake}/t` ORDER BY id") == [
        (i, "moved" if i == 5 else ["a b/c=%", None, "ü"][i % 3], i, "x", i / 2) for i in range(9) if i != 4]
    assert query(f"SELECT count(*) FROM delta.`{lake}/t` WHERE p = 'a b/c=%'") == [(3,)]


def test_both_change_one_table_in_turn(con, lake, spark, query):
    table = f"delta.`{lake}/t`"
    con.execute("CREATE TABLE t (id BIGINT, s VARCHAR)")
    con.execute("INSERT INTO t SELECT i, 'base' FROM range(100000) r(i)")
    con.execute("DELETE FROM t WHERE id % 10 = 0")
    query(f"DELETE FROM {table} WHERE id % 10 = 1")
    con.execute("UPDATE t SET s = 'braid' WHERE id % 10 = 2")
    query(f"UPDATE {table} SET s = 'spark' WHERE id % 10 = 3")
    con.execute("DELETE FROM t WHERE s = 'spark' AND id % 20 = 3")
    query(f"INSERT INTO {table} VALUES (-1, 'spark')")
    expected = sorted([(i, {2: "braid", 3: "spark"}.get(i % 10, "base")) for i in range(100000) if i % 10 > 1 and i % 20 != 3] + [(-1, "spark")])
    assert sorted(con.execute("SELECT id, s FROM t").fetchall()) == expected
    assert sorted(query(f"SELECT id, s FROM {table}")) == expected
    query(f"OPTIMIZE {table}")
    assert sorted(con.execute("SELECT id, s FROM t").fetchall()) == expected
    history = spark.sql(f"DESCRIBE HISTORY {table}").select("version", "operation").collect()
    assert [operation for _, operation in sorted(history)[:4]] == ["CREATE TABLE", "WRITE", "DELETE", "DELETE"]


def test_spark_reads_our_checkpoint_and_checksum(con, lake, query):
    con.execute("CREATE TABLE t (id BIGINT, s VARCHAR)")
    con.execute("INSERT INTO t SELECT i, 'x' FROM range(5000) r(i)")
    for i in range(12):
        con.execute(f"DELETE FROM t WHERE id = {i}")
    log = lake / "t" / "_delta_log"
    assert (log / "00000000000000000010.checkpoint.parquet").exists()
    for version in range(10):
        (log / f"{version:020d}.json").unlink()
    assert query(f"SELECT count(*), min(id) FROM delta.`{lake}/t`") == [(4988, 12)]
    query(f"DELETE FROM delta.`{lake}/t` WHERE id = 12")  # Spark validates the checksum it continues from
    assert con.execute("SELECT count(*), min(id) FROM t").fetchall() == [(4987, 13)]


def test_spark_honours_the_isolation_level_that_stands_in_the_table(con, lake, query):
    con.execute("CREATE TABLE t (id BIGINT)")
    query(f"INSERT INTO delta.`{lake}/t` VALUES (1)")
    commit = (lake / "t" / "_delta_log" / "00000000000000000001.json").read_text()
    info = next(json.loads(line)["commitInfo"] for line in commit.splitlines() if "commitInfo" in line)
    assert info["isolationLevel"] == "WriteSerializable"


@pytest.mark.parametrize("properties", ["", "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
                                        "TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')",
                                        "TBLPROPERTIES ('delta.enableRowTracking' = 'true')",
                                        "TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')"])
def test_braid_changes_tables_that_spark_made(properties, con, lake, query):
    table = f"delta.`{lake}/t`"
    query(f"CREATE TABLE {table} (id BIGINT, s STRING, p STRING) USING DELTA PARTITIONED BY (p) {properties}")
    query(f"INSERT INTO {table} SELECT id, 'base', CAST(id % 2 AS STRING) FROM range(1000)")
    con.execute("DELETE FROM t WHERE id % 5 = 0")
    con.execute("UPDATE t SET s = 'braid' WHERE id % 5 = 1")
    con.execute("INSERT INTO t VALUES (-1, 'new', 'z')")
    expected = sorted([(i, "braid" if i % 5 == 1 else "base", str(i % 2)) for i in range(1000) if i % 5] + [(-1, "new", "z")])
    assert sorted(con.execute("SELECT id, s, p FROM t").fetchall()) == expected
    assert sorted(query(f"SELECT id, s, p FROM {table}")) == expected
    query(f"UPDATE {table} SET s = 'spark' WHERE id = 7")
    assert con.execute("SELECT s FROM t WHERE id = 7").fetchall() == [("spark",)]
