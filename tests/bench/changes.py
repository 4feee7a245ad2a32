# SPDX-License-Identifier: Apache-2.0
"""DELETE and UPDATE of one row and of 1 % of the rows, against the bare work that no engine can leave out.

A reference scan returns the numbers of the rows that match (for UPDATE also their columns: the new rows are made of them) from read_parquet in
the same DuckDB; for one row a durable commit is added; for UPDATE also the encoding of the new rows, by COPY from memory.
"""

import os
import statistics

import engines
from engines import run
from measure import timed

COLUMNS = "id, k, grp, v + 1 as v, s, d"
SHARE = "k % 100 = 7"


def delete_row(recorder, tables):
    Change(recorder, tables, "delete/one-row", one_row(tables)).delete(21)


def delete_share(recorder, tables):
    Change(recorder, tables, "delete/1pct", SHARE).delete(11)


def update_row(recorder, tables):
    Change(recorder, tables, "update/one-row", one_row(tables)).update(21)


def update_share(recorder, tables):
    Change(recorder, tables, "update/1pct", SHARE).update(9)


def one_row(tables) -> str:
    return f"id = {tables.rows // 2 + 1}"


class Change:
    def __init__(self, recorder, tables, name, predicate):
        self.recorder, self.tables, self.name, self.predicate = recorder, tables, name, predicate
        self.con = engines.connect()
        self.single = name.endswith("one-row")
        self.source = f"read_parquet('{tables.parquet()}', file_row_number = true) where {predicate}"
        self.root = None
        os.makedirs(tables.work / "floor", exist_ok=True)

    def delete(self, reps):
        self.series(f"delete from ev where {self.predicate}", lambda rep: timed(lambda: self.bare_delete(rep)), reps)
        self.close(f"select count(*), sum(v), sum(id) from read_parquet('{self.tables.parquet()}') where not ({self.predicate})")

    def update(self, reps):
        run(self.con, f"create temp table new_rows as select {COLUMNS} from {self.source}")
        self.series(f"update ev set v = v + 1 where {self.predicate}", lambda rep: timed(lambda: self.bare_update(rep)), reps)
        self.close(f"select count(*), sum(if({self.predicate}, v + 1, v)), sum(id) from read_parquet('{self.tables.parquet()}')")

    def series(self, statement, reference, reps):
        self.ours, self.theirs = self.recorder.pairs(self.name, lambda rep: self.ours_once(statement), reference, reps)

    def ours_once(self, statement) -> float:
        """The statement on a fresh copy whose log has been read."""
        self.leave()
        self.root = self.tables.copy("ev")
        engines.attach(self.con, self.root)
        return timed(lambda: run(self.con, statement))

    def bare_delete(self, rep):
        self.scan("file_row_number")
        self.commit(rep)

    def bare_update(self, rep):
        self.scan(f"file_row_number, {COLUMNS}")
        target = self.tables.work / "floor" / f"{self.name.replace('/', '-')}-{rep}.parquet"
        run(self.con, f"copy new_rows to '{target}' (format parquet, compression snappy)")
        self.commit(rep)

    def scan(self, columns):
        self.con.execute(f"select {columns} from {self.source}").to_arrow_table()

    def commit(self, rep):
        if self.single:
            engines.durable_commit(self.tables.work / "floor", f"{self.name.replace('/', '-')}-{rep}.json")

    def close(self, expected):
        same = engines.delta_answers(self.root, "select count(*), sum(v), sum(id) from t", expected)
        self.leave()
        parts = ["scan"] + (["encode"] if self.name.startswith("update") else []) + (["durable commit"] if self.single else [])
        note = f"against bare {' + '.join(parts)}"
        if self.name.startswith("update"):
            numbers = statistics.median(timed(lambda: self.scan("file_row_number")) for _ in range(5))
            note += f"; the scan alone, for row numbers only: {numbers:.1f} ms"
        self.recorder.ratio(self.name, self.ours, self.theirs, 2, verified=same, verified_by="delta extension", note=note)

    def leave(self):
        if self.root is not None:
            engines.detach(self.con)
            self.root = None
