# SPDX-License-Identifier: Apache-2.0
"""Checkpoints that Braid writes, of both kinds, read by other engines when the commits before them are gone."""

import json

import pyarrow.parquet as pq
import pytest

import delta_log
from judges import last_checkpoint, seen_by_braid, seen_by_deltalake, seen_by_duckdb_delta


def fill(con, properties):
    con.execute(f"CREATE TABLE t (id BIGINT, p VARCHAR) USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.checkpointInterval' = 5, {properties})")
    for i in range(4):
        con.execute(f"INSERT INTO t SELECT range, 'p{i % 2}' FROM range({i * 10}, {i * 10 + 10})")
    con.execute("DELETE FROM t WHERE id % 7 = 3")


def without_old_commits(table):
    for path in (table / "_delta_log").glob("*.json"):
        if path.stem.isdigit() and int(path.stem) < 5:
            path.unlink()
    for path in (table / "_delta_log").glob("*.crc"):
        path.unlink()


def test_v2(con, connect, lake):
    fill(con, "'delta.checkpointPolicy' = 'v2'")
    t = lake / "t"
    log = t / "_delta_log"
    (top,) = log.glob("*.checkpoint.*")
    assert top.name.startswith(f"{5:020}.checkpoint.") and top.suffix == ".json"
    lines = [json.loads(line) for line in top.read_text().splitlines()]
    kinds = [next(iter(line)) for line in lines]
    assert kinds[0] == "checkpointMetadata" and lines[0]["checkpointMetadata"] == {"version": 5}
    assert sorted(kinds[1:]) == ["metaData", "protocol", "sidecar"]
    sidecar = lines[-1]["sidecar"]
    file = log / "_sidecars" / sidecar["path"]
    assert file.stat().st_size == sidecar["sizeInBytes"]
    table = pq.read_table(file)
    assert table.column_names == ["add", "remove"]
    assert {row["path"] for row in table["add"].to_pylist() if row} == {add["path"] for add in delta_log.active(t).values()}
    assert last_checkpoint(t) == 5
    expected = seen_by_braid(con)
    without_old_commits(t)
    con.close()
    assert seen_by_braid(connect(lake)) == expected and len(expected) == 34
    assert seen_by_duckdb_delta(t) == expected
    assert seen_by_deltalake(t) == expected


@pytest.mark.parametrize("properties", [
    "'delta.checkpointPolicy' = 'classic'",
    "'delta.checkpoint.writeStatsAsJson' = 'false', 'delta.checkpoint.writeStatsAsStruct' = 'true'",
])
def test_classic(con, connect, lake, properties):
    fill(con, properties)
    t = lake / "t"
    (top,) = (t / "_delta_log").glob("*.checkpoint.parquet")
    adds = [row for row in pq.read_table(top)["add"].to_pylist() if row]
    assert all(json.loads(row["stats"])["numRecords"] == 10 for row in adds), "statistics are never lost"
    expected = seen_by_braid(con)
    without_old_commits(t)
    con.close()
    assert seen_by_braid(connect(lake)) == expected
    assert seen_by_duckdb_delta(t) == expected
    assert seen_by_deltalake(t) == expected
