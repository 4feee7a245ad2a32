# SPDX-License-Identifier: Apache-2.0
"""MERGE against what one would do by hand: the same join and a Parquet file of the rows that change; of one row against the UPDATE of that row."""

import engines
from changes import Change, one_row
from engines import run
from measure import timed

COLUMNS = "id, k, grp, v, s, d"


def upsert(recorder, tables):
    """1 % of the rows change, a tenth as many are new."""
    old = f"select {COLUMNS} from read_parquet('{tables.parquet()}') where k % 100 = 7"
    new = f"select id + {tables.rows} as id, k, grp, v, s, d from read_parquet('{tables.parquet()}') where k % 1000 = 7"
    merge = Merge(recorder, tables, "merge/upsert-1pct", f"{old} union all {new}", target=2)
    merge.statement = """merge into ev using src on ev.id = src.id when matched then update set v = ev.v + src.v, s = src.s
                         when not matched then insert values (src.id, src.k, src.grp, src.v, src.s, src.d)"""
    merge.by_hand = f"""select file_row_number, src.id, coalesce(t.k, src.k), coalesce(t.grp, src.grp), coalesce(t.v + src.v, src.v), src.s, coalesce(t.d, src.d)
                        from src left join read_parquet('{tables.parquet()}', file_row_number = true) t on t.id = src.id"""
    merge.expected = f"""select count(*), sum(coalesce(t.v, 0) + coalesce(src.v, 0)), sum(coalesce(t.id, src.id))
                         from src full join read_parquet('{tables.parquet()}') t on t.id = src.id"""
    merge.measure(9)


def insert_only(recorder, tables):
    """A source of 5 % of the rows, half of them new."""
    old = f"select {COLUMNS} from read_parquet('{tables.parquet()}') where k % 40 = 7"
    new = f"select id + {tables.rows} as id, k, grp, v, s, d from read_parquet('{tables.parquet()}') where k % 40 = 8"
    merge = Merge(recorder, tables, "merge/insert-only-5pct", f"{old} union all {new}", target=1.5)
    merge.statement = "merge into ev using src on ev.id = src.id when not matched then insert values (src.id, src.k, src.grp, src.v, src.s, src.d)"
    merge.by_hand = f"select src.* from src anti join read_parquet('{tables.parquet()}') t on t.id = src.id"
    merge.expected = f"""select count(*), sum(coalesce(t.v, src.v)), sum(coalesce(t.id, src.id))
                         from src full join read_parquet('{tables.parquet()}') t on t.id = src.id"""
    merge.measure(9)


def one(recorder, tables):
    """The UPDATE runs on a copy of its own, as the MERGE does."""
    merge = Merge(recorder, tables, "merge/one-row", f"select {COLUMNS} from read_parquet('{tables.parquet()}') where {one_row(tables)}", target=2.5)
    merge.statement = "merge into ev using src on ev.id = src.id when matched then update set v = ev.v + 1 when not matched then insert (id) values (src.id)"
    merge.reference = lambda rep: merge.ours_once(f"update ev set v = v + 1 where {one_row(tables)}")
    merge.expected = f"select count(*), sum(v) + 1, sum(id) from read_parquet('{tables.parquet()}')"
    merge.measure(21)


class Merge(Change):
    def __init__(self, recorder, tables, name, source, target):
        super().__init__(recorder, tables, name, "")
        self.target = target
        self.reference = self.copy_by_hand
        run(self.con, f"create temp table src as {source}")

    def copy_by_hand(self, rep):
        target = self.tables.work / "floor" / f"{self.name.replace('/', '-')}-{rep}.parquet"
        return timed(lambda: run(self.con, f"copy ({self.by_hand}) to '{target}' (format parquet, compression snappy)"))

    def measure(self, reps):
        self.ours, self.theirs = self.recorder.pairs(self.name, lambda rep: self.ours_once(self.statement), self.reference, reps)
        self.ours_once(self.statement)
        # The shortest text of a double is that double again, but not the decimal number that it names.
        expected = ", ".join(f"{value!r}::double" if isinstance(value, float) else str(value) for value in self.con.execute(self.expected).fetchall()[0])
        same = engines.delta_answers(self.root, "select count(*), sum(v), sum(id) from t", f"select {expected}")
        self.leave()
        note = "against the UPDATE of that row" if self.name.endswith("one-row") else "against the same join and COPY by hand"
        self.recorder.ratio(self.name, self.ours, self.theirs, self.target, verified=same, verified_by="delta extension", note=note)
