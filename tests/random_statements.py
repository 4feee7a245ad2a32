# SPDX-License-Identifier: Apache-2.0
"""Statements of a seeded random generator over one table with a column of every kind; %T% stands for the table."""

import random

COLUMNS = {
    "id": "BIGINT",
    "i": "INTEGER",
    "sm": "SMALLINT",
    "d": "DOUBLE",
    "f": "FLOAT",
    "s": "VARCHAR",
    "p": "VARCHAR",
    "dec": "DECIMAL(20,4)",
    "ts": "TIMESTAMP",
    "tz": "TIMESTAMPTZ",
    "dt": "DATE",
    "b": "BOOLEAN",
    "st": "STRUCT(x INTEGER, y VARCHAR)",
    "l": "INTEGER[]",
    "m": "MAP(VARCHAR, INTEGER)",
    "bl": "BLOB",
}

_FLOATS = ["'nan'", "'inf'", "'-inf'", "0.0", "-0.0", "1.5", "-1.5", "1e30", "1e-30", "2", "-3", "0.1"]
_MOMENTS = ["2020-01-01 00:00:00", "2020-01-01 00:00:00.123456", "2020-01-01 00:00:00.123999", "1900-01-01 00:00:00.000001",
            "1969-12-31 23:59:59.999999", "9999-12-31 23:59:59.999999"]
SAMPLES = {
    "BIGINT": [*map(str, range(40)), "-5", "9223372036854775807", "-9223372036854775808"],
    "INTEGER": [*map(str, range(-5, 12)), "2147483647", "-2147483648"],
    "SMALLINT": ["-32768", "-1", "0", "1", "2", "32767"],
    "DOUBLE": [text + "::DOUBLE" for text in _FLOATS],
    "FLOAT": [text + "::FLOAT" for text in _FLOATS],
    # Long ones are cut in statistics, some in the middle of what sorts last.
    "VARCHAR": ["'a'", "'b'", "'A'", "'it''s'", "'ü€😀'", "' a '", "'a/b'", "'%20'", "'..'", "'NULL'", "'x=1'", f"'{'z' * 40}'",
                f"'{'z' * 40}a'", f"'{'😀' * 40}'", "repeat(chr(1114111), 40)", "chr(1114111) || repeat('x', 50)"],
    "DECIMAL(20,4)": ["0", "1.5", "-1.5", "0.0001", "9999999999999999.9999", "-9999999999999999.9999", "7", "-7"],
    "TIMESTAMP": [f"'{text}'::TIMESTAMP" for text in _MOMENTS],
    "TIMESTAMPTZ": [f"'{text}+00'::TIMESTAMPTZ" for text in _MOMENTS],
    "DATE": [f"'{text}'::DATE" for text in ["2020-01-01", "1969-12-31", "0001-01-01", "9999-12-31", "1582-10-10", "2020-02-29"]],
    "BOOLEAN": ["true", "false"],
    "BLOB": ["'abc'::BLOB", "'\\x00\\xFF'::BLOB", "''::BLOB"],
}


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def value(self, kind, nulls=0.15):
        if self.random.random() < nulls:
            return "NULL"
        some = range(self.random.randrange(3))
        if kind.startswith("STRUCT"):
            return f"{{'x': {self.value('INTEGER')}, 'y': {self.value('VARCHAR')}}}::{kind}"
        if kind == "INTEGER[]":
            return f"[{', '.join(self.value('INTEGER') for _ in some)}]::{kind}"
        if kind.startswith("MAP"):
            return f"MAP {{{', '.join(f'{chr(39)}k{n}{chr(39)}: ' + self.value('INTEGER') for n in some)}}}::{kind}"
        return self.random.choice(SAMPLES[kind])

    def _comparison(self):
        choice, chance = self.random.choice, self.random.random
        name, kind = choice(list(COLUMNS.items()))
        operator = choice(["=", "<", ">", "<=", ">=", "<>"])
        if chance() < 0.12:
            return f"{name} IS {choice(['', 'NOT '])}NULL"
        if kind.startswith("STRUCT"):
            return choice([f"st.x {operator} {self.value('INTEGER')}", f"st.y {operator} {self.value('VARCHAR')}", f"st = {self.value(kind)}"])
        if kind == "INTEGER[]":
            return choice(["len(l) > 1", f"l = {self.value(kind)}", "list_contains(l, 3)", "l[1] > 2"])
        if kind.startswith("MAP"):
            return choice(["m['k0'] > 1", "cardinality(m) = 1"])
        forms = [f"{name} {operator} {self.value(kind, 0.05)}"] * 3 + [
            f"{name} IN ({', '.join(self.value(kind) for _ in range(3))})",
            f"{name} NOT IN ({self.value(kind, 0.05)}, {self.value(kind, 0.05)})",
            f"{name} BETWEEN {self.value(kind)} AND {self.value(kind)}",
            f"{name} IS {choice(['', 'NOT '])}DISTINCT FROM {self.value(kind)}",
        ]
        if kind == "BOOLEAN":
            forms.append(name)
        if kind == "VARCHAR":
            forms += [f"{name} LIKE 'z%'", f"{name} LIKE '%a'", f"starts_with({name}, 'a')", f"lower({name}) = 'a'"]
        if kind in ("BIGINT", "INTEGER"):
            forms.append(f"{name} % 3 = 1")
        return choice(forms)

    def condition(self, depth=0):
        chance = self.random.random()
        if depth < 2 and chance < 0.25:
            return f"({self.condition(depth + 1)} {self.random.choice(['AND', 'OR'])} {self.condition(depth + 1)})"
        if depth < 2 and chance < 0.33:
            return f"(NOT {self.condition(depth + 1)})"
        if depth < 2 and chance < 0.37:
            return f"id IN (SELECT {self.random.choice(['id', 'i', 'sm'])} FROM %T% WHERE {self.condition(2)})"
        if depth < 2 and chance < 0.40:
            return f"id = (SELECT {self.random.choice(['max', 'min'])}(id) FROM %T% WHERE {self.condition(2)})"
        if depth < 2 and chance < 0.42:
            return "EXISTS (SELECT 1 FROM %T% q WHERE q.i = id)"
        if chance < 0.46:
            return self.random.choice(["true", "false", "NULL", "i = i", "d <> d"])
        return self._comparison()

    def insert(self):
        rows = (f"({', '.join(self.value(kind) for kind in COLUMNS.values())})" for _ in range(self.random.choice([1, 2, 5, 20])))
        return "INSERT INTO %T% VALUES " + ", ".join(rows)

    def update(self):
        def new(name, kind):
            if self.random.random() < 0.25:
                return {"i": "sm % 7", "s": "coalesce(p, '') || 'x'", "id": "(SELECT count(*) FROM %T%)"}.get(name, self.value(kind))
            return self.value(kind)

        sets = ", ".join(f"{name} = {new(name, kind)}" for name, kind in self.random.sample(list(COLUMNS.items()), 2))
        return f"UPDATE %T% SET {sets} WHERE {self.condition()}"

    def change(self):
        chance = self.random.random()
        if chance < 0.35:
            return self.insert()
        if chance < 0.42:
            return f"INSERT INTO %T% SELECT * FROM %T% WHERE id < 5 AND {self.condition()}"
        if chance < 0.62:
            return f"DELETE FROM %T% WHERE id % 3 = {self.random.randrange(3)} AND {self.condition()}"
        if chance < 0.64:
            return "DELETE FROM %T%"
        if chance < 0.93:
            return self.update()
        return f"UPDATE %T% SET i = q.w FROM (SELECT id qid, max(sm) w FROM %T% GROUP BY id) q WHERE id = qid AND {self.condition()}"

    def question(self):
        return ("SELECT count(*), sum(id % 1000), min(i), max(ts), min(s), max(dec), max(dt), min(tz)::VARCHAR, count(DISTINCT p), (max(d) + 0)::VARCHAR "
                f"FROM %T% WHERE {self.condition()}")
