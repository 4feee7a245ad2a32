# SPDX-License-Identifier: Apache-2.0
"""C1 and C2: UPDATEs by several processes on one file, in a closed loop.

C1: every statement changes K rows that nobody else changes. First try: the share of the statements whose first execution committed.
Beside it the same with row-level concurrency off (mode strict, runtime 13.3, judges by files), and deltalake, which judges by files too
and replaces them. Who fails runs the statement again after a pause of at most 5 ms. At the end each row must be up by the number of
acknowledged statements on it.

C2: a share of the statements changes rows that others change as well. Afterwards the log says which statements clashed: another one that
changed the same rows has committed between the version that was read and the one that was written, or that was met. In `sound` these and
no others must fail.
"""

import json
import random
import time

import duckdb

import crew
import engines
from measure import Line

ENGINES = {"braid": "braid", "files": "braid, by files", "deltalake": "deltalake"}
HOT_BLOCKS = 4
OFF = "set braid_concurrency_mode = 'strict'", "set braid_compat_runtime = '13.3'"


def disjoint(recorder, tables):
    seconds = 1 if recorder.quick else 2
    rows = tables.rows // 10
    table = []
    for writers in 2, 8, 16:
        for name, count in ("1-row", 1), ("100-rows", 100), ("1pct", rows // 100):
            line = f"c1/{writers}-writers-{name}"
            if recorder.wants(line):
                table += together(recorder, tables, line, writers, count, seconds)
    if table:
        head = ["writers", "rows", "engine", "first try %", "tries per commit", "rows/s", "p50 ms", "commits"]
        recorder.table(f"Disjoint UPDATEs of one file of {rows:,} rows, {seconds:g} s each", head, table)


def together(recorder, tables, line, writers, count, seconds):
    """The three engines in turns; the table's rows. The line judges the first."""
    runs = {engine: Run(tables, engine, writers, count, seconds) for engine in ENGINES}
    for engine, run in runs.items():
        recorder.raw(line, engine, 0, 100 * run.first_try, "%", rows_per_s=round(run.rows_per_s, 1), commits=run.commits)
    first = {engine: 100 * run.first_try for engine, run in runs.items()}
    note = f"first try; with row level off {first['files']:.0f} %, deltalake is the reference; "
    note += f"{runs['braid'].rows_per_s:,.0f} rows/s against {runs['files'].rows_per_s:,.0f} and {runs['deltalake'].rows_per_s:,.0f}"
    good = all(run.good for run in runs.values())
    verified = {"verified": good, "verified_by": "delta extension, row by row"}
    recorder.add(Line(line, first["braid"], first["deltalake"], "%", limit=100, at_least=True, note=note, **verified))
    return [[writers, count, ENGINES[engine], *run.figures()] for engine, run in runs.items()]


class Tally:
    """What the writers of a closed loop have done in so many seconds; each commit changes `count` rows."""

    def __init__(self, members, count, elapsed):
        statements = [s for member in members for s in member]
        self.done = [s for s in statements if s["done"]]
        self.commits, self.tries = len(self.done), sum(s["tries"] for s in statements)
        self.first_try = sum(s["done"] and s["tries"] == 1 for s in statements) / len(statements)
        self.rows_per_s = self.commits * count / elapsed

    def latency(self, share):
        """Milliseconds that this share of the commits did not exceed; None without a commit."""
        times = sorted(s["ms"] for s in self.done) or [None]
        return times[int(len(times) * share)]


class Run(Tally):
    """One engine, so many writers, so many rows per statement."""

    def __init__(self, tables, engine, writers, count, seconds):
        root = tables.copy("ev-small")
        blocks = max(1, tables.rows // 10 // (count * writers))
        jobs = [(write, (str(root), engine, i, writers, count, blocks, seconds)) for i in range(writers)]
        members, elapsed = crew.together(jobs, warm=True)
        super().__init__(members, count, elapsed)
        self.good = exactly_once(root, tables.parquet("ev-small"), self.done, count, writers)

    def figures(self):
        tries = self.tries / self.commits if self.commits else None
        return [100 * self.first_try, tries, self.rows_per_s, self.latency(0.5), self.commits]


def exactly_once(root, base, done, count, writers) -> bool:
    """Whether each row is up by the number of acknowledged statements on it, and no row is lost or doubled."""
    con = engines.delta_reader()
    con.execute("create table done (low bigint)")
    if done:
        con.executemany("insert into done values (?)", [[s["low"]] for s in done])
    ids = f"select unnest(range(low, low + {count * writers}, {writers})) as id from done"
    con.execute(f"create table ups as select id, count(*) as n from ({ids}) group by id")
    wrong = f"""select count(*) from delta_scan('{root}') t full join '{base}' b using (id) left join ups using (id)
                where t.v is distinct from b.v + coalesce(n, 0)"""
    return engines.run(con, wrong) == [(0,)]


def write(ready, root, engine, index, writers, count, blocks, seconds) -> list[dict]:
    execute = deltalake_update(root) if engine == "deltalake" else braid_update(root, OFF if engine == "files" else ())
    chance, statements = random.Random(index), []
    ready()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        low = chance.randrange(blocks) * count * writers
        where = f"id >= {low} and id < {low + count * writers} and id % {writers} = {index}"
        start, tries, done = time.monotonic(), 0, False
        while not done and (tries == 0 or time.monotonic() < end):
            if tries:
                time.sleep(chance.random() * 0.005)
            tries += 1
            done = execute(where)
        statements.append({"low": low + index, "tries": tries, "done": done, "ms": (time.monotonic() - start) * 1000})
    return statements


def braid_update(root, settings):
    """A function that says whether the statement committed. Any error but a conflict is raised."""
    con = engines.connect()
    for setting in settings:
        con.execute(setting)
    engines.attach(con, root)

    def execute(where) -> bool:
        try:
            con.execute(f"update ev set v = v + 1 where {where}").fetchall()
            return True
        except duckdb.Error as error:
            if "SQLSTATE: 2D521" not in str(error):
                raise
            return False

    return execute


def deltalake_update(root):
    import deltalake

    writer = deltalake.WriterProperties(compression="SNAPPY", max_row_group_size=122_880)

    def execute(where) -> bool:
        try:
            deltalake.DeltaTable(root).update({"v": "v + 1"}, predicate=where, writer_properties=writer)
            return True
        except deltalake.exceptions.CommitFailedError:
            return False

    return execute


def overlapping(recorder, tables):
    seconds = 1 if recorder.quick else 2
    for percent in 1, 10, 100:
        line = f"c2/overlap-{percent}pct"
        if recorder.wants(line):
            clashes(recorder, tables, line, percent / 100, seconds)


def clashes(recorder, tables, line, share, seconds):
    sound = Overlap(tables, "sound", share, seconds)
    recorder.raw(line, "sound", 0, sound.refused, "refused", real=sound.real, statements=sound.statements)
    note = f"refused without a real clash; {sound.refused} of {sound.statements:,} statements refused, {sound.real} clashed"
    if accepts("max"):
        most = Overlap(tables, "max", share, seconds)
        recorder.raw(line, "max", 0, most.refused, "refused", statements=most.statements)
        note += f"; in max {most.refused} of {most.statements:,} refused"
    else:
        most = None
        note += "; mode max is not accepted by this build"
    good = sound.good and sound.missed == 0 and (most is None or most.good)
    verified = {"verified": good, "verified_by": "the log, delta extension"}
    recorder.add(Line(line, sound.needless, None, "statements", limit=0, note=note, **verified))


def accepts(mode) -> bool:
    try:
        engines.connect().execute(f"set braid_concurrency_mode = '{mode}'")
        return True
    except duckdb.Error:
        return False


class Overlap:
    """Eight writers, 100 rows each; nobody runs a statement again."""

    WRITERS, ROWS = 8, 100

    def __init__(self, tables, mode, share, seconds):
        root = tables.copy("ev-small")
        span = self.ROWS * (self.WRITERS + 1)
        jobs = [(collide, (str(root), mode, i, share, span, seconds)) for i in range(self.WRITERS)]
        members, _ = crew.together(jobs, warm=True)
        statements = [s for member in members for s in member]
        self.statements, self.refused = len(statements), sum(s["winner"] is not None for s in statements)
        self.judge(root, statements)
        up = sum(s["winner"] is None for s in statements) * self.ROWS
        expected = f"select count(*), sum(v) + {up} from read_parquet('{tables.parquet('ev-small')}')"
        self.good = engines.delta_answers(root, "select count(*), sum(v) from t", expected)

    def judge(self, root, statements):
        """Real clashes, statements refused without one, and committed in spite of one."""
        log = {info["txnId"]: (version, info["readVersion"]) for version, info in read_log(root)}
        committed = {log[s["txn"]][0]: s["rows"] for s in statements if s["winner"] is None}
        self.real = self.needless = self.missed = 0
        for s in statements:
            before, read = log[s["txn"]] if s["winner"] is None else (s["winner"] + 1, s["read"])
            clash = any(committed.get(version) == s["rows"] for version in range(read + 1, before))
            self.real += clash
            self.needless += s["winner"] is not None and not clash
            self.missed += s["winner"] is None and clash


def read_log(root):
    for path in sorted((root / "_delta_log").glob("*.json")):
        for line in path.read_text().splitlines():
            info = json.loads(line).get("commitInfo")
            if info and "txnId" in info:
                yield int(path.stem), info


def collide(ready, root, mode, index, share, span, seconds) -> list[dict]:
    """The last class of rows in the first blocks is everybody's."""
    con = engines.connect()
    con.execute(f"set braid_concurrency_mode = '{mode}'")
    engines.attach(con, root)
    chance, statements = random.Random(index), []
    ready()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        shared = chance.random() < share
        block, part = chance.randrange(HOT_BLOCKS), Overlap.WRITERS if shared else index
        low = block * span
        statement = {"rows": (block, part), "winner": None}
        try:
            where = f"id >= {low} and id < {low + span} and id % {Overlap.WRITERS + 1} = {part}"
            con.execute(f"update ev set v = v + 1 where {where}").fetchall()
            ((statement["txn"],),) = con.execute("select txn_id from braid_last_commit()").fetchall()
        except duckdb.Error as error:
            if "SQLSTATE: 2D521" not in str(error):
                raise
            conflict = con.execute("select read_version, winner_version from braid_last_conflict()").fetchall()
            ((statement["read"], statement["winner"]),) = conflict
        statements.append(statement)
    return statements
