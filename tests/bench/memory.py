# SPDX-License-Identifier: Apache-2.0
"""Memory: DELETE and UPDATE of the same number of rows in a table and in one ten times smaller; INSERT of 50 million rows within 1 GB.

Each figure is the growth of the peak resident memory of a fresh process during the statement.
"""

import statistics
import time

import crew
import engines
from measure import Line


def delete(recorder, tables):
    change(recorder, tables, "delete")


def update(recorder, tables):
    change(recorder, tables, "update")


def change(recorder, tables, verb):
    """The predicate picks equally many rows in the large table (1 in 1000) and in the small one (1 in 100)."""
    name = f"memory/{verb}"
    head = "delete from ev" if verb == "delete" else "update ev set v = v + 1"
    growth = {"ev": [], "ev-small": [], "ten times the rows": []}
    verified = True
    for rep in range(2 if recorder.quick else 5):
        for key, table, share in ("ev", "ev", 1000), ("ev-small", "ev-small", 10_000), ("ten times the rows", "ev", 10_000):
            mib, good = once(tables, table, head, f"k < {share}")
            growth[key].append(mib)
            verified = verified and good
            recorder.raw(name, key, rep, mib, "MiB")
    more = statistics.median(growth["ten times the rows"])
    note = f"ten times the rows scanned, as many changed; ten times the rows changed: {more:.0f} MiB"
    recorder.ratio(
        name, growth["ev"], growth["ev-small"], 1.5, "MiB", verified=verified, verified_by="delta extension", note=note
    )


def once(tables, table, head, predicate) -> tuple[float, bool]:
    root = tables.copy(table)
    (growth,), _ = crew.together([(statement, (str(root), f"{head} where {predicate}"))])
    base = f"read_parquet('{tables.parquet(table)}')"
    expected = (
        f"select count(*), sum(v) from {base} where not ({predicate})"
        if head.startswith("delete")
        else f"select count(*), sum(v) + count(*) filter ({predicate}) from {base}"
    )
    good = engines.delta_answers(root, "select count(*), sum(v) from t", expected)
    return growth, good


def statement(ready, root, sql) -> float:
    con = engines.connect()
    engines.attach(con, root)
    ready()
    with engines.PeakMemory() as memory:
        con.execute(sql).fetchall()
    return memory.growth


def insert(recorder, tables):
    name, times = "memory/insert-50m", 5
    root = tables.copy("ev-empty")
    source = "read_parquet([" + ", ".join([f"'{tables.parquet()}'"] * times) + "])"
    ((peak, seconds),), _ = crew.together([(insert_limited, (str(root), source, str(tables.work)))])
    recorder.raw(name, "peak", 0, peak, "MiB")
    recorder.raw(name, "time", 0, seconds * 1000, "ms")
    base = f"read_parquet('{tables.parquet()}')"
    good = engines.delta_answers(
        root, "select count(*), sum(v) from t", f"select {times} * count(*), {times} * sum(v) from {base}"
    )
    note = f"{times * tables.rows // 1_000_000} M rows in {seconds:.1f} s with memory_limit = '1GB'"
    recorder.add(
        Line(name, peak, None, "MiB", limit=1024, verified=good, verified_by="delta extension", note="peak resident; " + note)
    )


def insert_limited(ready, root, source, temporary) -> tuple[float, float]:
    con = engines.connect(memory_limit="1GB", temp_directory=f"{temporary}/spill")
    engines.attach(con, root)
    ready()
    start = time.perf_counter()
    with engines.PeakMemory() as memory:
        con.execute(f"insert into ev from {source}").fetchall()
    return memory.peak, time.perf_counter() - start
