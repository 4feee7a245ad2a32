# SPDX-License-Identifier: Apache-2.0
"""A case is data: a table, transactions with the version that each of them reads, and what becomes of the last one, which commits last. Playing it
checks the outcome, that a loser has left no version, that no file is live twice, and that the rows are those of the same statements run one after the
other on a plain table of DuckDB."""

import dataclasses
import pathlib
import shutil
from collections.abc import Callable

import duckdb

import delta_log
import racing
from conftest import quote
from histories.writers import Connection, Process

LEVELS = {"S": "Serializable", "WS": "WriteSerializable"}
MODES = ("strict", "sound", "max")
CLASSES = {
    "CA": "DELTA_CONCURRENT_APPEND",
    "CDR": "DELTA_CONCURRENT_DELETE_READ",
    "CDD": "DELTA_CONCURRENT_DELETE_DELETE",
    "CW": "DELTA_CONCURRENT_WRITE",
    "CT": "DELTA_CONCURRENT_TRANSACTION",
    "MC": "DELTA_METADATA_CHANGED",
    "PC": "DELTA_PROTOCOL_CHANGED",
}
REPAIRED = ("CA", "CDR", "CDD")  # in mode max


@dataclasses.dataclass(frozen=True)
class Setup:
    """CREATE TABLE t AS `query`, one file for each partition, then `then`."""

    query: str = "SELECT range AS id, range % 10 AS v FROM range(100)"
    partitioned: str = ""
    properties: tuple = ()  # of (name, value)
    then: tuple = ()
    altered: tuple = ()  # what only a lake knows, before `then`

    def statements(self, level):
        listed = ", ".join(f"'{name}' = '{value}'" for name, value in (("delta.isolationLevel", LEVELS[level]), *self.properties))
        partitions = f"PARTITIONED BY ({self.partitioned})" if self.partitioned else ""
        return [f"CREATE TABLE t {partitions} WITH ({listed}) AS {self.query}", *self.altered, *self.then]

    def plain(self):
        return [f"CREATE TABLE t AS {self.query}", *self.then]


S0 = Setup()
NO_VECTORS = (("delta.enableDeletionVectors", "false"),)


@dataclasses.dataclass
class Txn:
    """Statements between BEGIN and COMMIT; `starts`: how many of the transactions before it have committed when it begins. Or a commit of another
    engine, written to the log by `foreign(place)` when it is its turn. `plain`: what it does in DuckDB's own words, if they differ."""

    statements: tuple[str, ...] = ()
    starts: int = 0
    foreign: Callable | None = None
    plain: tuple[str, ...] | None = None

    def is_repairable(self):
        """An INSERT that reads its table is not, nor what alters the table."""
        statement = self.statements[-1]
        return statement.startswith(("DELETE", "UPDATE", "MERGE", "TRUNCATE")) or "REPLACE WHERE" in statement

    def in_plain_words(self):
        return self.statements if self.plain is None else self.plain


def txn(*statements, **more) -> Txn:
    return Txn(statements, **more)


def foreign(act, *plain) -> Txn:
    return Txn(foreign=act, plain=plain)


@dataclasses.dataclass
class Case:
    """`outcomes`: what becomes of the last transaction, by mode_level, mode, level or "any", whichever is found first: "ok"; "noop" (success without
    a version); "before" (success, as if run before the others: their rows are left alone); a class of CLASSES, with ".SUB_CONDITION" or not. Levels
    and modes without an outcome are not played. Mode max is as sound, but rows that clash are repaired: "ok", if nothing else is said; None: not played. `order`: in which order the transactions are run on the plain table if the last one succeeds;
    None: the rows are not compared."""

    number: str
    txns: tuple[Txn, ...]
    outcomes: dict
    setup: Setup = S0
    settings: dict = dataclasses.field(default_factory=dict)
    check: Callable | None = None  # what else must hold, of the Place
    order: tuple[int, ...] | None = ()
    prepared: tuple[str, ...] = ()  # what the last client does before

    def can_be_late(self, level):
        """Whether the last transaction may be a statement outside of BEGIN, which is run before the others commit. It must come to a commit."""
        last = self.txns[-1]
        return len(last.statements) == 1 and last.starts == 0 and self.outcome("sound", level) != "noop"

    def outcome(self, mode, level):
        for key in (f"{mode}_{level}", mode):
            if key in self.outcomes:
                return self.outcomes[key]
        if mode == "max":
            outcome = self.outcome("sound", level)
            repaired = outcome and outcome.partition(".")[0] in REPAIRED and self.can_be_late(level) and self.txns[-1].is_repairable()
            return "ok" if repaired else outcome
        return self.outcomes.get(level, self.outcomes.get("any"))


def case(number, *txns, setup=S0, settings=None, check=None, order=(), prepared=(), **outcomes) -> Case:
    """Transactions given as text are of one statement and start at once."""
    return Case(number, tuple(txn(t) if isinstance(t, str) else t for t in txns), outcomes, setup, settings or {}, check, order, prepared)


def plays(cases, modes=MODES):
    """(case, mode, level) for pytest.mark.parametrize, and ids such as 21-S-sound."""
    chosen = [(c, mode, level) for c in cases for level in LEVELS for mode in modes if c.outcome(mode, level) is not None]
    return {"argnames": "the_case, mode, level", "argvalues": chosen, "ids": [f"{c.number}-{level}-{mode}" for c, mode, level in chosen]}


class Client:
    """A connection or a process that does what it is told (histories/writers.py)."""

    def __init__(self, channel, lake):
        self.channel = channel
        self.run(f"ATTACH {quote(lake)} AS lake (TYPE braid)")

    def ask(self, sql):
        self.channel.send(sql)
        return self.channel.receive()

    def run(self, sql):
        answer = self.ask(sql)
        assert answer.error is None, f"{sql}: {answer.error}"
        return answer.rows

    def enter(self, place, settings):
        self.run(f"USE lake.{place.name}")
        self.settings = settings
        for name, value in settings.items():
            self.run(f"SET {name} = {quote(value)}")

    def leave(self):
        self.ask("ROLLBACK")  # if the case has failed half way
        self.run("USE lake")
        for name in self.settings:
            self.run(f"RESET {name}")


@dataclasses.dataclass
class Place:
    """A schema of its own, with the table `t` in it."""

    name: str
    table: pathlib.Path
    reader: Client

    @property
    def con(self):
        return self.reader.channel.con

    def rows(self, query="FROM t"):
        return self.reader.run(query.replace("FROM t", f"FROM lake.{self.name}.t"))

    def version(self):
        return delta_log.version(self.table)


class Stage:
    """Where cases are played: one lake, clients that stay, and a schema for each case. A table is made once and copied for every case that starts
    with it; what a serial run leaves is computed once."""

    def __init__(self, lake):
        self.lake, self.count, self.templates, self.replays = lake, 0, {}, {}
        self.clients = {"connections": [], "processes": []}
        self.reader = self.take("connections", 1)[0]
        self.clients["connections"] = []
        self.plain = duckdb.connect()

    def close(self):
        for client in [self.reader, *self.clients["connections"], *self.clients["processes"]]:
            client.channel.close()
        self.plain.close()

    def take(self, kind, count) -> list[Client]:
        known = self.clients[kind]
        while len(known) < count:
            known.append(Client(Connection() if kind == "connections" else Process(), self.lake))
        return known[:count]

    def new_schema(self) -> Place:
        self.count += 1
        name = f"case{self.count}"
        (self.lake / name).mkdir()
        return Place(name, self.lake / name / "t", self.reader)

    def new_place(self, setup, level) -> Place:
        if (setup, level) not in self.templates:
            template = self.new_schema()
            self.reader.enter(template, {})
            for statement in setup.statements(level):
                self.reader.run(statement)
            self.reader.leave()
            self.templates[setup, level] = template
        place = self.new_schema()
        shutil.copytree(self.templates[setup, level].table, place.table)
        return place

    def play(self, the_case, mode, level, kind="connections"):
        place = self.new_place(the_case.setup, level)
        clients = self.take(kind, len(the_case.txns))
        if mode == "max":
            clients = [*clients[:-1], *self.take("connections", len(clients))[-1:]]
        for client in clients:
            client.enter(place, {"braid_concurrency_mode": mode, **the_case.settings})
        try:
            self.run(the_case, mode, level, place, clients)
        finally:
            for client in clients:
                client.leave()
        shutil.rmtree(place.table.parent)

    def run(self, the_case, mode, level, place, clients):
        expected = the_case.outcome(mode, level)
        cast = list(zip(the_case.txns, clients))
        for statement in the_case.prepared:
            clients[-1].run(statement)
        error, new_versions = (self.commit_late if mode == "max" and the_case.can_be_late(level) else self.commit_last)(place, cast)
        judge(expected, error, new_versions)
        live = delta_log.active(place.table)  # fails if a file is live twice
        rows = place.rows()
        assert live or not rows
        if the_case.order is not None:
            assert sorted(rows, key=repr) == self.replayed(the_case, serial_order(the_case, expected))
        if the_case.check:
            the_case.check(place)

    def commit_last(self, place, cast):
        """What the last COMMIT says, and how many versions it makes."""
        play_through(place, cast, len(cast) - 1)
        before = place.version()
        return cast[-1][1].ask("COMMIT").error, place.version() - before

    def commit_late(self, place, cast):
        """The same for a statement outside of BEGIN, which has run when the others commit: such a one can be repaired."""
        *others, (last, client) = cast
        before = []

        def meanwhile():
            play_through(place, others, len(others))
            before.append(place.version())

        try:
            racing.commit_late(client.channel.con, last.statements[0], meanwhile)
            error = None
        except duckdb.Error as refused:
            error = str(refused)
        return error, place.version() - before[0]

    def replayed(self, the_case, order):
        """The rows after the same statements one after the other, by plain DuckDB."""
        statements = (*the_case.setup.plain(), *the_case.prepared, *(statement for number in order for statement in the_case.txns[number].in_plain_words()))
        if statements not in self.replays:
            self.plain.execute("DROP SCHEMA IF EXISTS plain CASCADE; CREATE SCHEMA plain; USE plain")
            for statement in statements:
                self.plain.execute(statement)
            self.replays[statements] = sorted(self.plain.execute("FROM t").fetchall(), key=repr)
            self.plain.execute("USE memory; DROP SCHEMA plain CASCADE")
        return self.replays[statements]


def play_through(place, cast, commits):
    """Everybody begins at his turn; the first ones commit."""
    for turn in range(commits + 1):
        for transaction, client in cast:
            if transaction.starts == turn and transaction.foreign is None:
                client.run("BEGIN")
                for statement in transaction.statements:
                    client.run(statement)
        if turn == commits:
            return
        transaction, client = cast[turn]
        if transaction.foreign is not None:
            transaction.foreign(place)
        else:
            client.run("COMMIT")


def serial_order(the_case, expected):
    last = len(the_case.txns) - 1
    if expected.partition(".")[0] in CLASSES:
        return range(last)
    return the_case.order or ((last, *range(last)) if expected == "before" else range(last + 1))


def judge(expected, error, new_versions):
    if expected in ("ok", "before", "noop"):
        assert error is None, error
        assert new_versions == (0 if expected == "noop" else 1)
        return
    wanted, _, sub_condition = expected.partition(".")
    assert error is not None, f"is to fail with {expected}"
    assert f"[{CLASSES[wanted]}{'.' + sub_condition if sub_condition else ''}" in error and "SQLSTATE: 2D521" in error, error
    assert new_versions == 0
