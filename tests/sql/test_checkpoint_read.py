# SPDX-License-Identifier: Apache-2.0
"""Checkpoints as other writers may lay them out: written here with pyarrow, read as the files and facts that went in."""

import json

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import connect_lake

TEXT_MAP = pa.map_(pa.string(), pa.string())
SCHEMA = json.dumps({"type": "struct", "fields": [{"name": "id", "type": "long", "nullable": True, "metadata": {}}]})
ADD = {"path": pa.string(), "partitionValues": TEXT_MAP, "size": pa.int64(), "modificationTime": pa.int64(), "dataChange": pa.bool_(),
       "stats": pa.string()}  # fmt: skip
METADATA = {"id": pa.string(), "schemaString": pa.string(), "partitionColumns": pa.list_(pa.string()), "configuration": TEXT_MAP}
PROTOCOL = {"minReaderVersion": pa.int32(), "minWriterVersion": pa.int32()}
TXN = {"appId": pa.string(), "version": pa.int64()}
REMOVE = {"path": pa.string(), "deletionTimestamp": pa.int64(), "dataChange": pa.bool_()}


def stats(i):
    return json.dumps({"numRecords": i + 1, "minValues": {"id": i}, "maxValues": {"id": i}, "nullCount": {"id": 0}})


def add(i, **more):
    values = {"path": f"part-{i:05}-of-many.parquet", "partitionValues": [], "size": 10 + i, "modificationTime": i, "dataChange": True}
    return {"add": {**values, "stats": stats(i), **more}}


def facts(properties=()):
    return [{"metaData": {"id": "m", "schemaString": SCHEMA, "partitionColumns": [], "configuration": list(properties)}},
            {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}]  # fmt: skip


def write_checkpoint(root, rows, add_fields=ADD, without=(), **options):
    """The only file of the log."""
    structs = {"add": add_fields, "metaData": METADATA, "protocol": PROTOCOL, "txn": TXN, "remove": REMOVE}
    kinds = {name: pa.struct(list(fields.items())) for name, fields in structs.items() if name not in without}
    columns = {name: pa.array([row.get(name) for row in rows], kind) for name, kind in kinds.items()}
    log = root / "_delta_log"
    log.mkdir(parents=True)
    pq.write_table(pa.table(columns), log / f"{7:020}.checkpoint.parquet", **options)


def files(con, columns="path, size, numRecords, minValues['id']"):
    return con.execute(f"SELECT {columns} FROM braid_files('t') ORDER BY size").fetchall()


def expected(numbers):
    return [(f"part-{i:05}-of-many.parquet", 10 + i, i + 1, str(i)) for i in numbers]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"row_group_size": 1000},
        {"use_dictionary": False, "compression": "none"},
        {"write_statistics": False},
        {"data_page_size": 2000, "data_page_version": "2.0"},
        {"column_encoding": {"add.path": "DELTA_BYTE_ARRAY", "add.stats": "DELTA_LENGTH_BYTE_ARRAY"}, "use_dictionary": False},
    ],
)
def test_layouts(lake, options):
    """6000 adds; what is no add stands at the beginning, in the middle and at the end."""
    rows = [add(i) for i in range(6000)]
    rows.insert(3000, {"txn": {"appId": "loader", "version": 4}})
    rows.insert(3001, {"remove": {"path": "gone", "deletionTimestamp": 1, "dataChange": True}})
    rows = facts([("my.key", "v")])[:1] + rows + facts()[1:]
    write_checkpoint(lake / "t", rows, **options)
    con = connect_lake(lake)
    assert files(con) == expected(range(6000))
    assert con.execute("SHOW TBLPROPERTIES t ('my.key')").fetchall() == [("my.key", "v")]


def test_a_path_with_letters_that_mean_something_in_patterns(lake):
    write_checkpoint(lake / "a[1]*p=2" / "t", [*facts(), *map(add, range(3))])
    con = connect_lake(lake / "a[1]*p=2")
    assert files(con) == expected(range(3))


def test_short_texts(lake):
    """Texts of at most twelve bytes lie in DuckDB's vectors, not behind them; vectors are used again for the next rows."""
    rows = [add(i, path=f"f{i}", stats='{}' if i % 2 else stats(i)) for i in range(5000)]
    write_checkpoint(lake / "t", facts() + rows)
    con = connect_lake(lake)
    assert files(con, "path, numRecords") == [(f"f{i}", None if i % 2 else i + 1) for i in range(5000)]


def test_other_types_and_missing_columns(lake):
    fields = {"path": pa.large_string(), "size": pa.int32(), "stats": pa.string()}
    rows = [{"add": {"path": f"a path of file {i}", "size": i, "stats": None if i == 1 else stats(i)}} for i in range(4)]
    write_checkpoint(lake / "t", facts() + rows, fields, without=("txn", "remove"))
    con = connect_lake(lake)
    found = files(con, "path, size, numRecords, partitionValues")
    assert found == [(f"a path of file {i}", i, None if i == 1 else i + 1, {}) for i in range(4)]


def test_statistics_as_a_struct_only(lake):
    bounds = pa.struct([("id", pa.int64())])
    parsed = pa.struct([("numRecords", pa.int64()), ("minValues", bounds), ("maxValues", bounds), ("nullCount", bounds)])
    fields = {"path": pa.string(), "size": pa.int64(), "stats_parsed": parsed}
    rows = [{"add": {"path": f"part-{i:05}-of-many.parquet", "size": 10 + i, "stats_parsed": json.loads(stats(i))}} for i in range(3000)]
    write_checkpoint(lake / "t", facts() + rows, fields)
    assert files(connect_lake(lake)) == expected(range(3000))
    write_checkpoint(lake / "both", facts() + [{"add": {**row["add"], "stats": None}} for row in rows], {**fields, "stats": pa.string()})
    con = connect_lake(lake)
    con.execute("CREATE OR REPLACE TEMP TABLE wanted AS FROM braid_files('both')")
    assert con.execute("SELECT sum(numRecords), min(minValues['id']::BIGINT), count(*) FROM wanted").fetchone() == (3000 * 3001 // 2, 0, 3000)


def test_partition_values_and_duplicates(lake):
    schema = json.dumps({"type": "struct", "fields": [{"name": n, "type": "string", "nullable": True, "metadata": {}} for n in "pq"]})
    meta = {"metaData": {"id": "m", "schemaString": schema, "partitionColumns": ["p"], "configuration": []}}
    rows = [add(i, partitionValues=[("p", None if i % 3 == 0 else f'va"l{i}')], stats=None) for i in range(2500)]
    write_checkpoint(lake / "t", [meta, facts()[1], *rows])
    found = files(connect_lake(lake), "partitionValues['p']")
    assert found == [(None if i % 3 == 0 else f'va"l{i}',) for i in range(2500)]
    write_checkpoint(lake / "twice", [*facts(), *map(add, range(100)), add(40), *map(add, range(100, 200))])
    with pytest.raises(duckdb.IOException, match="part-00040-of-many.parquet is added twice"):
        connect_lake(lake).execute("FROM twice")


def test_a_file_that_outlives_its_lake(lake, connect):
    """The snapshot keeps text in DuckDB's pages: it must be let go of before the database is."""
    write_checkpoint(lake / "t", facts() + [add(i) for i in range(3000)])
    con = connect_lake(lake)
    assert len(files(con)) == 3000
    con.execute("USE memory; DETACH lake")
    con.execute(f"ATTACH '{lake}' AS lake (TYPE braid); USE lake")
    assert files(con) == expected(range(3000))
    con.close()
