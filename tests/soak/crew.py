# SPDX-License-Identifier: Apache-2.0
"""Those who work on the tables of the soak test, each in a process of its own: `work(lake, seed, seconds)` for as long as it is told, then what it has
done. An error that is not allowed to be ends a process, and so the test."""

import dataclasses
import random
import re
import time

import duckdb

from conftest import connect_lake

TABLES = ("t", "u")
ROWS, HOT, WRITERS = 2000, 20, 4  # ids 0 to 19 are everybody's, those above belong to writer id % 4
NEW, APPENDED = 1_000_000, 100_000_000  # first ids of what MERGE and the appender add


def create(con):
    """t: WriteSerializable. u: Serializable, partitioned. Both compact themselves."""
    for table, more, level in ("t", "", "WriteSerializable"), ("u", "PARTITIONED BY (owner)", "Serializable"):
        con.execute(f"""CREATE TABLE {table} (id BIGINT, owner INTEGER, n BIGINT, pad VARCHAR) {more}
                        TBLPROPERTIES ('delta.isolationLevel' = '{level}', 'delta.autoOptimize.autoCompact' = 'true')""")
        con.execute(f"INSERT INTO {table} SELECT range, range % {WRITERS}, 0, sha256(range::VARCHAR) FROM range({ROWS})")


@dataclasses.dataclass
class Commit:
    table: str
    version: int
    added: dict  # by id: what it adds to n; None: the row goes


@dataclasses.dataclass
class Clash:
    table: str
    keys: list[int]
    read_version: int
    winner_version: int
    named: set  # ids of the rows that the error names
    message: str


@dataclasses.dataclass
class Report:
    name: str
    commits: list[Commit] = dataclasses.field(default_factory=list)
    clashes: list[Clash] = dataclasses.field(default_factory=list)
    rounds: int = 0
    warnings: list = dataclasses.field(default_factory=list)


def connect(lake, **settings):
    con = connect_lake(lake, threads=1)
    con.execute("SET braid_durability = 'none'")
    con.execute("CALL enable_logging(level = 'warning')")
    for name, value in settings.items():
        con.execute(f"SET {name} = {value}")
    return con


def warnings_of(con):
    return con.execute("SELECT message FROM duckdb_logs WHERE log_level = 'WARNING'").fetchall()


class Writer:
    """One of four that change rows: those of his own, which nobody else changes, and those of everybody."""

    def __init__(self, number):
        self.number, self.name = number, f"writer {number}"

    def work(self, lake, seed, seconds):
        self.random, self.report = random.Random(seed), Report(self.name)
        mode = "max" if self.number == WRITERS - 1 else "sound"
        self.con = connect(lake, braid_auto_compact_min_files=10, braid_concurrency_mode=f"'{mode}'")
        self.inserted, self.next = {table: [] for table in TABLES}, NEW + self.number
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.step(self.random.choice(TABLES))
        self.report.warnings = warnings_of(self.con)
        return self.report

    def step(self, table):
        kind = self.random.choice(("own", "hot", "merge", "delete"))
        if kind == "own":
            self.change(table, self.own(self.random.randint(1, 3)))
        elif kind == "hot":
            self.change(table, self.random.sample(range(HOT), 2))
        elif kind == "merge" or not self.inserted[table]:
            self.merge(table)
        else:
            gone = self.inserted[table].pop()
            self.run(table, f"DELETE FROM {table} WHERE id = {gone}", {gone: None})

    def own(self, count):
        return self.random.sample(range(HOT + self.number, ROWS, WRITERS), count)

    def change(self, table, keys):
        listed = ", ".join(map(str, keys))
        self.run(table, f"UPDATE {table} SET n = n + 1 WHERE id IN ({listed})", dict.fromkeys(keys, 1))

    def merge(self, table):
        keys, new = self.own(2), self.next
        self.next += WRITERS
        source = ", ".join(f"({key})" for key in (*keys, new))
        merged = self.run(
            table,
            f"MERGE INTO {table} AS t USING (VALUES {source}) s(id) ON t.id = s.id "
            f"WHEN MATCHED THEN UPDATE SET n = t.n + 1 WHEN NOT MATCHED THEN INSERT VALUES (s.id, {self.number}, 1, 'new')",
            dict.fromkeys((*keys, new), 1),
        )
        if merged:
            self.inserted[table].append(new)

    def run(self, table, sql, added):
        try:
            self.con.execute(sql)
        except duckdb.TransactionException as error:
            self.report.clashes.append(self.clash(table, list(added), str(error)))
            return False
        (version,) = self.con.execute("SELECT version FROM braid_last_commit()").fetchone()
        self.report.commits.append(Commit(table, version, added))
        return True

    def clash(self, table, keys, message):
        assert "SQLSTATE: 2D521" in message, message
        read, winner, old, new = self.con.execute("SELECT read_version, winner_version, old_rows, new_rows FROM braid_last_conflict()").fetchone()
        named = {int(re.match(r"id=(\d+),", row).group(1)) for row in (*(old or ()), *(new or ()))}
        return Clash(table, keys, read, winner, named, message)


class Appender:
    name = "appender"

    def work(self, lake, seed, seconds):
        con, report, first = connect(lake, braid_auto_compact_min_files=10), Report(self.name), APPENDED
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for table in TABLES:
                con.execute(f"INSERT INTO {table} SELECT range, 0, 7, 'appended' FROM range({first}, {first + 5})")
                (version,) = con.execute("SELECT version FROM braid_last_commit()").fetchone()
                report.commits.append(Commit(table, version, dict.fromkeys(range(first, first + 5), 7)))
                first += 5
        report.warnings = warnings_of(con)
        return report


class Maintenance:
    """Statements in turn, none of which may fail."""

    def __init__(self, name, statements, settings=()):
        self.name, self.statements, self.settings = name, statements, settings

    def work(self, lake, seed, seconds):
        con, report = connect(lake), Report(self.name)
        for setting in self.settings:
            con.execute(setting)
        end = time.monotonic() + seconds
        while time.monotonic() < end or report.rounds < len(self.statements) * len(TABLES):
            for table in TABLES:
                con.execute(self.statements[report.rounds // len(TABLES) % len(self.statements)].format(table=table)).fetchall()
                report.rounds += 1
        return report


class Reader:
    """Reads one version for the whole time, or for some rounds, and sees the same each time."""

    def __init__(self, name, rounds):
        self.name, self.rounds = name, rounds

    def work(self, lake, seed, seconds):
        con, report = connect(lake), Report(self.name)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            con.execute("BEGIN")
            seen = {table: self.read(con, table) for table in TABLES}
            rounds = 0
            while time.monotonic() < end and rounds < self.rounds:
                for table in TABLES:
                    assert self.read(con, table) == seen[table], f"round {rounds} of {table}"
                rounds += 1
            con.execute("COMMIT")
            report.rounds += rounds
        return report

    @staticmethod
    def read(con, table):
        return con.execute(f"SELECT count(*), sum(n), sum(hash(id, n, pad)) FROM {table}").fetchone()


def crew():
    return [
        *(Writer(number) for number in range(WRITERS)),
        Appender(),
        Maintenance("optimize", ("OPTIMIZE {table}", "OPTIMIZE {table} ZORDER BY (id, n)", "REORG TABLE {table} APPLY (PURGE)")),
        Maintenance("vacuum", ("VACUUM {table} RETAIN 0 HOURS",), ("SET braid_retention_check = false",)),
        Reader("reader of one version", 10**9),
        Reader("reader", 5),
    ]
