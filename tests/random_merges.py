# SPDX-License-Identifier: Apache-2.0
"""Random programs around MERGE over one table: blocks of statements, each block alone or a transaction; %T% stands for the table. A MERGE brings the
question by which anybody can tell whether two source rows would change one row."""

import dataclasses
import random

COLUMNS = {"id": "BIGINT", "k": "INTEGER", "v": "INTEGER", "s": "VARCHAR", "p": "VARCHAR", "st": "STRUCT(x INTEGER, y VARCHAR)", "l": "INTEGER[]"}
LAYOUTS = [("", True), ("p", True), ("", False), ("p, k", True), ("k", False)]  # partition columns, deletion vectors


@dataclasses.dataclass
class Statement:
    sql: str
    doubles: str | None = None  # counts rows of %T% that several source rows would change
    may_double: bool = False  # a lone unconditional DELETE


@dataclasses.dataclass
class Block:
    statements: list[Statement]
    end: str | None = None  # COMMIT or ROLLBACK; None: each statement by itself


@dataclasses.dataclass
class Program:
    partitioned_by: str
    vectors: bool
    blocks: list[Block]

    def script(self) -> str:
        lines = [f"-- partitioned by ({self.partitioned_by}), vectors: {self.vectors}"]
        for block in self.blocks:
            lines += ["BEGIN;"] if block.end else []
            lines += [statement.sql + ";" for statement in block.statements]
            lines += [block.end + ";"] if block.end else []
        return "\n".join(lines)


class MergeGenerator:
    def __init__(self, seed):
        self.random = random.Random(f"merge {seed}")

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, share):
        return self.random.random() < share

    def value(self, kind, nulls=0.12):
        if self.chance(nulls):
            return "NULL"
        if kind.startswith("STRUCT"):
            return f"{{'x': {self.value('INTEGER')}, 'y': {self.value('VARCHAR')}}}"
        if kind == "INTEGER[]":
            return f"[{', '.join(self.value('INTEGER') for _ in range(self.random.randrange(3)))}]::INTEGER[]"
        if kind == "VARCHAR":
            return self.pick("'a'", "'b'", "'c d'", "'é/=%'", "'A'")
        return str(self.random.randrange(-2, 14))

    def row(self):
        return ", ".join(self.value(kind) for kind in COLUMNS.values())

    def condition(self, table, columns=COLUMNS, depth=0):
        if depth == 0 and self.chance(0.3):
            return f"({self.condition(table, columns, 1)} {self.pick('AND', 'OR')} {self.condition(table, columns, 1)})"
        name, kind = self.random.choice(list(columns.items()))
        column = f"{table}.{name}"
        if self.chance(0.1):
            return f"{column} IS {self.pick('', 'NOT ')}NULL"
        if kind.startswith("STRUCT"):
            return f"{column}.x {self.pick('=', '<', '>=')} {self.value('INTEGER', 0)}"
        if kind == "INTEGER[]":
            return f"len({column}) {self.pick('=', '>')} 1"
        if self.chance(0.2):
            return f"{column} IN ({', '.join(self.value(kind) for _ in range(3))})"
        return f"{column} {self.pick('=', '<>', '<', '>=')} {self.value(kind, 0.05)}"

    def source(self):
        """A table expression with the columns of the table, as src."""
        names = ", ".join(COLUMNS)
        chance = self.random.random()
        if chance < 0.35:
            rows = ", ".join(f"({self.row()})" for _ in range(self.random.randrange(1, 7)))
            casts = ", ".join(f"{name}::{kind} AS {name}" for name, kind in COLUMNS.items())
            return f"(SELECT {casts} FROM (VALUES {rows}) AS raw({names})) AS src"
        if chance < 0.75:
            count, start, step = self.random.randrange(0, 12), self.random.randrange(-2, 10), self.pick(1, 1, 2, 3)
            return (f"(SELECT range * {step} + {start} AS id, (range % 5)::INT AS k, range::INT AS v, 'm' || range % 3 AS s, {self.value('VARCHAR')} AS p, "
                    f"{{'x': range::INT, 'y': 'm'}} AS st, [range::INT] AS l FROM range({count})) AS src")
        if chance < 0.85:
            return f"(SELECT * FROM %T% AS q WHERE {self.condition('q')}) AS src"
        return f"(SELECT id, max(k) AS k, max(v) + 1 AS v, min(s) AS s, min(p) AS p, max(st) AS st, max(l) AS l FROM %T% GROUP BY id) AS src"

    def on(self):
        key = self.pick("t.id = src.id", "t.id = src.id", "t.id = src.id", "t.k = src.k AND t.id = src.id", "t.id IS NOT DISTINCT FROM src.id",
                        "t.id + 1 = src.id", "t.st.x = src.st.x", "t.id = src.id AND t.p = src.p", "t.id BETWEEN src.k AND src.v",
                        "t.id = src.id OR t.k = src.v", "t.id::VARCHAR = src.id::VARCHAR", "t.s = src.s AND t.k >= src.k")  # fmt: skip
        if self.chance(0.25):
            key += f" AND {self.condition('t')}"
        return f"{key} AND {self.condition('src')}" if self.chance(0.1) else key

    def sets(self, with_source):
        def new(name, kind):
            if with_source and self.chance(0.6):
                return f"src.{name}"
            own = {"v": "t.v + 1", "s": "coalesce(t.s, '') || 'x'", "l": "list_append(t.l, t.v)", "id": "t.id", "k": "t.k % 3"}
            return own[name] if name in own and self.chance(0.5) else self.value(kind)

        some = self.random.sample(list(COLUMNS.items()), self.random.randrange(1, 4))
        return ", ".join(f"{name} = {new(name, kind)}" for name, kind in some)

    def insertion(self):
        if self.chance(0.4):
            return "INSERT VALUES (" + ", ".join(f"src.{name}" for name in COLUMNS) + ")"
        some = self.random.sample(list(COLUMNS.items()), self.random.randrange(1, 5))
        values = [f"src.{name}" if self.chance(0.7) else self.value(kind) for name, kind in some]
        return f"INSERT ({', '.join(name for name, _ in some)}) VALUES ({', '.join(values)})"

    def clauses(self, group):
        """(condition or None, action) in order; all but the last have a condition."""
        count = self.pick(0, 1, 1, 2, 3)
        clauses = []
        for number in range(count):
            table = {"matched": self.pick("t", "src"), "target": "src", "source": "t"}[group]
            needed = number + 1 < count or self.chance(0.5 if group != "source" else 0.8)
            condition = self.condition(table) if needed else None
            if group == "target":
                action = self.insertion()
            else:
                action = "DELETE" if self.chance(0.35) else f"UPDATE SET {self.sets(group == 'matched')}"
            clauses.append((condition, action))
        return clauses

    def merge(self):
        groups = {"matched": "WHEN MATCHED", "target": self.pick("WHEN NOT MATCHED", "WHEN NOT MATCHED BY TARGET"), "source": "WHEN NOT MATCHED BY SOURCE"}
        chosen = {}
        while not any(chosen.values()):
            chosen = {group: self.clauses(group) if group != "source" or self.chance(0.4) else [] for group in groups}
        source, on = self.source(), self.on()
        text = "".join(
            f"\n  {groups[group]}{f' AND {condition}' if condition else ''} THEN {action}"
            for group, clauses in chosen.items()
            for condition, action in clauses
        )
        matched = chosen["matched"]
        doubles = None
        if matched:
            acts = " OR ".join(f"({condition or 'true'})" for condition, _ in matched)
            doubles = f"SELECT count(*) FROM (SELECT t.rowid FROM %T% AS t JOIN {source} ON {on} WHERE {acts} GROUP BY t.rowid HAVING count(*) > 1)"
        # DuckDB's own tables return garbage for updates by source (trap 26).
        updates_by_source = any(action.startswith("UPDATE") for _, action in chosen["source"])
        returns = not updates_by_source and self.chance(0.3)
        returning = "\n  RETURNING merge_action, id, k, v, s, p, st::VARCHAR, l::VARCHAR" if returns else ""
        return Statement(f"MERGE INTO %T% AS t USING {source} ON {on}{text}{returning}", doubles, matched == [(None, "DELETE")])

    def statement(self):
        chance = self.random.random()
        if chance < 0.6:
            return self.merge()
        if chance < 0.75:
            return Statement("INSERT INTO %T% VALUES " + ", ".join(f"({self.row()})" for _ in range(self.pick(1, 4, 12))))
        if chance < 0.87:
            return Statement(f"UPDATE %T% AS t SET {self.sets(False)} WHERE {self.condition('t')}")
        return Statement(f"DELETE FROM %T% AS t WHERE {self.condition('t')}")

    def program(self):
        partitioned_by, vectors = self.random.choice(LAYOUTS)
        start = [Statement("INSERT INTO %T% VALUES " + ", ".join(f"({self.row()})" for _ in range(self.pick(3, 10)))) for _ in range(2)]
        blocks = [Block(start)]
        for _ in range(self.random.randrange(2, 5)):
            end = self.pick(None, None, "COMMIT", "COMMIT", "ROLLBACK")
            blocks.append(Block([self.statement() for _ in range(self.random.randrange(1, 4))], end))
        return Program(partitioned_by, vectors, blocks)
