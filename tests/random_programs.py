# SPDX-License-Identifier: Apache-2.0
"""Random programs over one table: blocks of statements, each block alone or a transaction; %T% stands for the table. Columns of every kind, some of them
added, renamed, dropped or widened on the way. What DuckDB's own tables cannot be told in the same words brings the words for them. A MERGE brings the
question by which anybody can tell whether two source rows would change one row."""

import dataclasses
import random

from random_statements import SAMPLES

ALWAYS = {"id": "BIGINT", "k": "INTEGER", "v": "INTEGER", "p": "VARCHAR"}
SOMETIMES = {
    "s": "VARCHAR", "d": "DOUBLE", "f": "FLOAT", "n": "DECIMAL(20,4)", "small": "SMALLINT", "dt": "DATE", "ts": "TIMESTAMP", "tz": "TIMESTAMPTZ", "b": "BOOLEAN",
    "bl": "BLOB", "st": "STRUCT(x INTEGER, y VARCHAR)", "l": "INTEGER[]", "m": "MAP(VARCHAR, INTEGER)", "ls": "STRUCT(a INTEGER, b VARCHAR)[]",
}  # fmt: skip
PARTITIONS = ["p", "k", "dt", "b", "n", "d", "small", "tz"]
NEVER_A_KEY = ("STRUCT", "MAP")
WIDER = {"INTEGER": "BIGINT", "SMALLINT": "INTEGER", "FLOAT": "DOUBLE", "DECIMAL(20,4)": "DECIMAL(24,6)", "DATE": "TIMESTAMP"}


@dataclasses.dataclass
class Statement:
    sql: list[str]  # for the lake
    model: list[str] | None = None  # for DuckDB's own table, where it differs: then the answers do too
    doubles: str | None = None  # counts rows of %T% that several source rows would change
    may_double: bool = False  # a lone unconditional DELETE

    def __str__(self):
        return ";\n".join(self.sql)


@dataclasses.dataclass
class Block:
    statements: list[Statement]
    end: str | None = None  # COMMIT or ROLLBACK; None: each statement by itself


@dataclasses.dataclass
class Program:
    columns: dict[str, str]
    partitioned_by: list[str]
    properties: dict[str, str]
    blocks: list[Block]

    def create(self, lake):
        columns = ", ".join(f"{name} {kind}" for name, kind in self.columns.items())
        if not lake:
            return f"CREATE OR REPLACE TABLE %T% ({columns})"
        partitioned = f" PARTITIONED BY ({', '.join(self.partitioned_by)})" if self.partitioned_by else ""
        properties = ", ".join(f"'{key}' = '{value}'" for key, value in self.properties.items())
        return f"CREATE TABLE %T% ({columns}){partitioned} WITH ({properties})"

    def script(self) -> str:
        lines = [self.create(True) + ";"]
        for block in self.blocks:
            lines += ["BEGIN;"] if block.end else []
            lines += [f"{statement};" for statement in block.statements]
            lines += [block.end + ";"] if block.end else []
        return "\n".join(lines)


def fields_of(kind):
    """Of STRUCT(a INTEGER, b VARCHAR): [("a", "INTEGER"), ...]."""
    return [tuple(field.split(" ")) for field in kind.removeprefix("STRUCT(").removesuffix(")").split(", ")]


class ProgramGenerator:
    def __init__(self, seed):
        self.random = random.Random(f"program {seed}")

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, share):
        return self.random.random() < share

    def value(self, kind, nulls=0.12):
        if self.chance(nulls):
            return "NULL"
        if kind.endswith("[]"):
            return f"[{', '.join(self.value(kind[:-2]) for _ in range(self.random.randrange(3)))}]::{kind}"
        if kind.startswith("STRUCT"):
            return f"{{{', '.join(repr(name) + ': ' + self.value(field) for name, field in fields_of(kind))}}}::{kind}"
        if kind.startswith("MAP"):
            pairs = ", ".join(f"'k{i}': {self.value('INTEGER')}" for i in range(self.random.randrange(3)))
            return f"MAP {{{pairs}}}::{kind}"
        if kind in ("BIGINT", "INTEGER") and self.chance(0.9):
            return str(self.random.randrange(-2, 14))
        if kind == "VARCHAR" and self.chance(0.7):
            return self.pick("'a'", "'b'", "'c d'", "'é/=%'", "'A'")
        return self.random.choice(SAMPLES[kind if kind in SAMPLES else "DECIMAL(20,4)"])

    def row(self):
        return ", ".join(self.value(kind) for kind in self.columns.values())

    def typed_values(self, count):
        """A query of `count` rows with the columns of the table."""
        rows = ", ".join(f"({self.row()})" for _ in range(count))
        casts = ", ".join(f"{name}::{kind} AS {name}" for name, kind in self.columns.items())
        return f"SELECT {casts} FROM (VALUES {rows}) AS raw({', '.join(self.columns)})"

    def condition(self, table, depth=0):
        """`table` with its dot, or nothing."""
        if depth == 0 and self.chance(0.3):
            return f"({self.condition(table, 1)} {self.pick('AND', 'OR')} {self.condition(table, 1)})"
        if self.chance(0.05):
            return f"(NOT {self.condition(table, 1)})"
        name, kind = self.random.choice(list(self.columns.items()))
        column = f"{table}{name}"
        if self.chance(0.1):
            return f"{column} IS {self.pick('', 'NOT ')}NULL"
        if kind.endswith("[]"):
            return f"len({column}) {self.pick('=', '>')} 1"
        if kind.startswith("STRUCT"):
            field, field_kind = self.random.choice(fields_of(kind))
            return f"{column}.{field} {self.pick('=', '<', '>=')} {self.value(field_kind, 0)}"
        if kind.startswith("MAP"):
            return self.pick(f"{column}['k0'] > 1", f"cardinality({column}) = 1")
        if kind == "BOOLEAN" and self.chance(0.5):
            return column
        if self.chance(0.2):
            return f"{column} {self.pick('', 'NOT ')}IN ({', '.join(self.value(kind) for _ in range(3))})"
        if self.chance(0.1):
            return f"{column} IS {self.pick('', 'NOT ')}DISTINCT FROM {self.value(kind)}"
        return f"{column} {self.pick('=', '<>', '<', '<=', '>', '>=')} {self.value(kind, 0.05)}"

    def source(self):
        """A table expression with the columns of the table, as src."""
        chance = self.random.random()
        if chance < 0.4:
            return f"({self.typed_values(self.random.randrange(1, 7))}) AS src"
        if chance < 0.75:
            count, start, step = self.random.randrange(0, 12), self.random.randrange(-2, 10), self.pick(1, 1, 2, 3)
            own = {"id": f"range * {step} + {start}", "k": "range % 5", "v": "range"}
            fields = ", ".join(f"({own.get(name) or self.value(kind)})::{kind} AS {name}" for name, kind in self.columns.items())
            return f"(SELECT {fields} FROM range({count})) AS src"
        if chance < 0.88:
            return f"(SELECT * FROM %T% AS q WHERE {self.condition('q.')}) AS src"
        fields = ", ".join(f"{self.pick('min', 'max')}({name}) AS {name}" for name in self.columns if name != "id")
        return f"(SELECT id, {fields} FROM %T% GROUP BY id) AS src"

    def on(self):
        keys = [name for name, kind in self.columns.items() if not kind.startswith(NEVER_A_KEY)]
        some, other = self.random.choice(keys), self.random.choice(keys)
        key = self.pick(*["t.id = src.id"] * 4, f"t.k = src.k AND t.{some} = src.{some}", f"t.{some} IS NOT DISTINCT FROM src.{some}", f"t.{some} = src.{some}",
                        f"t.id = src.id AND t.{some} = src.{some}", f"t.id = src.id AND t.{some} IS NOT DISTINCT FROM src.{some} AND t.{other} <= src.{other}",
                        "t.id + 1 = src.id", "t.id BETWEEN src.k AND src.v", "t.id = src.id OR t.k = src.v", "t.id::VARCHAR = src.id::VARCHAR",
                        "t.p = src.p AND t.k >= src.k")  # fmt: skip
        if self.chance(0.25):
            key += f" AND {self.condition('t.')}"
        return f"{key} AND {self.condition('src.')}" if self.chance(0.1) else key

    def own(self, name, kind, table):
        """A new value made of the old one."""
        column = f"{table}{name}"
        made = {"BIGINT": f"({column} % 1000) + 1", "INTEGER": f"({column} % 1000) + 1", "VARCHAR": f"coalesce({column}, '') || 'x'", "INTEGER[]": f"list_append({column}, 7)",
                "DOUBLE": f"{column} * 2", "BOOLEAN": f"NOT {column}", "DATE": f"greatest({column}, '2020-01-01'::DATE)"}  # fmt: skip
        return made.get(kind, column)

    def sets(self, source):
        """Assignments; `source`: of a MERGE clause that has one."""

        def new(name, kind):
            if source and self.chance(0.6):
                return f"src.{name}"
            return self.own(name, kind, "t.") if self.chance(0.4) else self.value(kind)

        some = self.random.sample(list(self.columns.items()), self.random.randrange(1, 4))
        return ", ".join(f"{name} = {new(name, kind)}" for name, kind in some)

    def insertion(self):
        """For the lake, and for the model."""
        values = f"INSERT VALUES ({', '.join(f'src.{name}' for name in self.columns)})"
        if self.chance(0.5):
            return ("INSERT *" if self.chance(0.4) else values), values
        some = self.random.sample(list(self.columns.items()), self.random.randrange(1, 4))
        new = [f"src.{name}" if self.chance(0.7) else self.value(kind) for name, kind in some]
        action = f"INSERT ({', '.join(name for name, _ in some)}) VALUES ({', '.join(new)})"
        return action, action

    def clauses(self, group):
        """(condition or None, action for the lake, action for the model) in order; all but the last have a condition."""
        count = self.pick(0, 1, 1, 2, 3)
        clauses = []
        for number in range(count):
            table = {"matched": self.pick("t.", "src."), "target": "src.", "source": "t."}[group]
            needed = number + 1 < count or self.chance(0.5 if group != "source" else 0.8)
            condition = self.condition(table) if needed else None
            if group == "target":
                clauses.append((condition, *self.insertion()))
            elif self.chance(0.35):
                clauses.append((condition, "DELETE", "DELETE"))
            elif group == "matched" and self.chance(0.2):
                clauses.append((condition, "UPDATE SET *", "UPDATE SET " + ", ".join(f"{name} = src.{name}" for name in self.columns)))
            else:
                clauses.append((condition, *[f"UPDATE SET {self.sets(group == 'matched')}"] * 2))
        return clauses

    def merge(self):
        groups = {"matched": "WHEN MATCHED", "target": self.pick("WHEN NOT MATCHED", "WHEN NOT MATCHED BY TARGET"), "source": "WHEN NOT MATCHED BY SOURCE"}
        chosen = {}
        while not any(chosen.values()):
            chosen = {group: self.clauses(group) if group != "source" or self.chance(0.4) else [] for group in groups}
        source, on = self.source(), self.on()

        def text(which):
            return f"MERGE INTO %T% AS t USING {source} ON {on}" + "".join(
                f"\n  {groups[group]}{f' AND {clause[0]}' if clause[0] else ''} THEN {clause[which]}" for group, clauses in chosen.items() for clause in clauses)  # fmt: skip

        matched = chosen["matched"]
        doubles = None
        if matched:
            acts = " OR ".join(f"({clause[0] or 'true'})" for clause in matched)
            doubles = f"SELECT count(*) FROM (SELECT t.rowid FROM %T% AS t JOIN {source} ON {on} WHERE {acts} GROUP BY t.rowid HAVING count(*) > 1)"
        # DuckDB's own tables return garbage for updates by source (trap 26).
        updates_by_source = any(clause[1].startswith("UPDATE") for clause in chosen["source"])
        returning = f"\n  RETURNING merge_action, {self.texts()}" if not updates_by_source and self.chance(0.3) else ""
        lake, model = text(1) + returning, text(2) + returning
        return Statement([lake], None if lake == model else [model], doubles, [clause[:2] for clause in matched] == [(None, "DELETE")])

    def texts(self):
        """The columns as text, for answers that are compared."""
        zero = ("DOUBLE", "FLOAT")  # -0.0 and 0.0 are one value to SQL and may be stored as either
        return ", ".join(f"if({name} = 0, '0', {name}::VARCHAR)" if kind in zero else f"{name}::VARCHAR" for name, kind in self.columns.items())

    def returning(self):
        return f" RETURNING {self.texts()}" if self.chance(0.25) else ""

    def replacement(self):
        """INSERT OVERWRITE, REPLACE WHERE and by partition: for the model the source is kept aside, then rows go, then it comes."""
        source = self.pick(f"SELECT * FROM %T% WHERE {self.condition('')}", self.typed_values(self.random.randrange(1, 5)), "SELECT * FROM %T%",
                           f"SELECT * FROM ({self.typed_values(3)})")  # fmt: skip
        keep, put = f"CREATE OR REPLACE TEMP TABLE aside AS {source}", "INSERT INTO %T% SELECT * FROM aside"
        kind = self.pick("overwrite", "where", "where", "partitions")
        if kind == "where":
            condition = self.condition("")
            source = f"SELECT * FROM ({source}) WHERE {condition}"
            keep = f"CREATE OR REPLACE TEMP TABLE aside AS {source}"
            return Statement([f"INSERT INTO %T% REPLACE WHERE {condition} {source}"], [keep, f"DELETE FROM %T% WHERE {condition}", put])
        if kind == "partitions" and self.partitioned_by:
            same = " AND ".join(f"a.{name} IS NOT DISTINCT FROM t.{name}" for name in self.partitioned_by)
            return Statement(["SET braid_partition_overwrite_mode = 'dynamic'", f"INSERT OVERWRITE %T% {source}", "RESET braid_partition_overwrite_mode"],
                             [keep, f"DELETE FROM %T% AS t WHERE EXISTS (SELECT 1 FROM aside AS a WHERE {same})", put])  # fmt: skip
        return Statement([f"INSERT OVERWRITE %T% {source}"], [keep, "DELETE FROM %T%", put])

    def insert(self):
        chance = self.random.random()
        if chance < 0.5:
            return Statement([f"INSERT INTO %T% VALUES {', '.join(f'({self.row()})' for _ in range(self.pick(1, 4, 12)))}{self.returning()}"])
        if chance < 0.7:
            some = self.random.sample(list(self.columns), self.random.randrange(1, len(self.columns)))
            return Statement([f"INSERT INTO %T% BY NAME SELECT {', '.join(some)} FROM ({self.typed_values(3)})"])
        return Statement([f"INSERT INTO %T% SELECT * FROM %T% WHERE id < 5 AND {self.condition('')}{self.returning()}"])

    def joined(self):
        keys = "(SELECT range * 2 AS qid, range::INTEGER AS w FROM range(5)) AS q"
        if self.chance(0.5):
            return Statement([f"UPDATE %T% AS t SET v = q.w FROM {keys} WHERE t.id = q.qid AND {self.condition('t.')}"])
        question = self.pick(f"id IN (SELECT v FROM %T% WHERE {self.condition('')})", f"id IN (SELECT qid FROM {keys})", "id = (SELECT max(id) FROM %T%)",
                             "EXISTS (SELECT 1 FROM %T% AS q WHERE q.k = id)")  # fmt: skip
        return Statement([f"{self.pick('DELETE FROM %T%', 'UPDATE %T% SET v = -5')} WHERE {question}"])

    def statement(self):
        chance = self.random.random()
        if chance < 0.45:
            return self.merge()
        if chance < 0.58:
            return self.insert()
        if chance < 0.70:
            return Statement([f"UPDATE %T% AS t SET {self.sets(False)} WHERE {self.condition('t.')}{self.returning()}"])
        if chance < 0.81:
            return Statement([f"DELETE FROM %T% AS t WHERE {self.condition('t.')}{self.returning()}"])
        if chance < 0.87:
            return self.joined()
        if chance < 0.89:
            return Statement([self.pick("TRUNCATE TABLE %T%", "DELETE FROM %T%")], ["DELETE FROM %T%"])
        return self.replacement()

    def alteration(self):
        """One change of the schema, which the columns of the following statements know of. None if the choice fits no column."""
        free = [name for name in self.columns if name not in (*ALWAYS, *self.partitioned_by)]
        structs = [name for name, kind in self.columns.items() if kind.startswith("STRUCT") and not kind.endswith("[]")]
        kind = self.pick("add", "add", "rename", "drop", "widen", "add field", "rename field", "drop field")
        self.made += 1
        if kind == "add":
            name, added = f"c{self.made}", self.random.choice(list(SOMETIMES.values()))
            self.columns[name] = added
            return f"ADD COLUMN {name} {added}"
        if kind == "rename" and free:
            old, new = self.random.choice(free), f"r{self.made}"
            self.columns = {new if name == old else name: column for name, column in self.columns.items()}
            return f"RENAME COLUMN {old} TO {new}"
        if kind == "drop" and free:
            gone = self.random.choice(free)
            del self.columns[gone]
            return f"DROP COLUMN {gone}"
        if kind == "widen":
            wide = [name for name, column in self.columns.items() if column in WIDER and name not in self.partitioned_by]
            if wide:
                name = self.random.choice(wide)
                self.columns[name] = WIDER[self.columns[name]]
                return f"ALTER COLUMN {name} TYPE {self.columns[name]}"
        if kind.endswith("field") and structs:
            struct = self.random.choice(structs)
            fields = dict(fields_of(self.columns[struct]))
            old, new = self.random.choice(list(fields)), f"f{self.made}"
            if kind == "add field":
                fields[new] = "INTEGER"
                clause = f"ADD COLUMN {struct}.{new} INTEGER"
            elif kind == "rename field":
                fields = {new if name == old else name: column for name, column in fields.items()}
                clause = f"RENAME COLUMN {struct}.{old} TO {new}"
            elif len(fields) > 1:
                del fields[old]
                clause = f"DROP COLUMN {struct}.{old}"
            else:
                return None
            self.columns[struct] = f"STRUCT({', '.join(f'{name} {column}' for name, column in fields.items())})"
            return clause
        return None

    def block(self):
        if self.chance(0.2):
            clause = self.alteration()
            if clause:
                return Block([Statement([f"ALTER TABLE %T% {clause}"])])
        end = self.pick(None, None, "COMMIT", "COMMIT", "ROLLBACK")
        return Block([self.statement() for _ in range(self.random.randrange(1, 4))], end)

    def program(self):
        self.made = 0
        chosen = self.random.sample(list(SOMETIMES.items()), self.random.randrange(1, 6))
        self.columns = ALWAYS | dict(chosen)
        parts = [name for name in PARTITIONS if name in self.columns]
        self.partitioned_by = self.random.sample(parts, self.pick(0, 0, 1, 1, 2) if len(parts) > 1 else self.pick(0, 1))
        properties = {"delta.enableDeletionVectors": self.pick("true", "true", "false")}
        if self.chance(0.4):  # else a RENAME or DROP switches it on
            properties["delta.columnMapping.mode"] = self.pick("name", "id")
        program = Program(self.columns, self.partitioned_by, properties, [])
        program.blocks.append(Block([Statement([f"INSERT INTO %T% {self.typed_values(self.pick(3, 10))}"]) for _ in range(2)]))
        if self.chance(0.5):  # vectors are there from the start
            program.blocks.append(Block([Statement([f"DELETE FROM %T% WHERE id % 3 = {self.random.randrange(3)}"])]))
        program.columns = dict(self.columns)
        program.blocks += [self.block() for _ in range(self.random.randrange(2, 6))]
        return program
