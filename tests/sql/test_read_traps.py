# SPDX-License-Identifier: Apache-2.0
"""Traps of building on DuckDB that reading has met: one test for each, named after its number in docs/duckdb_traps.md."""

import json
import shutil

import delta_log
import duckdb
import pyarrow as pa
import pytest
from conftest import connect_lake
from deltalake import write_deltalake
from handmade import make_table


def reads_of_last_commit(table) -> list:
    return delta_log.info(table)["braid"]["reads"]


def test_trap_1_count_star_leaves_deleted_rows_out(con):
    con.execute("SET parquet_metadata_cache = true")
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(300000)")
    assert con.execute("SELECT count(*), sum(id) FROM t").fetchall() == [(300000, 44999850000)]
    con.execute("DELETE FROM t WHERE id % 3 = 0")
    assert con.execute("SELECT count(*) FROM t").fetchall() == [(200000,)]
    assert con.execute("SELECT count(*) FROM t WHERE id >= 150000").fetchall() == [(100000,)]
    con.execute("BEGIN")
    con.execute("DELETE FROM t WHERE id = 1")
    assert con.execute("SELECT count(*) FROM t").fetchall() == [(199999,)]
    con.execute("ROLLBACK")


def test_trap_2_late_materialisation_reads_the_rows_of_the_right_file(con):
    con.execute("CREATE TABLE t(id BIGINT, s VARCHAR)")
    for part in range(4):
        con.execute(f"INSERT INTO t SELECT i, 'x' || i FROM range({part * 1000}, {part * 1000 + 1000}) r(i)")
    query = "SELECT * FROM t WHERE id >= 2500 ORDER BY s DESC LIMIT 2"
    assert "SEMI" in con.execute("EXPLAIN " + query).fetchone()[1]  # it is used
    assert con.execute(query).fetchall() == [(3999, "x3999"), (3998, "x3998")]


def test_trap_14_statistics_do_not_hide_what_the_transaction_has_inserted(con):
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(10)")
    con.execute("BEGIN")
    con.execute("INSERT INTO t VALUES (1000), (NULL)")
    assert con.execute("SELECT count(*) FROM t WHERE id = 1000").fetchall() == [(1,)]
    assert con.execute("SELECT count(*) FROM t WHERE id IS NULL").fetchall() == [(1,)]
    assert con.execute("SELECT count(*), max(id) FROM t").fetchall() == [(12, 1000)]
    con.execute("COMMIT")


def test_trap_17_a_prepared_statement_sees_the_newest_version_each_time(con, lake):
    con.execute("CREATE TABLE t AS SELECT 1 AS id")
    con.execute("PREPARE q AS SELECT count(*), max(id) FROM t WHERE id >= $1")
    assert con.execute("EXECUTE q(0)").fetchall() == [(1, 1)]
    other = connect_lake(lake)
    other.execute("INSERT INTO t VALUES (2)")
    other.close()
    assert con.execute("EXECUTE q(0)").fetchall() == [(2, 2)]
    assert con.execute("EXECUTE q(2)").fetchall() == [(1, 2)]


@pytest.mark.parametrize("threads", [1, 4])
def test_trap_18_deletion_vectors_hold_over_row_groups_and_threads(con, threads):
    con.execute(f"SET threads = {threads}")
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(400000)")
    con.execute("DELETE FROM t WHERE id BETWEEN 122000 AND 124000 OR id % 1000 = 999")
    left = sum(1 for i in range(400000) if not (122000 <= i <= 124000 or i % 1000 == 999))
    total = sum(i for i in range(400000) if not (122000 <= i <= 124000 or i % 1000 == 999))
    assert con.execute("SELECT count(id), sum(id) FROM t").fetchall() == [(left, total)]
    assert con.execute("SELECT id FROM t WHERE id BETWEEN 121998 AND 124002").fetchall() == [(121998,), (124001,), (124002,)]
    assert con.execute("SELECT count(*) FROM t WHERE file_row_number <> id").fetchall() == [(0,)]


def test_trap_22_names_that_are_no_tables_are_looked_up_without_the_lake(con, lake):
    con.execute("CREATE TABLE t AS SELECT 1 AS a")
    shutil.rmtree(lake)  # nothing of the lake can be read now
    assert con.execute("SELECT upper('x'), 3::DECIMAL(4, 1), length('abc')").fetchone()[0] == "X"
    with pytest.raises(duckdb.CatalogException, match="no_such_function"):
        con.execute("SELECT no_such_function(1)")


def test_trap_23_a_listing_reads_schemas_and_no_files(lake, connect):
    for i in range(50):
        write_deltalake(lake / f"t{i:02}", pa.table({"a": [1], "b": ["x"]}))
        commit = lake / f"t{i:02}" / "_delta_log" / f"{0:020}.json"
        lines = [line for line in commit.read_text().splitlines() if '"add"' not in line]
        commit.write_text("\n".join(lines + ['{"add": "whoever replays this log fails"}']))
    con = connect(lake)
    assert con.execute("SELECT count(*), min(column_count), max(column_count) FROM duckdb_tables()").fetchall() == [(50, 2, 2)]
    with pytest.raises(duckdb.IOException, match="t07"):
        con.execute("SELECT * FROM t07")


def test_trap_30_join_filters_hold_for_files_with_narrower_types(lake, connect):
    ids = pa.array(range(100000), pa.int32())
    make_table(lake / "t", [("id", "long"), ("v", "string")], pa.table({"id": ids, "v": [f"v{i}" for i in range(100000)]}))
    con = connect(lake)
    # Sparse keys and a condition on their side make DuckDB push a Bloom filter into the scan.
    con.execute("CREATE TEMP TABLE k AS SELECT range * range * 509 AS id, 'x' || range AS s FROM range(2000)")
    expected = sum(1 for i in range(2000) if i * i * 509 < 100000)
    assert con.execute("SELECT count(v) FROM t JOIN k USING (id) WHERE k.s LIKE 'x%'").fetchall() == [(expected,)]


def test_keys_and_values_of_maps_may_be_narrower_in_the_file(lake, connect):
    rows = pa.table({"m": pa.array([[(1, [2])], None, [(3, None)]], pa.map_(pa.int32(), pa.list_(pa.int16())))})
    values = {"type": "array", "elementType": "long", "containsNull": True}
    make_table(lake / "t", [("m", {"type": "map", "keyType": "long", "valueType": values, "valueContainsNull": True})], rows)
    got = connect(lake).execute("SELECT map_keys(m)[1], map_values(m)[1] FROM t ORDER BY 1 NULLS LAST").fetchall()
    assert got == [(1, [2]), (3, None), (None, None)]


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Tokyo"])
def test_trap_31_instants_do_not_depend_on_the_session_zone(lake, connect, zone):
    micros = [0, 1_700_000_000_123_456]
    zoneless = pa.array(micros, pa.timestamp("us"))
    zoned = pa.array(micros, pa.timestamp("us", "UTC"))
    inner = pa.StructArray.from_arrays([zoneless], ["at"])
    rows = pa.table({"a": zoneless, "b": zoned, "c": inner, "d": pa.array([[v] for v in micros], pa.list_(pa.timestamp("us")))})
    rows = rows.append_column("e", pa.array([[(v, {"at": v})] for v in micros], pa.map_(pa.timestamp("us"), pa.struct([("at", pa.timestamp("us"))]))))
    struct = {"type": "struct", "fields": [{"name": "at", "type": "timestamp", "nullable": True, "metadata": {}}]}
    array = {"type": "array", "elementType": "timestamp", "containsNull": True}
    fields = [("a", "timestamp"), ("b", "timestamp_ntz"), ("c", struct), ("d", array), ("e", {"type": "map", "keyType": "timestamp", "valueType": struct, "valueContainsNull": True})]
    make_table(lake / "plain", fields, rows)
    make_table(lake / "int96", fields, rows, use_deprecated_int96_timestamps=True)
    con = connect(lake)
    con.execute(f"SET TimeZone = '{zone}'")
    for table in ("plain", "int96"):
        got = con.execute(f"SELECT epoch_us(a), epoch_us(b), epoch_us(c.at), epoch_us(d[1]), epoch_us(map_keys(e)[1]), epoch_us(map_values(e)[1].at) FROM {table} ORDER BY 1").fetchall()
        assert got == [(value,) * 6 for value in micros]
        found = f"SELECT count(*) FROM {table} WHERE a = TIMESTAMPTZ '2023-11-14 22:13:20.123456+00' AND c.at > '1980-01-01'"
        assert con.execute(found).fetchall() == [(1,)]


def test_trap_32_names_inside_lists_and_maps_do_not_matter(lake, connect):
    kind = pa.list_(pa.field("whatever", pa.struct([("old", pa.int64()), ("x", pa.int32())])))
    rows = pa.table({"l": pa.array([[{"old": 1, "x": 2}], []], kind)})
    element = {"type": "struct", "fields": [{"name": n, "type": "long", "nullable": True, "metadata": {}} for n in ("x", "new")]}
    array = {"type": "array", "elementType": element, "containsNull": True}
    make_table(lake / "t", [("l", array)], rows, use_compliant_nested_type=False)
    con = connect(lake)
    assert con.execute("SELECT l FROM t").fetchall() == [([{"x": 2, "new": None}],), ([],)]


def test_trap_33_what_the_optimizer_answers_by_itself_was_read_too(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(10)")
    con.execute("INSERT INTO t SELECT count(*) FROM t")  # from the row counts in the log
    assert reads_of_last_commit(lake / "t") == [True]
    con.execute("INSERT INTO t SELECT 77 WHERE NOT EXISTS (SELECT * FROM t WHERE id = 5000)")  # outside all bounds
    assert "5000" in json.dumps(reads_of_last_commit(lake / "t"))


def test_only_what_is_executed_is_read_and_top_n_is_no_condition(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id, range % 7 AS g FROM range(1000)")
    con.execute("BEGIN")
    con.execute("EXPLAIN SELECT * FROM t WHERE id = 1")
    con.execute("PREPARE q AS SELECT * FROM t WHERE id = 2")
    con.execute("DELETE FROM t WHERE id = 3")
    con.execute("COMMIT")
    (read,) = reads_of_last_commit(lake / "t")
    assert (read["op"], read["value"]) == ("=", "3")
    con.execute("BEGIN")
    con.execute("SELECT * FROM t ORDER BY g LIMIT 1").fetchall()
    con.execute("DELETE FROM t WHERE id = 4")
    con.execute("COMMIT")
    assert True in reads_of_last_commit(lake / "t")
    con.execute("CREATE TEMP TABLE keys AS SELECT 20 AS k UNION ALL SELECT 30")
    con.execute("DELETE FROM t WHERE id IN (SELECT k FROM keys)")
    assert "20" in json.dumps(reads_of_last_commit(lake / "t")) and True not in reads_of_last_commit(lake / "t")
    con.execute("DELETE FROM t WHERE random() < 2 AND g = 5")  # a volatile condition is dropped, the rest stays
    (read,) = reads_of_last_commit(lake / "t")
    assert read["value"] == "5"


@pytest.mark.parametrize("kind, stored, asked", [("BLOB", "'\\x00\\xFF'::BLOB", "'\\x00\\xFF'::BLOB"), ("DOUBLE", "-0.0::DOUBLE", "0.0"),
                                                 ("FLOAT", "-0.0::FLOAT", "0.0"), ("DOUBLE", "0.0::DOUBLE", "-0.0")])
def test_bloom_filters_of_data_files_hide_nothing(con, kind, stored, asked):
    con.execute(f"CREATE TABLE t (id INT, x {kind})")
    con.execute(f"INSERT INTO t SELECT i, CASE WHEN i % 2 = 0 THEN {stored} WHEN i % 3 = 0 THEN NULL ELSE '7'::{kind} END FROM range(1000) r(i)")
    assert con.execute(f"SELECT count(*) FROM t WHERE x = {asked}").fetchone() == (500,)
    assert con.execute(f"SELECT count(*) FROM t WHERE (x = {asked} AND id < 10) OR x = '7'").fetchone() == (5 + 333,)
    assert con.execute(f"DELETE FROM t WHERE x = {asked}").fetchone() == (500,)


@pytest.mark.parametrize("column", ["v", "st.x"])
def test_trap_43_is_distinct_from_inside_of_or_keeps_null(con, column):
    con.execute("CREATE TABLE t (id INT, v INT, st STRUCT(x INT))")
    con.execute("INSERT INTO t VALUES (1, NULL, NULL), (2, 9, {'x': 9}), (3, 11, {'x': 11}), (4, 5, {'x': NULL})")
    con.execute("INSERT INTO t VALUES (5, NULL, {'x': NULL})")
    nulls = [1, 5] if column == "v" else [1, 4, 5]
    others = [4] if column == "v" else []
    for condition, expected in [
        (f"{column} IS DISTINCT FROM 9 OR {column} = 100", [*nulls, 3, *others]),
        (f"{column} = 9 OR {column} IS DISTINCT FROM 11", [*nulls, 2, *others]),
        (f"{column} IS NOT DISTINCT FROM 9 OR {column} = 11", [2, 3]),
        (f"{column} IS NOT DISTINCT FROM NULL OR {column} = 11", [*nulls, 3]),
        (f"NOT ({column} IS NOT DISTINCT FROM 9 AND {column} = 9)", [*nulls, 3, *others]),
    ]:
        assert con.execute(f"SELECT id FROM t WHERE {condition} ORDER BY id").fetchall() == [(i,) for i in sorted(expected)], condition
    assert con.execute(f"DELETE FROM t WHERE {column} IS DISTINCT FROM 9 OR {column} = 100").fetchone() == (4,)


def test_trap_30_lists_of_join_keys_stay_optional(lake, connect):
    """Few keys make a list beside the Bloom filter; the reader cannot evaluate it."""
    make_table(lake / "t", [("id", "long"), ("v", "string")], pa.table({"id": pa.array(range(1000), pa.int32()), "v": ["x"] * 1000}))
    con = connect(lake)
    con.execute("CREATE TEMP TABLE k AS SELECT range * 50 AS id, 'x' || range AS s FROM range(15)")
    assert con.execute("SELECT count(v) FROM t JOIN k USING (id) WHERE k.s LIKE 'x%'").fetchall() == [(15,)]
    assert con.execute("SELECT count(v) FROM t JOIN k USING (id) WHERE k.s IN ('x3', 'x7')").fetchall() == [(2,)]
