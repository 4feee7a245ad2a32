# SPDX-License-Identifier: Apache-2.0
"""A history drawn from a seed, as data: a table, its writers, their transactions, and in which order the writers make their steps. Nothing in it
depends on what comes out when it is played. The table is t; its columns k, x and y have few values, so that transactions meet."""

import dataclasses
import random

COLUMNS = ("k", "x", "y")
SCHEMA = ", ".join(f"{name} INTEGER" for name in COLUMNS)
LEVELS = ("Serializable", "WriteSerializable")
MODES = ("sound", "strict", "max")


@dataclasses.dataclass
class Statement:
    sql: str
    kind: str
    reads: tuple[str, ...] = ()  # conditions: rows that satisfy one of them are read
    plain: tuple[str, ...] | None = None  # what it is in DuckDB's own words, if it is not the same there

    def in_plain_words(self):
        return (self.sql,) if self.plain is None else self.plain


@dataclasses.dataclass
class Transaction:
    name: str
    statements: list[Statement]
    explicit: bool  # BEGIN ... end; else one statement by itself
    end: str = "COMMIT"

    @property
    def reads(self):
        return [condition for statement in self.statements for condition in statement.reads]

    def actions(self):
        return len(self.statements) + 2 * self.explicit


@dataclasses.dataclass
class Writer:
    process: bool
    transactions: list[Transaction]


@dataclasses.dataclass
class History:
    seed: int
    level: str
    mode: str
    partitioned_by: str
    vectors: bool
    row_ids: bool
    checkpoint_interval: int
    start: list[list[tuple]]  # rows of each file
    writers: list[Writer]
    steps: list[list[int]]  # who acts; several are processes that act at the same time

    def properties(self):
        return {"delta.isolationLevel": self.level, "delta.enableDeletionVectors": str(self.vectors).lower(),
                "delta.enableRowTracking": str(self.row_ids).lower(), "delta.checkpointInterval": str(self.checkpoint_interval)}  # fmt: skip

    def set_up(self):
        """Statements that make the table; not part of what is judged."""
        partitioned = f" PARTITIONED BY ({self.partitioned_by})" if self.partitioned_by else ""
        properties = ", ".join(f"'{name}' = '{value}'" for name, value in self.properties().items())
        return [f"CREATE TABLE t ({SCHEMA}){partitioned} WITH ({properties})", *(f"INSERT INTO t VALUES {values(rows)}" for rows in self.start)]


def literal(value):
    return "NULL" if value is None else str(value)


def values(rows):
    return ", ".join(f"({', '.join(map(literal, row))})" for row in rows)


class Generator:
    def __init__(self, seed):
        self.random = random.Random(f"history {seed}")

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, share):
        return self.random.random() < share

    def number(self):
        return self.random.randrange(6)

    def row(self):
        return tuple(None if self.chance(0.05) else self.number() for _ in COLUMNS)

    def rows(self, most):
        return [self.row() for _ in range(self.random.randrange(1, most + 1))]

    def condition(self, prefix=""):
        c, d = (prefix + name for name in self.random.sample(COLUMNS, 2))
        if self.chance(0.6):
            return f"{c} {self.pick('=', '=', '=', '>', '<')} {self.number()}"
        return self.pick(f"{c} IN ({self.number()}, {self.number()})", f"{c} % 2 = {self.random.randrange(2)}", f"{c} IS NULL",
                         f"({c} = {self.number()} OR {d} = {self.number()})", f"{c} > 2 AND {d} < 3", f"{c} + {d} > {self.random.randrange(4, 9)}",
                         f"NOT ({c} = {self.number()})", f"{c} BETWEEN {self.number()} AND 4", f"{c} < {d}")  # fmt: skip

    def assignment(self, prefix=""):
        name = self.pick("x", "y", "y", "k")
        return f"{name} = " + self.pick(str(self.number()), f"({prefix}{name} + 1) % 6", f"{prefix}{self.pick(*COLUMNS)}")

    # ---------------------------------------------------------------- statements

    def insert(self):
        return Statement(f"INSERT INTO t VALUES {values(self.rows(2))}", "insert")

    def insert_select(self):
        condition = self.condition()
        what = self.pick("9, count(*) % 6, coalesce(sum(y), 0) % 6", "9, count(*) % 6, coalesce(max(x), 7)", "k, (x + 1) % 6, y")
        limit = "" if "count" in what else " AND y < 4"
        return Statement(f"INSERT INTO t SELECT {what} FROM t WHERE {condition}{limit}", "insert-select", (condition + limit,))

    def delete(self):
        if self.chance(0.12):
            return Statement("DELETE FROM t WHERE k = (SELECT max(k) FROM t)", "delete", ("true",))
        condition = self.condition()
        return Statement(f"DELETE FROM t WHERE {condition}", "delete", (condition,))

    def update(self):
        if self.chance(0.12):
            return Statement(f"UPDATE t SET y = (SELECT count(*) FROM t) % 6 WHERE {self.condition()}", "update", ("true",))
        condition = self.condition()
        return Statement(f"UPDATE t SET {self.assignment()} WHERE {condition}", "update", (condition,))

    def keys(self):
        return self.random.sample(range(7), self.random.randrange(1, 4))

    def with_keys(self):
        """UPDATE ... FROM and DELETE ... USING."""
        keys, condition = self.keys(), self.condition("t.") if self.chance(0.4) else "true"
        source = f"(VALUES {', '.join(f'({key}, {self.number()})' for key in keys)}) AS s(k, v)"
        reads = (f"k IN ({', '.join(map(str, keys))}) AND {condition.replace('t.', '')}",)
        if self.chance(0.5):
            return Statement(f"UPDATE t SET y = s.v FROM {source} WHERE t.k = s.k AND {condition}", "update from", reads)
        return Statement(f"DELETE FROM t USING {source} WHERE t.k = s.k AND {condition}", "delete using", reads)

    def merge(self):
        keys = self.keys()
        source = f"(VALUES {', '.join(f'({key}, {self.number()})' for key in keys)}) AS s(k, v)"
        extra = f" AND {self.condition('t.')}" if self.chance(0.25) else ""
        reads = [f"k IN ({', '.join(map(str, keys))})" + extra.replace("t.", "")]
        if self.chance(0.1):
            source, reads = "(SELECT (k + 1) % 6 AS k, min(y) AS v FROM t WHERE k IS NOT NULL GROUP BY 1) AS s", ["true"]
        clauses, conditional = [], self.chance(0.7)

        def act(then):
            clauses.append(f"WHEN {then}")

        for i in range(count := self.random.randrange(3)):
            test = f" AND {self.pick(self.condition('t.'), 't.x > s.v')}" if conditional or i + 1 < count else ""  # no clause after one without
            act(f"MATCHED{test} THEN " + self.pick("UPDATE SET y = s.v", "UPDATE SET x = (t.x + 1) % 6, y = s.v", "DELETE"))
        if self.chance(0.7) or not clauses:
            test = " AND s.v < 4" if self.chance(0.3) else ""
            act(f"NOT MATCHED{test} THEN INSERT (k, x, y) VALUES (s.k, 3, s.v)")
        if self.chance(0.25):
            test = self.condition("t.") if self.chance(0.85) else "true"
            reads.append(test.replace("t.", ""))
            act(f"NOT MATCHED BY SOURCE AND {test} THEN " + self.pick("UPDATE SET y = 5", "DELETE"))
        return Statement(f"MERGE INTO t USING {source} ON t.k = s.k{extra} {' '.join(clauses)}", "merge", tuple(reads))

    def overwrite(self):
        rows = values(self.rows(2))
        return Statement(f"INSERT OVERWRITE t VALUES {rows}", "overwrite", ("true",), ("DELETE FROM t", f"INSERT INTO t VALUES {rows}"))

    def rearrange(self):
        return Statement(self.pick("OPTIMIZE t", "OPTIMIZE t", "OPTIMIZE t ZORDER BY (y)", "REORG TABLE t APPLY (PURGE)"), "rearrange", (), ())

    def alter(self):
        """Properties that others take over, and one that stops them (R9)."""
        kind, name, value = self.pick(("enable", "delta.enableInCommitTimestamps", "true"), ("enable", "delta.checkpointPolicy", "v2"), ("alter", "note", "changed"))
        return Statement(f"ALTER TABLE t SET TBLPROPERTIES ('{name}' = '{value}')", kind, (), ())

    def select(self):
        condition = self.condition()
        what = self.pick("count(*), sum(y)", "k, x, y")
        return Statement(f"SELECT {what} FROM t WHERE {condition} ORDER BY ALL", "select", (condition,))

    def statement(self, explicit):
        makers = [self.insert] * 6 + [self.insert_select] * 3 + [self.delete] * 5 + [self.update] * 6 + [self.with_keys] * 2 + [self.merge] * 6
        if explicit:
            makers += [self.select] * 5
        return self.pick(*makers)()

    # ---------------------------------------------------------------- the whole

    def transaction(self, number):
        explicit = self.chance(0.75)
        if self.chance(0.07):
            statements = [self.rearrange()]
        elif not explicit and self.chance(0.16):
            statements = [self.pick(self.overwrite, self.alter)()]
        else:
            statements = [self.statement(explicit) for _ in range(self.pick(1, 1, 2, 3) if explicit else 1)]
        end = "ROLLBACK" if explicit and self.chance(0.06) else "COMMIT"
        return Transaction(f"T{number}", statements, explicit, end)

    def steps(self, writers):
        """Random order of the writers' actions. In some histories processes act at the same time."""
        left = [sum(transaction.actions() for transaction in writer.transactions) for writer in writers]
        together, stay, steps = self.chance(0.3), self.pick(0.2, 0.5, 0.8), []
        current = 0
        while any(left):
            ready = [i for i, count in enumerate(left) if count]
            processes = [i for i in ready if writers[i].process]
            if together and len(processes) > 1 and self.chance(0.5):
                step = self.random.sample(processes, self.random.randrange(2, len(processes) + 1))
            else:
                current = current if current in ready and self.chance(stay) else self.pick(*ready)
                step = [current]
            for i in step:
                left[i] -= 1
            steps.append(step)
        return steps


def draw(seed) -> History:
    g = Generator(seed)
    count = g.random.randrange(2, 7)
    processes = g.random.randrange(0, min(count, 3) + 1)
    writers, number = [], 0
    for i in range(count):
        transactions = []
        for _ in range(g.pick(1, 2, 2, 3)):
            number += 1
            transactions.append(g.transaction(number))
        writers.append(Writer(i < processes, transactions))
    start = [[g.row() for _ in range(g.random.randrange(1, 6))] for _ in range(g.random.randrange(1, 4))]
    return History(seed, g.pick(*LEVELS), g.pick(*MODES), g.pick("", "", "x", "k, x"), g.chance(0.8), g.chance(0.3), g.pick(2, 10), start, writers,
                   g.steps(writers))  # fmt: skip
