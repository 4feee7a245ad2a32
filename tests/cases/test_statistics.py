# SPDX-License-Identifier: Apache-2.0
"""Public cases C129 to C136: statistics never hide a row, whatever was cut, left out or unknown, before and after a checkpoint."""

import json

import pyarrow as pa
import pytest
from deltalake import write_deltalake

import delta_log
from conftest import connect_lake
from handmade import make_table


def rows(con, query):
    return con.execute(query).fetchall()


def with_and_without_checkpoint(con, lake):
    """The connection as it is; then one that reads the table from a checkpoint alone."""
    yield con
    con.execute("ALTER TABLE t SET ('delta.checkpointInterval' = '1')")
    log = lake / "t" / "_delta_log"
    checkpoint = json.loads((log / "_last_checkpoint").read_text())["version"]
    for version in range(checkpoint):
        (log / f"{version:020}.json").unlink()
    with connect_lake(lake) as later:
        yield later


@pytest.mark.parametrize("kind", ["timestamp", "timestamp_ntz"])
def test_c129_moments_that_statistics_cut_to_milliseconds(con, lake, kind):
    """As other writers do it: both bounds are cut, so the stored maximum lies up to 999 us below."""
    micros = [1_722_839_696_080_758, 1_722_839_696_080_001]
    column = pa.array(micros, pa.timestamp("us", "UTC" if kind == "timestamp" else None))
    zone = "Z" if kind == "timestamp" else ""
    bound = f"2024-08-05T06:34:56.080{zone}"
    fields = [("id", "long"), ("ts", kind)]
    stats = {"minValues": {"id": 1, "ts": bound}, "maxValues": {"id": 2, "ts": bound}, "nullCount": {"id": 0, "ts": 0}}
    make_table(lake / "t", fields, pa.table({"id": [1, 2], "ts": column}), stats)
    if kind == "timestamp_ntz":
        commit = lake / "t" / "_delta_log" / f"{0:020}.json"
        commit.write_text(commit.read_text().replace('{"minReaderVersion": 1, "minWriterVersion": 2}', '{"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["timestampNtz"], "writerFeatures": ["timestampNtz"]}'))
    con.execute("SET TimeZone = 'UTC'")
    for reader in with_and_without_checkpoint(con, lake):
        reader.execute("SET TimeZone = 'UTC'")
        for condition, expected in [("= '2024-08-05 06:34:56.080758'", [1]), ("> '2024-08-05 06:34:56.0805'", [1]), (">= '2024-08-05 06:34:56.080758'", [1]),
                                    ("> '2024-08-05 06:34:56.080'", [1, 2]), ("< '2024-08-05 06:34:56.080002'", [2]), ("> '2024-08-05 06:34:56.081'", [])]:  # fmt: skip
            assert rows(reader, f"SELECT id FROM t WHERE ts {condition} ORDER BY id") == [(i,) for i in expected], condition
        assert rows(reader, "SELECT epoch_us(max(ts)), epoch_us(min(ts)) FROM t") == [tuple(micros)]


ENDINGS = ["", "z", "\U0001f600", "\uffff", "\ufffd", "\ud7ff", "\ue000", "\U0010ffff", "\U00010000", "\x7f", "é"]


@pytest.mark.parametrize("head", ["a", "\U0001f600", "\U0010ffff", "\uffff", "\x7f"])
def test_c131_bounds_of_long_strings_enclose_every_value(con, lake, head):
    con.execute("CREATE TABLE t (id BIGINT, s VARCHAR)")
    texts = [head * length + ending * times for length in (30, 31, 32, 33) for ending in ENDINGS for times in (1, 3)]
    for number, text in enumerate(texts):
        con.execute("INSERT INTO t VALUES (?, ?)", [number, text])
    for number, text in enumerate(texts):
        assert (number,) in con.execute("SELECT id FROM t WHERE s = ?", [text]).fetchall()
        assert con.execute("SELECT count(*) FROM t WHERE s > ?", [text]).fetchone() == (sum(other.encode() > text.encode() for other in texts),)
    for add in delta_log.active(lake / "t").values():
        stats = delta_log.stats(add)
        text = texts[stats["minValues"]["id"]].encode()
        if "s" in stats["minValues"]:
            assert stats["minValues"]["s"].encode() <= text
        if "s" in stats["maxValues"]:
            assert stats["maxValues"]["s"].encode() >= text


@pytest.mark.parametrize("kind, arrow", [("DOUBLE", pa.float64()), ("FLOAT", pa.float32())])
@pytest.mark.parametrize("writer", ["braid", "deltalake"])
def test_c132_files_with_nan_are_not_skipped(con, lake, writer, kind, arrow):
    """NaN is greater than everything and equal to itself; bounds do not show it."""
    files = {1: [1.0, float("nan")], 2: [2.0, 3.0], 3: [float("nan")], 4: [None, float("nan"), -1.0], 5: [None]}
    for number, values in files.items():
        data = pa.table({"id": [number] * len(values), "x": pa.array(values, arrow)})
        if writer == "deltalake":
            write_deltalake(lake / "t", data, mode="append")
        else:
            con.register("data", data)
            con.execute(f"CREATE TABLE IF NOT EXISTS t (id BIGINT, x {kind})")
            con.execute("INSERT INTO t SELECT * FROM data")
    nan = f"'nan'::{kind}"
    for reader in with_and_without_checkpoint(con, lake):
        for condition, expected in [("x > 5", [1, 3, 4]), ("x >= 3", [1, 2, 3, 4]), (f"x = {nan}", [1, 3, 4]), (f"x <> {nan}", [1, 2, 2, 4]), ("x <> 2", [1, 1, 2, 3, 4, 4]),
                                    (f"x >= {nan}", [1, 3, 4]), (f"x < {nan}", [1, 2, 2, 4]), (f"x > {nan}", []), ("x < 2", [1, 4]), ("x IS NULL", [4, 5]), ("NOT (x <= 2)", [1, 2, 3, 4]),
                                    ("isnan(x)", [1, 3, 4]), (f"x IS DISTINCT FROM {nan}", [1, 2, 2, 4, 4, 5])]:  # fmt: skip
            assert rows(reader, f"SELECT id FROM t WHERE {condition} ORDER BY id") == [(i,) for i in expected], condition
        assert rows(reader, "SELECT isnan(max(x)), min(x) FROM t") == [(True, -1.0)]


def test_c136_columns_that_a_file_knows_nothing_of(con, lake):
    con.execute("CREATE TABLE t (id BIGINT, v INT)")
    con.execute("INSERT INTO t VALUES (1, 1), (2, NULL)")
    con.execute("ALTER TABLE t ADD COLUMN late INT")
    con.execute("INSERT INTO t VALUES (3, 3, 5), (4, 4, NULL)")
    for reader in with_and_without_checkpoint(con, lake):
        for condition, expected in [("late IS NULL", [1, 2, 4]), ("late IS NOT NULL", [3]), ("late IS NOT DISTINCT FROM NULL", [1, 2, 4]), ("late IS DISTINCT FROM 5", [1, 2, 4]),
                                    ("late = 5", [3]), ("late <> 5", []), ("coalesce(late, 0) = 0", [1, 2, 4]), ("late IS NULL OR v = 3", [1, 2, 3, 4])]:  # fmt: skip
            assert rows(reader, f"SELECT id FROM t WHERE {condition} ORDER BY id") == [(i,) for i in expected], condition
        assert rows(reader, "SELECT count(late), min(late), max(late) FROM t") == [(1, 5, 5)]
    con.execute("MERGE INTO t USING (SELECT NULL::INT AS k) src ON t.late IS NOT DISTINCT FROM src.k WHEN MATCHED THEN UPDATE SET v = -1")
    assert rows(con, "SELECT id FROM t WHERE v = -1 ORDER BY id") == [(1,), (2,), (4,)]


def test_c136_null_counts_that_are_not_written(con, lake):
    stats = {"minValues": {"id": 1}, "maxValues": {"id": 2}}
    make_table(lake / "t", [("id", "long"), ("v", "long")], pa.table({"id": [1, 2], "v": pa.array([None, 1], pa.int64())}), stats)
    assert rows(con, "SELECT id FROM t WHERE v IS NULL") == [(1,)] and rows(con, "SELECT id FROM t WHERE v IS NOT NULL") == [(2,)]
    assert rows(con, "SELECT count(v), count(*) FROM t") == [(1, 2)]
