# SPDX-License-Identifier: Apache-2.0
"""UPDATEs of 100 rows each on one file: 8 processes on disjoint rows, against one process that runs all the statements alone.

Statement j of writer i names id in [lo, lo + 800) and id % 8 = i, so neighbours in the file belong to different writers. Each statement is
executed once: an error ends the run. The log must hold one commit for each statement, and each named row must be up by exactly 1.
"""

import json

import crew
import engines

WRITERS, ROWS = 8, 100
NAME = "writers/8-processes"


def measure(recorder, tables):
    each = 4 if recorder.quick else 25
    together, alone, verified, rebased = [], [], True, 0
    for rep in range(2 if recorder.quick else 5):
        rate, good, lost = once(tables, WRITERS, each)
        together.append(rate)
        recorder.raw(NAME, "measured", rep, rate, "rows/s", rebased=lost)
        verified, rebased = verified and good, rebased + lost
        rate, good, _ = once(tables, 1, each)
        alone.append(rate)
        recorder.raw(NAME, "reference", rep, rate, "rows/s")
        verified = verified and good
    note = f"against one writer doing all; {rebased} of {len(together) * each * WRITERS} commits lost a race and were rebased"
    recorder.ratio(
        NAME, together, alone, 0.8, "rows/s", at_least=True, verified=verified, verified_by="delta extension, log", note=note
    )


def once(tables, processes, each) -> tuple[float, bool, int]:
    """Rows per second, whether the table is right, and how many commits were not based on the version before them."""
    root = tables.copy("ev")
    plan = [[statement(tables.rows, i, j, each) for j in range(each)] for i in range(WRITERS)]
    if processes == 1:
        plan = [[s for turn in zip(*plan) for s in turn]]
    _, elapsed = crew.together([(update, (str(root), statements)) for statements in plan])
    commits, rebased = read_log(root)
    good = commits == each * WRITERS and exactly_once(tables, root, each)
    return each * WRITERS * ROWS / elapsed, good, rebased


def low(rows, j, each) -> int:
    return (j * 7 % each) * (rows // each)


def statement(rows, i, j, each) -> str:
    start = low(rows, j, each)
    return f"update ev set v = v + 1 where id >= {start} and id < {start + ROWS * WRITERS} and id % {WRITERS} = {i}"


def update(ready, root, statements):
    con = engines.connect()
    engines.attach(con, root)
    ready()
    for sql in statements:
        con.execute(sql).fetchall()


def read_log(root) -> tuple[int, int]:
    commits = rebased = 0
    for path in sorted((root / "_delta_log").glob("*.json")):
        version = int(path.stem)
        for line in path.read_text().splitlines():
            info = json.loads(line).get("commitInfo")
            if info and version > 0:
                commits += 1
                rebased += info["readVersion"] < version - 1
    return commits, rebased


def exactly_once(tables, root, each) -> bool:
    """Every named row is up by 1, no other row has changed, no row is there twice."""
    named = " or ".join(f"id between {s} and {s + ROWS * WRITERS - 1}" for s in (low(tables.rows, j, each) for j in range(each)))
    base = f"read_parquet('{tables.parquet()}')"
    wrong = f"select count(*) from t join {base} b using (id) where t.v - b.v <> if({named}, 1, 0)"
    return engines.delta_answers(root, wrong, "select 0") and engines.delta_answers(
        root, "select count(*), count(distinct id) from t", f"select {tables.rows}, {tables.rows}"
    )
