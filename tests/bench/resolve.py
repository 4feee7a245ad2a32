# SPDX-License-Identifier: Apache-2.0
"""What a lost race costs: COMMIT after others have committed, less COMMIT after nobody has, without fsync on either side.

The transaction has updated 100 rows of one file; each winner has updated 100 others, in a range of ids that the bounds of its new file cannot
tell from ours, so its rows must be looked at. Figures hold the reading of the winners' part of the log. The note
tells the CPU time too, which a busy machine does not change as much.

A winner that moved all rows: an OPTIMIZE that sorted the file anew, written by plain DuckDB with the log beside it, with stable row ids in a
column; and a compaction of 16 files by deltalake, which keeps no ids, so rows are found by their whole content.
"""

import json
import os
import statistics
import time
import typing

import deltalake

import data
import engines
from engines import run
from measure import Line, timed

ROWS = 100
IDS = "_row-id-col-bench"


def one_winner(recorder, tables):
    name = "resolve/1-winner"
    race = Race(tables)
    costs, alone = [], []
    for rep in range(-2, recorder.reps(31)):
        after, before = race.commit(rep * 2 + 10, 1), race.commit(rep * 2 + 11, 0)
        if rep >= 0:
            alone.append(before.wall)
            costs.append(after - before)
            recorder.raw(name, "measured", rep, after.wall, cpu=after.cpu)
            recorder.raw(name, "alone", rep, before.wall, cpu=before.cpu)
    note = f"100 changed rows, log read included; COMMIT alone {statistics.median(alone):.1f} ms"
    add(recorder, name, costs, 2, race, note)


def many_winners(recorder, tables):
    name, winners = "resolve/1000-winners", 100 if recorder.quick else 1000
    race = Race(tables)
    alone = sorted((race.commit(i, 0) for i in range(5)), key=lambda cost: cost.wall)[2]
    costs = [Cost((cost - alone).wall / winners, (cost - alone).cpu / winners) for cost in race.commits(winners, 3)]
    for rep, cost in enumerate(costs):
        recorder.raw(name, "each", rep, cost.wall, cpu=cost.cpu)
    add(recorder, name, costs, 1, race, f"each of {winners:,} winners of 100 changed rows, log read included")


def add(recorder, name, costs, limit, race, note):
    note += f"; CPU {statistics.median(cost.cpu for cost in costs):.2f} ms"
    wall = statistics.median(cost.wall for cost in costs)
    verified = {"verified": race.good(), "verified_by": "delta extension"}
    recorder.add(Line(name, wall, None, "ms", repetitions=len(costs), limit=limit, note=note, **verified))


class Cost(typing.NamedTuple):
    """Milliseconds by the clock and of CPU."""

    wall: float
    cpu: float

    def __sub__(self, other):
        return Cost(self.wall - other.wall, self.cpu - other.cpu)


def cost_of(action) -> Cost:
    start = time.process_time()
    wall = timed(action)
    return Cost(wall, (time.process_time() - start) * 1000)


class Race:
    """One table and two databases: ours, and the one whose commits come first."""

    def __init__(self, tables):
        self.tables, self.root, self.rows = tables, tables.copy("ev"), 0
        self.ours, self.theirs = self.connect(), self.connect()

    def connect(self):
        con = engines.connect()
        run(con, "set braid_durability = 'none'")
        engines.attach(con, self.root)
        return con

    def update(self, con, low, span, part):
        run(con, f"update ev set v = v + 1 where id >= {low} and id < {low + span} and id % {span // ROWS} = {part}")
        self.rows += ROWS

    def commit(self, place, winners) -> Cost:
        span = 8 * ROWS
        run(self.ours, "begin")
        self.update(self.ours, place * span, span, 0)
        for i in range(winners):
            self.update(self.theirs, place * span, span, 1 + i)
        return cost_of(lambda: run(self.ours, "commit"))

    def commits(self, winners, transactions) -> list[Cost]:
        """Several transactions of the same base, each after all the winners."""
        cons = [self.connect() for _ in range(transactions)]
        for i, con in enumerate(cons):
            run(con, "begin")
            self.update(con, self.tables.rows // 2, 8 * ROWS * winners, i * 8)
        for i in range(winners):
            self.update(self.theirs, self.tables.rows // 2 + i * 8 * ROWS, 8 * ROWS, 1)
        return [cost_of(lambda: run(con, "commit")) for con in cons]

    def good(self) -> bool:
        base = f"read_parquet('{self.tables.parquet()}')"
        expected = f"select count(*), count(*), sum(v) + {self.rows} from {base}"
        return engines.delta_answers(self.root, "select count(*), count(distinct id), sum(v) from t", expected)


def moved_by_ids(recorder, tables):
    """The reference reads the new file's column of row ids twice."""
    name, sorted_file = "resolve/moved-by-row-ids", tables.work / "sorted.parquet"
    rows = f'select *, id as "{IDS}" from read_parquet(\'{tables.parquet()}\') order by k, id'
    run(engines.connect(), f"copy ({rows}) to '{sorted_file}' ({data.PARQUET})")
    column = f"select sum(\"{IDS}\") from read_parquet('{sorted_file}')"
    scene = Scene(lambda: tracked(tables), lambda root: reorder(root, sorted_file), column, "the new file's row ids, twice")
    moved(recorder, tables, name, scene, 5, 1)


def moved_by_content(recorder, tables):
    """The reference reads every column of the files that went and of those that came."""
    read = f"select sum(hash(id, k, grp, v, s, d)) from read_parquet('{tables.home}/ev-f16/*.parquet')"
    scene = Scene(lambda: tables.copy("ev-f16"), compact, read, "every column of both sides, for context")
    moved(recorder, tables, "resolve/moved-by-content", scene, 3, None)


class Scene(typing.NamedTuple):
    fresh: typing.Callable  # a table
    rearrange: typing.Callable  # moves all its rows
    reading: str  # done twice for comparison
    what: str


def moved(recorder, tables, name, scene, repetitions, limit):
    con = engines.connect()
    ours, theirs, cpu, good = [], [], [], True
    for rep in range(recorder.reps(repetitions)):
        root = scene.fresh()
        mover = engines.connect()
        run(mover, "set braid_durability = 'none'")
        run(mover, "set braid_conflict_time_budget_ms = 100000")  # on a busy machine too
        engines.attach(mover, root)
        where = f"id % {tables.rows // ROWS} = 7"
        run(mover, "begin")
        run(mover, f"update ev set v = v + 1 where {where}")
        scene.rearrange(root)
        os.sync()
        commit = cost_of(lambda: run(mover, "commit"))
        reading = cost_of(lambda: [run(con, scene.reading) for _ in range(2)])
        ours.append(commit.wall)
        theirs.append(reading.wall)
        cpu.append(commit.cpu / reading.cpu)
        recorder.raw(name, "measured", rep, commit.wall, cpu=commit.cpu)
        recorder.raw(name, "reference", rep, reading.wall, cpu=reading.cpu)
        sums = "select count(*), count(distinct id), sum(v * (1 + id % 61))"
        expected = f"{sums} from (select id, if({where}, v + 1, v) as v from read_parquet('{tables.parquet()}'))"
        good = good and engines.delta_answers(root, f"{sums} from t", expected)
    note = f"COMMIT of {ROWS} updated rows after all {tables.rows / 1e6:g} M rows moved, against reading {scene.what}; ratio of CPU {statistics.median(cpu):.2f}"
    recorder.ratio(name, ours, theirs, limit, verified=good, verified_by="delta extension", note=note)


def tracked(tables):
    """A copy of ev with row tracking, as it was when it got it: ids are row numbers."""
    root = tables.copy("ev")
    log = root / "_delta_log" / f"{0:020}.json"
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    for action in actions:
        if "protocol" in action:
            action["protocol"]["writerFeatures"] += ["rowTracking", "domainMetadata"]
        if "metaData" in action:
            action["metaData"]["configuration"] |= {
                "delta.enableRowTracking": "true",
                "delta.rowTracking.materializedRowIdColumnName": IDS,
                "delta.rowTracking.materializedRowCommitVersionColumnName": "_row-commit-version-col-bench",
            }
        if "add" in action:
            action["add"] |= {"baseRowId": 0, "defaultRowCommitVersion": 0}
    data.write_commit(root, 0, actions + [mark(tables.rows - 1)])
    return root


def mark(last):
    configuration = json.dumps({"rowIdHighWaterMark": last})
    return {"domainMetadata": {"domain": "delta.rowTracking", "configuration": configuration, "removed": False}}


def reorder(root, file):
    """Version 1: the rows in another order, with their ids."""
    os.link(file, root / "sorted.parquet")
    log = (root / "_delta_log" / f"{0:020}.json").read_text().splitlines()
    (old,) = [action["add"] for action in map(json.loads, log) if "add" in action]
    rows = json.loads(old["stats"])["numRecords"]
    new = old | {"path": "sorted.parquet", "size": file.stat().st_size, "dataChange": False}
    new |= {"baseRowId": rows, "defaultRowCommitVersion": 1}
    remove = {"path": old["path"], "deletionTimestamp": data.T0 + 1, "dataChange": False, "size": old["size"]}
    info = {"timestamp": data.T0 + 1, "operation": "OPTIMIZE", "operationParameters": {}}
    info["tags"] = {"delta.rowTracking.preserved": "true"}
    data.write_commit(root, 1, [{"commitInfo": info}, {"remove": remove}, {"add": new}, mark(2 * rows - 1)])


def compact(root):
    deltalake.DeltaTable(str(root)).optimize.compact(target_size=1 << 30)
