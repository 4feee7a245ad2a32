# SPDX-License-Identifier: Apache-2.0
"""A long transaction is not starved: four processes commit to its table as fast as they can, before and while it commits."""

import multiprocessing
import time

import delta_log
from conftest import connect_lake

SPAWN = multiprocessing.get_context("spawn")  # a fork of a process with DuckDB's threads would hang
PATIENCE = 120  # seconds; only a broken test waits that long
WRITERS, MISSED = 4, 150


def change_own_row(lake, row, reports, stop):
    """Commits until told to stop; says so each time. Every statement is run once: an error ends the process."""
    con = connect_lake(lake)
    commits = 0
    while not stop.is_set():
        con.execute(f"UPDATE t SET v = v + 1 WHERE id = {row}")
        commits += 1
        reports.put(("commit", row, commits))
    reports.put(("end", row, commits))


def test_a_long_update_beside_four_fast_writers(con, lake):
    con.execute("CREATE TABLE t TBLPROPERTIES ('delta.checkpointInterval' = '1000') AS SELECT range AS id, 0 AS v FROM range(20000)")
    reports, stop = SPAWN.Queue(), SPAWN.Event()
    con.execute("BEGIN")
    con.execute("UPDATE t SET v = -1 WHERE id >= 100 AND id % 10 = 3")
    processes = [SPAWN.Process(target=change_own_row, args=(str(lake), row, reports, stop), daemon=True) for row in range(WRITERS)]
    for process in processes:
        process.start()
    try:
        for _ in range(MISSED):
            assert reports.get(timeout=PATIENCE)[0] == "commit"
        start = time.monotonic()
        con.execute("COMMIT")
        elapsed = time.monotonic() - start
    finally:
        stop.set()
    ends = {}
    while len(ends) < WRITERS:
        what, row, commits = reports.get(timeout=PATIENCE)
        if what == "end":
            ends[row] = commits
    for process in processes:
        process.join(PATIENCE)

    infos = {v: delta_log.info(lake / "t", v) for v in range(1, delta_log.version(lake / "t") + 1)}
    (version,) = [v for v, info in infos.items() if info["operationMetrics"]["numUpdatedRows"] == "1990"]
    assert infos[version]["readVersion"] == 0
    metrics = infos[version]["operationMetrics"]
    assert int(metrics["commitAttempts"]) <= 20
    assert int(metrics["numConflictsResolved"]) == version - 1 >= MISSED, "each winner is read once"
    assert elapsed < 30, "seconds; far more than a loaded machine needs"
    assert delta_log.version(lake / "t") == 1 + sum(ends.values()), "nobody's statement was lost or run twice"
    assert con.execute(f"SELECT id, v FROM t WHERE id < {WRITERS} ORDER BY id").fetchall() == sorted(ends.items())
    assert con.execute("SELECT count(*), count(*) FILTER (v = -1) FROM t").fetchall() == [(20000, 1990)]
