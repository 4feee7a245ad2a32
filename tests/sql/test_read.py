# SPDX-License-Identifier: Apache-2.0
"""Reading a lake: attaching, listing, scans with pruning and deletion vectors, time travel. Tables are made by deltalake or copied."""

import os
import re
import shutil

import duckdb
import pyarrow as pa
import pytest
from conftest import connect_lake, open_duckdb, quote
from deltalake import DeltaTable, write_deltalake


@pytest.fixture
def numbers(lake):
    """Table `numbers`: 5 files of 100 rows, id 0..499, g = id % 10, p = id / 100 as partition."""
    for p in range(5):
        ids = list(range(p * 100, p * 100 + 100))
        rows = pa.table({"id": ids, "g": [i % 10 for i in ids], "p": [p] * 100, "s": [f"v{i}" for i in ids]})
        write_deltalake(lake / "numbers", rows, mode="append", partition_by=["p"])
    return lake / "numbers"


def files_read(con, query: str) -> int:
    plan = con.execute("EXPLAIN ANALYZE " + query).fetchone()[1]
    return int(re.search(r"Total Files Read:\s*(\d+)", plan)[1])


def test_attach_shows_children_as_tables_and_schemas(lake, numbers, connect):
    shutil.copytree(numbers, lake / "shop" / "My Orders")
    (lake / "empty").mkdir()
    (lake / "_hidden").mkdir()
    (lake / ".hidden").mkdir()
    (lake / "junk").mkdir()
    (lake / "junk" / "file.txt").write_text("no table")
    con = connect(lake)
    assert con.execute("SHOW TABLES").fetchall() == [("numbers",)]
    schemas = con.execute("SELECT schema_name FROM duckdb_schemas() WHERE database_name = 'lake' ORDER BY 1").fetchall()
    assert schemas == [("empty",), ("main",), ("shop",)]
    assert con.execute('SELECT count(*) FROM shop."my orders"').fetchall() == [(500,)]
    assert con.execute("SELECT count(*) FROM NUMBERS").fetchall() == [(500,)]
    columns = con.execute(
        "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'My Orders' ORDER BY ordinal_position")
    assert columns.fetchall() == [("id", "BIGINT"), ("g", "BIGINT"), ("p", "BIGINT"), ("s", "VARCHAR")]
    assert [row[0] for row in con.execute("DESCRIBE numbers").fetchall()] == ["id", "g", "p", "s"]
    assert [row[2:4] for row in con.execute("SHOW ALL TABLES").fetchall()] == [
        ("numbers", ["id", "g", "p", "s"]), ("My Orders", ["id", "g", "p", "s"])]


def test_attach_of_one_table_names_it_by_its_directory(numbers, connect):
    con = connect(numbers)
    assert con.execute("SHOW TABLES").fetchall() == [("numbers",)]
    assert con.execute("SELECT sum(id) FROM lake.numbers").fetchall() == [(124750,)]
    with pytest.raises(duckdb.CatalogException, match="attached as one table"):
        con.execute("CREATE SCHEMA lake.other")


def test_attach_refuses_what_it_cannot_mean(lake, tmp_path):
    con = open_duckdb()
    with pytest.raises(duckdb.IOException, match="no such directory"):
        con.execute(f"ATTACH {quote(tmp_path / 'nowhere')} AS x (TYPE braid)")
    with pytest.raises(duckdb.BinderException, match='unknown option "colour"'):
        con.execute(f"ATTACH {quote(lake)} AS x (TYPE braid, COLOUR 'blue')")
    (tmp_path / "file").write_text("x")
    with pytest.raises(duckdb.IOException, match="not a directory"):
        con.execute(f"ATTACH {quote(tmp_path / 'file')} AS x (TYPE braid)")
    with pytest.raises(duckdb.NotImplementedException, match="local file system"):
        con.execute("SELECT * FROM braid_scan('s3://bucket/lake')")


def test_read_only_attach_and_read_only_directory(lake, numbers):
    con = connect_lake(lake, read_only=True)
    assert con.execute("SELECT count(*) FROM numbers").fetchall() == [(500,)]
    with pytest.raises(duckdb.InvalidInputException, match="read-only"):
        con.execute("DELETE FROM numbers")
    con.close()
    for folder, _, files in os.walk(lake):
        for name in files:
            os.chmod(os.path.join(folder, name), 0o444)
        os.chmod(folder, 0o555)
    try:
        con = connect_lake(lake)
        assert con.execute("SELECT max(id) FROM numbers").fetchall() == [(499,)]
        con.close()
    finally:
        for folder, _, _ in os.walk(lake):
            os.chmod(folder, 0o755)


def test_a_broken_table_is_listed_and_fails_when_touched(lake, numbers, connect):
    shutil.copytree(numbers, lake / "broken")
    (lake / "broken" / "_delta_log" / ("0" * 20 + ".json")).write_text("{ this is no JSON")
    con = connect(lake)
    assert con.execute("SHOW TABLES").fetchall() == [("broken",), ("numbers",)]
    assert con.execute("SELECT count(*) FROM numbers").fetchall() == [(500,)]
    with pytest.raises(duckdb.IOException, match="broken.*version 0"):
        con.execute("SELECT * FROM broken")


def test_files_are_pruned_by_partition_and_by_bounds(numbers, lake, connect):
    con = connect(lake)
    assert files_read(con, "SELECT * FROM numbers") == 5
    assert files_read(con, "SELECT * FROM numbers WHERE p = 3") == 1
    assert files_read(con, "SELECT * FROM numbers WHERE id BETWEEN 150 AND 250") == 2
    assert files_read(con, "SELECT * FROM numbers WHERE id IN (5, 405)") == 2
    assert files_read(con, "SELECT * FROM numbers WHERE s = 'v77'") == 1
    assert files_read(con, "SELECT * FROM numbers WHERE id = 7 OR p = 4") == 2
    assert files_read(con, "SELECT * FROM numbers WHERE NOT (id < 400)") == 1
    assert files_read(con, "SELECT * FROM numbers WHERE g = 3") == 5
    assert con.execute("SELECT id, p FROM numbers WHERE id BETWEEN 199 AND 200 ORDER BY id").fetchall() == [(199, 1), (200, 2)]
    assert con.execute("SELECT count(*) FROM numbers WHERE s IS NULL").fetchall() == [(0,)]


def test_join_keys_prune_files_at_run_time(numbers, lake, connect):
    con = connect(lake)
    con.execute("CREATE TEMP TABLE keys AS SELECT 321 AS k UNION ALL SELECT 322")
    query = "SELECT s FROM numbers JOIN keys ON numbers.id = keys.k ORDER BY s"
    assert con.execute(query).fetchall() == [("v321",), ("v322",)]
    plan = con.execute("EXPLAIN ANALYZE " + query).fetchone()[1]
    assert re.search(r"Files:\s*5 of 5", plan)  # nothing is known while planning
    assert int(re.search(r"Total Files Read:\s*(\d+)", plan)[1]) == 1


def test_top_n_and_late_materialisation_return_the_right_rows(numbers, lake, connect):
    con = connect(lake)
    con.execute("SET late_materialization_max_rows = 1000")
    rows = con.execute("SELECT * FROM numbers WHERE id > 120 ORDER BY id DESC LIMIT 3").fetchall()
    assert rows == [(i, i % 10, 4, f"v{i}") for i in (499, 498, 497)]
    rows = con.execute("SELECT * FROM numbers WHERE p >= 2 ORDER BY g DESC, id LIMIT 2").fetchall()
    assert rows == [(209, 9, 2, "v209"), (219, 9, 2, "v219")]


def test_virtual_columns_address_rows(numbers, lake, connect):
    con = connect(lake)
    assert con.execute("SELECT count(DISTINCT filename), max(file_row_number) FROM numbers").fetchall() == [(5, 99)]
    name, position = con.execute("SELECT filename, file_row_number FROM numbers WHERE id = 250").fetchone()
    found = con.execute("SELECT id FROM numbers WHERE filename = ? AND file_row_number = ?", [name, position]).fetchall()
    assert found == [(250,)]


def test_time_travel_by_version_and_timestamp(numbers, lake, connect):
    con = connect(lake)
    assert con.execute("SELECT count(*) FROM numbers AT (VERSION => 1)").fetchall() == [(200,)]
    assert con.execute("SELECT max(id) FROM numbers AT (VERSION => 0) WHERE id > 50").fetchall() == [(99,)]
    history = {commit["version"]: commit["timestamp"] for commit in DeltaTable(numbers).history()}
    for version in range(5):
        os.utime(numbers / "_delta_log" / f"{version:020}.json", (1_700_000_000 + version * 60,) * 2)
    assert len(history) == 5
    at = "SELECT count(*) FROM numbers AT (TIMESTAMP => {})"
    assert con.execute(at.format("TIMESTAMPTZ '2023-11-14 22:14:30+00'")).fetchall() == [(200,)]
    assert con.execute(at.format("TIMESTAMPTZ '2023-11-14 22:14:20+00'")).fetchall() == [(200,)]
    with pytest.raises(duckdb.CatalogException, match="numbers"):
        con.execute(at.format("TIMESTAMPTZ '2001-01-01 00:00:00+00'"))
    with pytest.raises(duckdb.CatalogException, match="numbers.*17|17.*numbers"):
        con.execute("SELECT * FROM numbers AT (VERSION => 17)")
    with pytest.raises(duckdb.BinderException, match="a version is a whole number"):
        con.execute("SELECT * FROM numbers AT (VERSION => 'x')")


def test_time_travel_has_the_schema_of_its_version(lake, connect):
    write_deltalake(lake / "t", pa.table({"a": [1]}))
    write_deltalake(lake / "t", pa.table({"a": [2], "b": ["x"]}), mode="append", schema_mode="merge")
    con = connect(lake)
    assert con.execute("SELECT * FROM t ORDER BY a").fetchall() == [(1, None), (2, "x")]
    old = con.execute("SELECT * FROM t AT (VERSION => 0)")
    assert [column[0] for column in old.description] == ["a"]
    assert con.execute("SELECT count(*) FROM t JOIN (FROM t AT (VERSION => 0)) AS o ON t.a = o.a").fetchall() == [(1,)]


def test_braid_scan_needs_no_attach(numbers):
    con = open_duckdb()
    path = quote(numbers)
    assert con.execute(f"SELECT count(*), sum(id) FROM braid_scan({path})").fetchall() == [(500, 124750)]
    assert con.execute(f"SELECT count(*) FROM braid_scan({path}, version => 2)").fetchall() == [(300,)]
    later = f"""SELECT count(*) FROM braid_scan({path}, "timestamp" => now() + INTERVAL 1 DAY)"""
    assert con.execute(later).fetchall() == [(500,)]
    with pytest.raises(duckdb.BinderException, match="not both"):
        con.execute(f"""SELECT * FROM braid_scan({path}, version => 2, "timestamp" => now())""")
    with pytest.raises(duckdb.CatalogException, match="not a Delta table|_delta_log"):
        con.execute(f"SELECT * FROM braid_scan({quote(numbers.parent)})")


def test_a_transaction_reads_one_snapshot(numbers, lake, connect):
    con = connect(lake)
    con.execute("BEGIN")
    assert con.execute("SELECT count(*) FROM numbers").fetchall() == [(500,)]
    rows = pa.table({"id": [1000], "g": [0], "p": [9], "s": ["new"]})
    write_deltalake(numbers, rows, mode="append", partition_by=["p"])
    assert con.execute("SELECT count(*), max(id) FROM numbers").fetchall() == [(500, 499)]
    con.execute("COMMIT")
    assert con.execute("SELECT count(*), max(id) FROM numbers").fetchall() == [(501, 1000)]


def test_a_table_made_anew_under_the_same_name_is_noticed(lake, connect):
    write_deltalake(lake / "t", pa.table({"a": [1, 2]}))
    con = connect(lake)
    assert con.execute("SELECT * FROM t ORDER BY 1").fetchall() == [(1,), (2,)]
    shutil.rmtree(lake / "t")
    with pytest.raises(duckdb.CatalogException):
        con.execute("SELECT * FROM t")
    write_deltalake(lake / "t", pa.table({"b": ["x"]}))
    assert con.execute("SELECT * FROM t").fetchall() == [("x",)]


def test_nested_columns(lake, connect):
    kind = pa.struct([("x", pa.int64()), ("tags", pa.list_(pa.string()))])
    rows = pa.table({
        "id": [1, 2],
        "st": pa.array([{"x": 7, "tags": ["a", "b"]}, None], kind),
        "m": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64())),
        "ls": pa.array([[{"x": 1, "tags": []}], None], pa.list_(kind)),
    })
    write_deltalake(lake / "n", rows)
    con = connect(lake)
    got = con.execute("SELECT * FROM n ORDER BY id").fetchall()
    assert got[0] == (1, {"x": 7, "tags": ["a", "b"]}, {"k": 1}, [{"x": 1, "tags": []}])
    assert got[1] == (2, None, {}, None)
    assert con.execute("SELECT id, st.tags[2], m['k'] FROM n WHERE st.x = 7").fetchall() == [(1, "b", 1)]
    assert con.execute("SELECT id FROM n WHERE st.x IS NULL").fetchall() == [(2,)]


def test_partition_values_with_special_characters(lake, connect):
    values = ["a b", "x/y", "100%", "ü", "q'q", "a=b", None]
    rows = pa.table({"p": values, "i": list(range(len(values)))})
    write_deltalake(lake / "sp", rows, partition_by=["p"])
    con = connect(lake)
    assert con.execute("SELECT p, i FROM sp ORDER BY i").fetchall() == list(zip(values, range(len(values))))
    for value, i in zip(values[:-1], range(len(values))):
        assert con.execute("SELECT i FROM sp WHERE p = ?", [value]).fetchall() == [(i,)]
        assert files_read(con, f"SELECT i FROM sp WHERE p = {quote(value)}") == 1
    assert con.execute("SELECT i FROM sp WHERE p IS NULL").fetchall() == [(6,)]


def test_errors_name_the_table_and_the_file(numbers, lake, connect):
    victim = next((numbers / "p=2").glob("*.parquet"))
    victim.unlink()
    con = connect(lake)
    with pytest.raises(duckdb.Error, match=f"numbers.*{victim.name}"):
        con.execute("SELECT sum(id) FROM numbers")
    assert con.execute("SELECT count(id) FROM numbers WHERE p <> 2").fetchall() == [(400,)]
