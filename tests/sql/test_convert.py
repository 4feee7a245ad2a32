# SPDX-License-Identifier: Apache-2.0
"""CONVERT TO DELTA: a folder of Parquet files becomes a table; the files stay as they are. They are written by pyarrow and by DuckDB, not by us."""

import datetime
import decimal
import shutil

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import delta_log
from conftest import open_duckdb
from judges import assert_all_see, plain, seen_by_deltalake, seen_by_duckdb_delta
from racing import commit_late


def write(path, table, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, **options)


def bytes_of(folder):
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in sorted(folder.rglob("*")) if path.is_file() and "_delta_log" not in path.parts}


@pytest.fixture
def folder(tmp_path):
    """Two plain files, and names that are no data."""
    folder = tmp_path / "lake" / "t"
    write(folder / "a b%20.parquet", pa.table({"id": pa.array([1, 2, 3], pa.int64()), "s": ["x", None, "z"]}))
    write(folder / "sub" / "more.parquet", pa.table({"id": pa.array([4], pa.int64()), "s": ["w"]}))
    (folder / "_SUCCESS").touch()
    (folder / ".part.crc").write_text("no Parquet")
    write(folder / "_temporary" / "x.parquet", pa.table({"id": [9]}))
    (folder / "empty").touch()
    return folder


@pytest.fixture
def con(tmp_path):
    (tmp_path / "lake").mkdir(exist_ok=True)
    con = open_duckdb()
    con.execute(f"ATTACH '{tmp_path / 'lake'}' AS lake (TYPE braid)")
    con.execute("USE lake")
    return con


def refuse(con, folder, statement, *parts):
    before = bytes_of(folder)
    with pytest.raises(duckdb.Error) as error:
        con.execute(statement)
    for part in parts:
        assert part in str(error.value)
    assert bytes_of(folder) == before and not (folder / "_delta_log").exists()


ROWS = [(1, "x"), (2, None), (3, "z"), (4, "w")]


def test_files_become_a_table_and_stay_as_they_are(con, folder):
    before = bytes_of(folder)
    assert con.execute(f"CONVERT TO DELTA parquet.`{folder}`").fetchall() == [(2,)]
    assert bytes_of(folder) == before
    assert assert_all_see(con, folder) == sorted(ROWS, key=repr)
    adds = delta_log.active(folder)
    assert sorted(adds) == ["a b%20.parquet", "sub/more.parquet"]
    for path, add in adds.items():
        assert (add["size"], add["dataChange"]) == ((folder / path).stat().st_size, True)
        assert add["modificationTime"] == (folder / path).stat().st_mtime_ns // 1_000_000
    assert delta_log.stats(adds["a b%20.parquet"]) == {"numRecords": 3, "minValues": {"id": 1, "s": "x"}, "maxValues": {"id": 3, "s": "z"}, "nullCount": {"id": 0, "s": 1}, "tightBounds": True}
    info = delta_log.info(folder)
    assert (info["operation"], info["operationMetrics"]["numConvertedFiles"]) == ("CONVERT", "2")
    assert info["operationParameters"] == {"numFiles": 2, "partitionedBy": "[]", "collectStats": True, "sourceFormat": "parquet"}
    con.execute("DELETE FROM t WHERE id = 3")
    con.execute("UPDATE t SET s = 'u' WHERE id = 4")
    assert assert_all_see(con, folder) == sorted([(1, "x"), (2, None), (4, "u")], key=repr)
    assert bytes_of(folder).items() >= before.items()


def test_a_table_stays_a_table(con, folder):
    con.execute(f"CONVERT TO DELTA '{folder}'")
    assert con.execute(f"CONVERT TO DELTA parquet.'{folder}'").fetchall() == [(0,)]
    assert con.execute("CONVERT TO DELTA lake.t").fetchall() == [(0,)]
    assert delta_log.version(folder) == 0


def test_by_name_and_outside_of_every_lake(con, folder, tmp_path):
    outside = tmp_path / "outside"
    shutil.copytree(folder, outside)
    assert con.execute("CONVERT TO DELTA t NO STATISTICS").fetchall() == [(2,)]
    assert all("stats" not in add or not add["stats"] for add in delta_log.active(folder).values())
    assert con.execute("SELECT count(*) FROM t WHERE id > 2").fetchall() == [(2,)]
    con.execute("DELETE FROM t WHERE id = 1")
    assert len(assert_all_see(con, folder)) == 3
    alone = open_duckdb()
    alone.execute(f"CONVERT TO DELTA parquet.`{outside}`")
    assert seen_by_deltalake(outside) == sorted(ROWS, key=repr)


def test_partitions(con, tmp_path):
    """Written by DuckDB: encoded values, NULL, two columns."""
    folder = tmp_path / "lake" / "t"
    source = duckdb.connect()
    source.execute("SET TimeZone = 'UTC'")
    source.execute("""CREATE TABLE x AS SELECT range AS id, CASE WHEN range % 4 > 0 THEN ['a b', 'c/d', '50%'][range % 4] END AS p, '2024-02-28'::DATE + (range % 3)::INT AS day FROM range(24)""")
    source.execute(f"COPY x TO '{folder}' (FORMAT parquet, PARTITION_BY (p, day))")
    expected = plain(source.execute("SELECT id, p, day FROM x").to_arrow_table())
    refuse(con, folder, f"CONVERT TO DELTA '{folder}'", "DELTA_UNEXPECTED_NUM_PARTITION_COLUMNS", "PARTITIONED BY (p STRING, day STRING)")
    refuse(con, folder, f"CONVERT TO DELTA '{folder}' PARTITIONED BY (day DATE, p STRING)", "(p, day)", "(day, p)")
    refuse(con, folder, f"CONVERT TO DELTA '{folder}' PARTITIONED BY (p INT, day DATE)", "DELTA_FAILED_CAST_PARTITION_VALUE", "p=", "integer")
    con.execute(f"CONVERT TO DELTA '{folder}' PARTITIONED BY (p STRING, day DATE)")
    assert assert_all_see(con, folder) == expected
    assert delta_log.metadata(folder)["partitionColumns"] == ["p", "day"]
    assert {add["partitionValues"]["p"] for add in delta_log.active(folder).values()} == {None, "a b", "c/d", "50%"}
    assert delta_log.info(folder)["operationParameters"]["partitionedBy"] == '["p","day"]'
    con.execute("DELETE FROM t WHERE p = 'c/d'")
    con.execute("UPDATE t SET p = '50%' WHERE p IS NULL AND day = '2024-02-29'")
    assert assert_all_see(con, folder) == sorted([(id, "50%" if p is None and day == datetime.date(2024, 2, 29) else p, day) for id, p, day in expected if p != "c/d"], key=repr)


def test_partition_values_are_written_as_delta_writes_them(con, tmp_path):
    folder = tmp_path / "lake" / "t"
    for n, name in enumerate(["n=007", "n=__HIVE_DEFAULT_PARTITION__", "n=-3"]):
        write(folder / name / "f.parquet", pa.table({"id": [n]}))
    con.execute("CONVERT TO DELTA t PARTITIONED BY (N BIGINT)")
    assert sorted(add["partitionValues"]["N"] or "" for add in delta_log.active(folder).values()) == ["", "-3", "7"]
    assert assert_all_see(con, folder) == [(0, 7), (1, None), (2, -3)]


def test_schemas_are_united_or_the_file_is_named(con, tmp_path):
    folder = tmp_path / "lake" / "t"
    write(folder / "1.parquet", pa.table({"id": pa.array([1], pa.int64()), "st": [{"a": 1}]}))
    write(folder / "2.parquet", pa.table({"more": ["x"], "st": [{"a": 2, "b": "y"}], "id": pa.array([2], pa.int64())}))
    write(folder / "3.parquet", pa.table({"id": pa.array([3], pa.int32())}))
    refuse(con, folder, "CONVERT TO DELTA t", "DELTA_FAILED_MERGE_SCHEMA_FILE", "3.parquet", "id", "integer", "long")
    write(folder / "3.parquet", pa.table({"ID": pa.array([3], pa.int64())}))
    refuse(con, folder, "CONVERT TO DELTA t", "3.parquet", "ID", "case only")
    (folder / "3.parquet").unlink()
    con.execute("CONVERT TO DELTA t")
    assert con.execute("FROM t ORDER BY id").fetchall() == [(1, {"a": 1, "b": None}, None), (2, {"a": 2, "b": "y"}, "x")]
    assert len(assert_all_see(con, folder)) == 2


def test_names_that_differ_in_case_only(con, tmp_path):
    write(tmp_path / "lake" / "t" / "one.parquet", pa.table({"a": [1], "A": [2]}))
    with pytest.raises(duckdb.Error, match=r'one\.parquet has two columns "A" whose names differ in case only'):
        con.execute(f"CONVERT TO DELTA '{tmp_path}/lake/t'")
    write(tmp_path / "lake" / "u" / "one.parquet", pa.table({"a": [1], "a_1": [2], "a_b": [3]}))
    con.execute(f"CONVERT TO DELTA '{tmp_path}/lake/u'")
    assert seen_by_deltalake(tmp_path / "lake" / "u") == con.execute("FROM u").fetchall() == [(1, 2, 3)]


def test_what_is_no_parquet(con, folder):
    (folder / "notes.txt").write_text("to do")
    refuse(con, folder, "CONVERT TO DELTA t", "notes.txt")
    (folder / "notes.txt").unlink()
    write(folder / "u.parquet", pa.table({"id": pa.array([1], pa.uint64())}))
    refuse(con, folder, "CONVERT TO DELTA t", "u.parquet", "id")


def test_folders_without_files(con, tmp_path):
    (tmp_path / "lake" / "t").mkdir()
    refuse(con, tmp_path / "lake" / "t", "CONVERT TO DELTA t", "DELTA_EMPTY_DIRECTORY", str(tmp_path / "lake" / "t"))
    with pytest.raises(duckdb.Error, match="no folder"):
        con.execute(f"CONVERT TO DELTA '{tmp_path}/nowhere'")
    for statement in ("CONVERT TO DELTA", "CONVERT TO DELTA t PARTITIONED BY ()", "CONVERT TO DELTA t NO STATS"):
        with pytest.raises(duckdb.Error, match="syntax error"):
            con.execute(statement)


TYPES = {
    "l": pa.array([5, -7, None], pa.int64()),
    "i": pa.array([1, None, -1], pa.int32()),
    "f": pa.array([1.5, -2.5, None], pa.float64()),
    "nan": pa.array([float("nan"), 1.0, None], pa.float64()),
    "d": pa.array([decimal.Decimal("1.25"), decimal.Decimal("-99.00"), None], pa.decimal128(9, 2)),
    "day": pa.array([datetime.date(2024, 2, 29), datetime.date(1969, 7, 20), None]),
    "ts": pa.array([datetime.datetime(2024, 1, 1, 12, 30, 0, 123456), datetime.datetime(1969, 1, 1), None], pa.timestamp("us", "UTC")),
    "ntz": pa.array([datetime.datetime(2024, 1, 1, 12), datetime.datetime(1960, 1, 1), None], pa.timestamp("us")),
    "s": pa.array(["é" * 40, "ab", None]),
    "bl": pa.array([b"\x00\xff", b"", None]),
    "b": pa.array([True, False, None]),
    "li": pa.array([[1, None], [], None]),
    "st": pa.array([{"x": 1}, None, {"x": -1}]),
    "none": pa.array([None, None, None], pa.int64()),
}


@pytest.mark.parametrize("groups", [1, 3])
def test_statistics_of_footers_agree_with_the_rows(con, tmp_path, groups):
    """Against the bounds that pyarrow computes of the values; a bound that is not sure is left out, and no filter loses a row."""
    folder = tmp_path / "lake" / "t"
    table = pa.table(TYPES)
    write(folder / "f.parquet", table, row_group_size=1 if groups == 3 else None)
    con.execute("CONVERT TO DELTA t")
    add, = delta_log.active(folder).values()
    stats = delta_log.stats(add)
    assert stats["numRecords"] == 3
    assert stats["nullCount"] == {**{name: 1 for name in TYPES if name not in ("li", "st", "none")}, "st": {"x": 1}, "none": 3}
    assert stats["minValues"].pop("nan", None) == (1.0 if groups == 1 else None)  # a group of nothing but NaN has no bounds
    assert stats["minValues"] == {"l": -7, "i": -1, "f": -2.5, "d": -99.00, "day": "1969-07-20", "ts": "1969-01-01T00:00:00.000Z", "ntz": "1960-01-01T00:00:00.000", "s": "ab", "st": {"x": -1}}
    assert "f" not in stats["maxValues"] and "nan" not in stats["maxValues"]  # a footer does not say whether there is a NaN
    assert stats["maxValues"]["ts"] == "2024-01-01T12:30:00.124Z" and stats["maxValues"]["d"] == 1.25
    assert stats["maxValues"]["s"] > "é" * 32
    for where, count in {"l = 5": 1, "nan = 'nan'::DOUBLE": 1, "s > 'z'": 1, "ts = '2024-01-01 12:30:00.123456+00'": 1, "none IS NULL": 3, "day < '1970-01-01'": 1, "f IS NULL": 1, "st.x < 0": 1, "d >= 1.25": 1}.items():
        assert con.execute(f"SELECT count(*) FROM t WHERE {where}").fetchall() == [(count,)], where
    assert seen_by_duckdb_delta(folder) == plain(con.execute("FROM t").to_arrow_table())


def test_moments_of_spark_are_instants(con, tmp_path):
    folder = tmp_path / "lake" / "t"
    write(folder / "f.parquet", pa.table({"ts": pa.array([datetime.datetime(2024, 1, 1, 12)], pa.timestamp("us"))}), use_deprecated_int96_timestamps=True)
    con.execute("SET TimeZone = 'Asia/Tokyo'")
    con.execute("CONVERT TO DELTA t")
    assert '"type":"timestamp"' in delta_log.metadata(folder)["schemaString"].replace(" ", "")
    assert con.execute("SELECT epoch_us(ts), typeof(ts) FROM t").fetchall() == [(1704110400000000, "TIMESTAMP WITH TIME ZONE")]


def test_moments_of_spark_inside_of_structs_lists_and_maps(con, tmp_path):
    folder = tmp_path / "lake" / "t"
    noon, ts = datetime.datetime(2024, 1, 1, 12), pa.timestamp("us")
    table = pa.table({
        "id": [1],
        "s": pa.array([{"n": 2, "ts": noon}], pa.struct([("n", pa.int64()), ("ts", ts)])),
        "l": pa.array([[noon]], pa.list_(ts)),
        "m": pa.array([[("k", noon)]], pa.map_(pa.string(), ts)),
    })
    write(folder / "f.parquet", table, use_deprecated_int96_timestamps=True)
    con.execute("SET TimeZone = 'Asia/Tokyo'")
    con.execute("CONVERT TO DELTA t")
    assert "timestamp_ntz" not in delta_log.metadata(folder)["schemaString"]
    moments = con.execute("SELECT epoch_us(s.ts), epoch_us(l[1]), epoch_us(m['k']) FROM t").fetchall()
    assert moments == [(1704110400000000,) * 3]
    (_, struct, elements, entries), = seen_by_deltalake(folder)
    assert {struct["ts"], elements[0], entries[0][1]} == {noon.replace(tzinfo=datetime.timezone.utc)}


def test_inside_a_transaction_and_in_a_read_only_lake_it_is_refused(con, folder):
    con.execute("BEGIN")
    with pytest.raises(duckdb.Error, match="BEGIN ... COMMIT"):
        con.execute(f"CONVERT TO DELTA '{folder}'")
    con.execute("ROLLBACK")
    reader = open_duckdb()
    reader.execute(f"ATTACH '{folder.parent}' AS lake (TYPE braid, READ_ONLY)")
    refuse(reader, folder, f"CONVERT TO DELTA '{folder}'", "read-only")


def test_one_of_two_wins(con, folder):
    other = open_duckdb()
    with pytest.raises(duckdb.TransactionException, match="DELTA_PROTOCOL_CHANGED.WRITE_TO_EMPTY_DIRECTORY"):
        commit_late(con, f"CONVERT TO DELTA '{folder}'", lambda: other.execute(f"CONVERT TO DELTA '{folder}'"))
    assert delta_log.version(folder) == 0
    assert assert_all_see(con, folder) == sorted(ROWS, key=repr)
