# SPDX-License-Identifier: Apache-2.0
"""Reading: a full scan of one column, on a clean file and with 1 % of its rows deleted by a vector, against read_parquet of that file."""

import engines
from engines import run
from measure import timed


def clean(recorder, tables):
    scan(recorder, tables, "scan/clean", "ev", 1.05)


def deleted(recorder, tables):
    scan(recorder, tables, "scan/deleted-1pct", "ev-del1", 1.15)


def scan(recorder, tables, name, table, limit):
    con = engines.connect()
    root = tables.copy(table)
    engines.attach(con, root)
    bare = f"select sum(v) from read_parquet('{tables.parquet()}')"
    ours, theirs = recorder.pairs(
        name,
        lambda rep: timed(lambda: run(con, "select sum(v) from ev")),
        lambda rep: timed(lambda: run(con, bare)),
        repetitions=31,
        warm=3,
    )
    expected = bare + (" where k % 100 <> 7" if table == "ev-del1" else "")
    same = run(con, "select sum(v) from ev") == run(con, expected)
    recorder.ratio(name, ours, theirs, limit, verified=same, verified_by="read_parquet", note="sum(v) against read_parquet")
