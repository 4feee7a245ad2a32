# SPDX-License-Identifier: Apache-2.0
"""DELETE, UPDATE and MERGE beside deltalake on the same bytes: the table in 1, 16 and 200 files, one row and 1 % of the rows.

Both engines know the newest version before the clock starts. Braid is durable, deltalake does not fsync (what it left to write is written off
the clock). DuckDB's delta extension compares every row of both results with what plain DuckDB makes of the input. Ratio: how many times faster
Braid is. The note says what each wrote, log included, and how long each takes for the full scan that follows, sum(v).

deltalake gets the codec and the row groups of the input. Its MERGE of one row runs with streamed_exec=False, which lets it leave out files by
the source's keys; by default it reads the whole table.
"""

import dataclasses
import os
import pathlib
import statistics

import deltalake

import engines
from engines import run
from measure import timed

COLUMNS = "id, k, grp, v, s, d"
SHARE = "k % 100 = 7"
WRITER = deltalake.WriterProperties(compression="SNAPPY", max_row_group_size=122_880)


@dataclasses.dataclass
class Statement:
    """One change as both engines are told it, and its result as plain DuckDB computes it from the input `t`; `src`: the rows of MERGE's source."""

    sql: str
    peer: callable
    expected: str
    source: str = ""


def delete(predicate) -> Statement:
    def peer(table, _):
        table.delete(predicate, writer_properties=WRITER)

    return Statement(f"delete from ev where {predicate}", peer, f"select {COLUMNS} from t where not ({predicate})")


def update(predicate) -> Statement:
    def peer(table, _):
        table.update({"v": "v + 1"}, predicate=predicate, writer_properties=WRITER)

    changed = f"select id, k, grp, if({predicate}, v + 1, v) as v, s, d from t"
    return Statement(f"update ev set v = v + 1 where {predicate}", peer, changed)


def merge(source, streamed) -> Statement:
    def peer(table, rows):
        merger = table.merge(rows, "ev.id = src.id", "src", "ev", writer_properties=WRITER, streamed_exec=streamed)
        merger = merger.when_matched_update({"v": "ev.v + src.v", "s": "src.s"})
        merger.when_not_matched_insert({column: f"src.{column}" for column in COLUMNS.split(", ")}).execute()

    sql = """merge into ev using src on ev.id = src.id when matched then update set v = ev.v + src.v, s = src.s
             when not matched then insert values (src.id, src.k, src.grp, src.v, src.s, src.d)"""
    expected = """select coalesce(t.id, src.id) as id, coalesce(t.k, src.k) as k, coalesce(t.grp, src.grp) as grp,
                         coalesce(t.v, 0) + coalesce(src.v, 0) as v, coalesce(src.s, t.s) as s, coalesce(t.d, src.d) as d
                  from t full join src on t.id = src.id"""
    return Statement(sql, peer, expected, source)


def statements(rows) -> dict[str, Statement]:
    """By the end of the line's name."""
    one = f"id = {rows // 2 + 1}"
    upsert = f"""select {COLUMNS} from t where {SHARE}
                 union all select id + {rows} as id, k, grp, v, s, d from t where k % 1000 = 7"""
    return {
        "delete-1pct": delete(SHARE),
        "update-1pct": update(SHARE),
        "merge-1pct": merge(upsert, streamed=True),
        "delete-one": delete(one),
        "update-one": update(one),
        "merge-one": merge(f"select {COLUMNS} from t where {one}", streamed=False),
    }


def target(layout, name) -> float | None:
    if name.endswith("-one"):
        return 3 if layout == "200-files" else 20
    return 3 if name == "merge-1pct" else 5


def one_file(recorder, tables):
    measure(recorder, tables, "1-file", "ev")


def files_16(recorder, tables):
    measure(recorder, tables, "16-files", "ev-f16")


def files_200(recorder, tables):
    measure(recorder, tables, "200-files", "ev-f200")


def measure(recorder, tables, layout, table):
    for name, statement in statements(tables.rows).items():
        line = f"peer/{layout}/{name}"
        one = name.endswith("-one")
        if recorder.wants(line) and (one or layout != "200-files"):
            repetitions = 9 if one and layout != "1-file" else 3
            Duel(recorder, tables, line, table, statement).run(repetitions, target(layout, name))


class Duel:
    def __init__(self, recorder, tables, line, table, statement):
        self.recorder, self.tables, self.line, self.table, self.statement = recorder, tables, line, table, statement
        self.con = engines.connect()
        run(self.con, f"create view t as from read_parquet('{tables.parquet()}')")
        self.rows = None
        if statement.source:
            run(self.con, f"create table src as {statement.source}")
            self.rows = self.con.execute("from src").to_arrow_table()
        self.ours = self.theirs = None  # the copies of the last repetition

    def run(self, repetitions, limit):
        # Where deltalake takes seconds the median of three does without a warm-up.
        warm = 0 if repetitions == 3 else 1
        ours, theirs = self.recorder.pairs(self.line, self.braid, self.deltalake, repetitions, warm)
        same = self.same()
        note = f"wrote {size(written(self.ours, self.source()))} against {size(written(self.theirs, self.source()))}; {self.scans()}"
        self.recorder.speedup(self.line, ours, theirs, limit, verified=same, verified_by="delta extension, both", note=note)

    def source(self) -> pathlib.Path:
        return self.tables.home / self.table

    def braid(self, rep) -> float:
        self.ours = self.tables.copy(self.table)
        engines.attach(self.con, self.ours)
        sql = self.statement.sql.replace("using src", "using memory.src")
        taken = timed(lambda: run(self.con, sql))
        engines.detach(self.con)
        return taken

    def deltalake(self, rep) -> float:
        self.theirs = self.tables.copy(self.table)
        table = deltalake.DeltaTable(str(self.theirs))
        taken = timed(lambda: self.statement.peer(table, self.rows))
        for path in new_files(self.theirs, self.source()):
            flush(path)
        return taken

    def same(self) -> bool:
        """Whether both tables hold the expected rows: their number and an order-free sum over hashes of whole rows."""
        con = engines.delta_reader()
        run(con, f"create view t as from read_parquet('{self.tables.parquet()}')")
        if self.statement.source:
            run(con, f"create table src as {self.statement.source}")
        summary = f"select count(*), sum(hash({COLUMNS}))"
        expected = run(con, f"{summary} from ({self.statement.expected})")
        return all(run(con, f"{summary} from delta_scan('{root}')") == expected for root in (self.ours, self.theirs))

    def scans(self) -> str:
        engines.attach(self.con, self.ours)
        query = deltalake.QueryBuilder().register("t", deltalake.DeltaTable(str(self.theirs)))
        series = [], []
        for _ in range(5):
            series[0].append(timed(lambda: run(self.con, "select sum(v) from ev")))
            series[1].append(timed(lambda: query.execute("select sum(v) from t").read_all()))
        engines.detach(self.con)
        ours, theirs = map(statistics.median, series)
        return f"the scan that follows {ours:.0f} against {theirs:.0f} ms"


def new_files(root: pathlib.Path, source: pathlib.Path) -> list[pathlib.Path]:
    """The files that the source of this copy has not."""
    old = {path.relative_to(source) for path in source.rglob("*")}
    return [path for path in root.rglob("*") if path.is_file() and "_braid" not in path.parts and path.relative_to(root) not in old]


def flush(path):
    """Puts a file on the disk, so that its writing does not disturb the next statement."""
    file = os.open(path, os.O_RDONLY)
    os.fsync(file)
    os.close(file)


def written(root: pathlib.Path, source: pathlib.Path) -> int:
    return sum(path.stat().st_size for path in new_files(root, source))


def size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"
