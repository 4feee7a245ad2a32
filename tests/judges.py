# SPDX-License-Identifier: Apache-2.0
"""Other engines' view of a table: deltalake, and DuckDB's own delta extension in a process of its own (two extensions for one table do not share a process)."""

import functools
import importlib.resources
import json
import struct
import subprocess
import sys
import threading

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable, QueryBuilder


def plain(table: pa.Table) -> list[tuple]:
    """Rows as plain Python values, sorted; points in time as microseconds, so that no time zone comes in."""
    columns = []
    for column in table.columns:
        if pa.types.is_timestamp(column.type):
            column = pc.cast(pc.cast(column, pa.timestamp("us", column.type.tz)), pa.int64())
        columns.append([simple(value) for value in column.to_pylist()])
    return sorted(zip(*columns), key=repr)


def simple(value):
    if isinstance(value, list):
        return [tuple(map(simple, item)) if isinstance(item, tuple) else simple(item) for item in value]
    if isinstance(value, dict):
        return {name: simple(item) for name, item in value.items()}
    return str(value) if isinstance(value, float) else value  # NaN


def seen_by_deltalake(path, version=None) -> list[tuple]:
    table = DeltaTable(str(path), version=version)
    return plain(pa.table(QueryBuilder().register("t", table).execute("SELECT * FROM t").read_all()))


# One process for all questions: it costs half a second to start. Paths come in, each answered by + or -, a length, and rows or an error.
READER = """
import json, struct, sys, duckdb, pyarrow as pa
for line in sys.stdin:
    try:
        con = duckdb.connect(":memory:", config={"allow_unsigned_extensions": "true"})
        con.execute(f"LOAD '{sys.argv[1]}'")
        table = con.execute("FROM delta_scan(?)", [json.loads(line)]).to_arrow_table()
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as out:
            out.write_table(table)
        status, answer = b"+", sink.getvalue().to_pybytes()
        con.close()
    except Exception as error:
        status, answer = b"-", str(error).encode()
    sys.stdout.buffer.write(status + struct.pack("<Q", len(answer)) + answer)
    sys.stdout.buffer.flush()
"""
PATIENCE = 120  # seconds; only a reader that hangs takes that long


def delta_extension() -> str:
    """The file of DuckDB's delta extension, from the wheel."""
    root = importlib.resources.files("duckdb_extension_delta")
    (path,) = root.rglob("delta.duckdb_extension") if hasattr(root, "rglob") else ()
    return str(path)


@functools.cache
def delta_process() -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", READER, delta_extension()], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def seen_by_duckdb_delta(path) -> list[tuple]:
    process = delta_process()
    watch = threading.Timer(PATIENCE, process.kill)
    watch.start()
    try:
        process.stdin.write(json.dumps(str(path)).encode() + b"\n")
        process.stdin.flush()
        head = process.stdout.read(9)
        assert len(head) == 9, "the process of the delta extension ended"
        answer = process.stdout.read(struct.unpack("<Q", head[1:])[0])
    finally:
        watch.cancel()
        if process.poll() is not None:
            delta_process.cache_clear()
    assert head[:1] == b"+", answer.decode()
    return plain(pa.ipc.open_stream(answer).read_all())


def seen_by_braid(con, table="t") -> list[tuple]:
    return plain(con.execute(f"FROM {table}").to_arrow_table())


def assert_all_see(con, path, table="t") -> list[tuple]:
    mine = seen_by_braid(con, table)
    assert seen_by_deltalake(path) == mine
    assert seen_by_duckdb_delta(path) == mine
    return mine


def last_checkpoint(path) -> int:
    return json.loads((path / "_delta_log" / "_last_checkpoint").read_text())["version"]
