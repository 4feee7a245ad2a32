# SPDX-License-Identifier: Apache-2.0
"""Blind appends of 1000 rows by 1, 2 and 4 processes on one table: Braid (durable) and deltalake (which does not fsync) in turns."""

import statistics
import time

import crew
import engines
from measure import Line

WRITERS = 1, 2, 4
ROWS = 1000


def measure(recorder, tables):
    seconds, rounds = (1, 2) if recorder.quick else (4, 3)
    rates = {(engine, n): [] for engine in ("braid", "deltalake") for n in WRITERS}
    verified = dict.fromkeys(WRITERS, True)
    for rep in range(rounds):
        for n in WRITERS:
            for engine, body in ("braid", append_braid), ("deltalake", append_deltalake):
                rate, good = once(tables, n, body, seconds)
                rates[engine, n].append(rate)
                verified[n] &= good
                recorder.raw(f"appends/{n}-writers", engine, rep, rate, "commits/s")
    for n in WRITERS:
        report(recorder, n, rates, verified[n])
    for more, fewer in (2, 1), (4, 2):
        ours = statistics.median(rates["braid", more]), statistics.median(rates["braid", fewer])
        note = f"commits/s of {more} writers over those of {fewer}"
        line = Line(f"appends/{more}-over-{fewer}", *ours, "commits/s", ours[0] / ours[1], None, rounds, 1, True, note=note)
        recorder.add(line)


def report(recorder, n, rates, verified):
    recorder.ratio(
        f"appends/{n}-writers",
        rates["braid", n],
        rates["deltalake", n],
        5,
        "commits/s",
        at_least=True,
        verified=verified,
        verified_by="each by the other, delta extension",
        note="durable, against deltalake without fsync",
    )


def once(tables, writers, body, seconds) -> tuple[float, bool]:
    root = tables.copy("ev-empty")
    results, elapsed = crew.together([(body, (str(root), tables.parquet(), seconds))] * writers)
    commits = sum(results)
    rows = engines.deltalake_rows(root) if body is append_braid else braid_rows(root)
    good = rows == commits * ROWS and engines.delta_answers(root, "select count(*) from t", f"select {commits * ROWS}")
    return commits / elapsed, good


def braid_rows(root) -> int:
    con = engines.connect()
    engines.attach(con, root)
    return engines.run(con, "select count(id) from ev")[0][0]


def append_braid(ready, root, parquet, seconds) -> int:
    """Commits made in that time. A statement that fails ends the run: nobody runs it again."""
    con = engines.connect()
    con.execute(f"create temp table batch as from read_parquet('{parquet}') limit {ROWS}")
    engines.attach(con, root)
    ready()
    commits, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        con.execute("insert into ev from temp.batch")
        commits += 1
    return commits


def append_deltalake(ready, root, parquet, seconds) -> int:
    import deltalake
    import pyarrow
    import pyarrow.parquet

    batch = next(pyarrow.parquet.ParquetFile(parquet).iter_batches(ROWS))
    rows = pyarrow.Table.from_batches([batch])
    options = {
        "writer_properties": deltalake.WriterProperties(compression="SNAPPY"),
        "commit_properties": deltalake.CommitProperties(max_commit_retries=1000),
    }
    table = deltalake.DeltaTable(root)
    ready()
    commits, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        deltalake.write_deltalake(table, rows, mode="append", **options)
        commits += 1
    return commits
