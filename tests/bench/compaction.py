# SPDX-License-Identifier: Apache-2.0
"""C3: four UPDATE writers on keys of their own in 16 files, and beside them a loop of compactions; the same without the loop; deltalake.

The loop alternates OPTIMIZE and REORG .. APPLY (PURGE), so that each finds something to do: the writers leave deletion vectors everywhere. A
writer whose statement fails runs it again after a pause of at most 5 ms. At the end each row must be up by the number of acknowledged
statements on it.
"""

import random
import time

import deltalake
import duckdb

import contention
import crew
import engines
from measure import Line

WRITERS, ROWS = 4, 100


def beside_writers(recorder, tables):
    seconds = 3 if recorder.quick else 30
    runs = {
        "braid": Run(tables, "braid", True, seconds),
        "braid, no compaction": Run(tables, "braid", False, seconds),
        "deltalake": Run(tables, "deltalake", True, seconds),
    }
    for engine, run in runs.items():
        recorder.raw("c3", engine, 0, run.rows_per_s, "rows/s", compactions=run.compactions, succeeded=run.succeeded)
    beside, alone, peer = runs.values()
    good = {"verified": all(run.good for run in runs.values()), "verified_by": "delta extension, row by row"}
    told = f"{beside.succeeded} of {beside.compactions} compactions, deltalake {peer.succeeded} of {peer.compactions}"
    failed = beside.compactions - beside.succeeded + beside.tries - beside.commits
    recorder.add(Line("c3/failed", failed, None, "statements", limit=0, note=f"compactions and updates; {told}", **good))
    ratio = beside.rows_per_s / alone.rows_per_s
    note = f"rows/s beside compaction against without; deltalake {peer.rows_per_s:,.0f} rows/s"
    recorder.add(Line("c3/update-rate", beside.rows_per_s, alone.rows_per_s, "rows/s", ratio, limit=0.5, at_least=True, note=note, **good))
    head = ["engine", "compactions", "succeeded", "updates", "first try %", "rows/s", "p50 ms", "p99 ms"]
    recorder.table(f"UPDATEs of {ROWS} rows by {WRITERS} writers, {seconds} s each", head, [[name, *run.figures()] for name, run in runs.items()])


class Run(contention.Tally):
    def __init__(self, tables, engine, compacting, seconds):
        self.base = tables.parquet()
        root = tables.copy("ev-f16")
        blocks = tables.rows // (ROWS * WRITERS)
        jobs = [(contention.write, (str(root), engine, i, WRITERS, ROWS, blocks, seconds)) for i in range(WRITERS)]
        if compacting:
            jobs.append((compact, (str(root), engine, seconds)))
        members, elapsed = crew.together(jobs, warm=True)
        self.outcomes = members.pop() if compacting else []
        self.compactions, self.succeeded = len(self.outcomes), sum(self.outcomes)
        super().__init__(members, ROWS, elapsed)
        self.good = contention.exactly_once(root, self.base, self.done, ROWS, WRITERS)

    def figures(self):
        figures = [self.compactions, self.succeeded, self.commits, 100 * self.first_try, self.rows_per_s]
        return [*figures, self.latency(0.5), self.latency(0.99)]


def compact(ready, root, engine, seconds) -> list[bool]:
    """Whether each compaction that was begun in these seconds committed."""
    step = deltalake_steps(root) if engine == "deltalake" else braid_steps(root)
    outcomes = []
    ready()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        outcomes.append(step(len(outcomes)))
        time.sleep(random.random() * 0.005)
    return outcomes


def braid_steps(root):
    con = engines.connect()
    engines.attach(con, root)

    def step(turn) -> bool:
        try:
            con.execute("reorg table ev apply (purge)" if turn % 2 else "optimize ev").fetchall()
            return True
        except duckdb.Error as error:
            if "SQLSTATE: 2D521" not in str(error):
                raise
            return False

    return step


def deltalake_steps(root):
    def step(turn) -> bool:
        try:
            deltalake.DeltaTable(root).optimize.compact()
            return True
        except deltalake.exceptions.CommitFailedError:
            return False

    return step
