# SPDX-License-Identifier: Apache-2.0
"""The judge of a played history: it runs the same transactions one after the other on a plain table of DuckDB and compares rows and answers. Under
Serializable in the order of the log; under WriteSerializable in one that puts blind appends later than they stand there (docs/concurrency.md)."""

import collections
import dataclasses
import functools

import delta_log
from histories.program import COLUMNS, SCHEMA, values


class Wrong(Exception):
    """What must not be, in words."""


def in_order(rows):
    return tuple(sorted(rows, key=lambda row: tuple((value is None, value or 0) for value in row)))


@dataclasses.dataclass
class Outcome:
    """What a transaction does and answers when it is alone with some rows."""

    rows: tuple
    gone: tuple
    come: tuple
    answers: list


def net(before, after):
    gone, come = collections.Counter(before), collections.Counter(after)
    return in_order((gone - come).elements()), in_order((come - gone).elements())


class Model:
    """The plain table."""

    def __init__(self, con):
        self.con = con
        con.execute("USE memory")
        con.execute(f"CREATE OR REPLACE TABLE memory.main.t ({SCHEMA})")
        con.execute("CREATE OR REPLACE TABLE every_row AS WITH n AS (SELECT range AS v FROM range(10) UNION ALL SELECT NULL) "
                    "SELECT a.v AS k, b.v AS x, c.v AS y FROM n a, n b, n c")  # fmt: skip
        self.known = {}

    def ask(self, sql):
        return self.con.execute(sql).fetchall()

    def load(self, rows):
        self.ask("DELETE FROM t")
        if rows:
            self.ask(f"INSERT INTO t VALUES {values(rows)}")

    def run(self, transaction, rows) -> Outcome:
        key = transaction.name, rows
        if key not in self.known:
            self.load(rows)
            answers = []
            for statement in transaction.statements:
                told = [self.ask(sql) for sql in statement.in_plain_words()]
                answers.append(told[-1] if told else None)  # None: whatever it is
            after = in_order(self.ask("FROM t"))
            self.known[key] = Outcome(after, *net(rows, after), answers)
        return self.known[key]

    def is_blind(self, transaction):
        """No row can ever satisfy what it reads, for example nothing."""
        return all(self.ask(f"SELECT count(*) FROM every_row WHERE {condition}") == [(0,)] for condition in transaction.reads)

    def read(self, transaction, rows):
        """The rows that it reads by itself."""
        if not transaction.reads:
            return ()
        self.load(rows)
        return in_order(self.ask("FROM t WHERE " + " OR ".join(f"({condition})" for condition in transaction.reads)))


class Judge:
    def __init__(self, played, con):
        self.played, self.history = played, played.history
        self.model = Model(con.cursor())
        self.endings = {ending.transaction.name: ending for ending in played.endings}
        self.owners = self.read_log()  # version to name
        self.states = {}
        for version in range(played.first, max([played.first, *self.owners]) + 1):
            self.states[version] = in_order(con.execute(f"SELECT {', '.join(COLUMNS)} FROM t AT (VERSION => {version})").fetchall())

    def read_log(self):
        owners = {}
        for version, lines in delta_log.commits(self.played.table).items():
            if version > self.played.first:
                (info,) = [line["commitInfo"] for line in lines if "commitInfo" in line]
                owners[version] = info.get("userMetadata")
        delta_log.active(self.played.table)  # no file is live twice
        return owners

    def check(self):
        """Raises Wrong, with the history."""
        try:
            self.check_all()
        except Wrong as wrong:
            raise Wrong(f"{self.played.story()}\n{wrong}") from None

    def check_all(self):
        self.check_acknowledged()
        for ending in self.played.endings:
            self.check_snapshot(ending)
        if self.history.level == "Serializable":
            for version, name in self.owners.items():
                self.explain(name, version, self.states[version - 1])
        elif not self.some_order(self.states[self.played.first], tuple(self.owners)):
            raise Wrong("no order of the transactions explains the table")

    def check_acknowledged(self):
        """What is in the log is what was committed, each once."""
        written = collections.Counter(self.owners.values())
        for name, count in written.items():
            ending = self.endings.get(name)
            if ending is None or ending.end != "committed" or count != 1:
                raise Wrong(f"{name} is {count} times in the log and was told: {ending and ending.end}")

    def check_snapshot(self, ending):
        """Answers are those of one version, whatever became of the transaction; if nothing was written, there was nothing to write."""
        if ending.base is None:
            return
        transaction = ending.transaction
        silent = ending.end == "committed" and transaction.name not in self.owners.values()
        outcomes = [self.model.run(transaction, self.states[version]) for version in range(ending.base[0], ending.base[1] + 1)]
        # In mode max a statement may find nothing left to do on a later version than the one that it has answered from.
        repaired = self.history.mode == "max" and not transaction.explicit and any(not (outcome.gone or outcome.come) for outcome in outcomes)
        for outcome in outcomes:
            nothing_to_do = repaired or not (outcome.gone or outcome.come)
            if same(outcome.answers[: len(ending.answers)], ending.answers) and (nothing_to_do or not silent):
                return
        what = " and wrote nothing" if silent else ""
        found = [outcome.answers for outcome in outcomes]
        raise Wrong(f"{transaction.name} answered {ending.answers}{what}; at the version that it read it should be {found}")

    def explains(self, name, version, rows):
        """What the transaction does alone with these rows, if that is what its commit has done, else None."""
        outcome = self.model.run(self.endings[name].transaction, rows)
        gone, come = net(self.states[version - 1], self.states[version])
        if (outcome.gone, outcome.come) != (gone, come):
            return None
        # In mode max rows may have been changed again after the client had been told how many they were.
        statements = self.endings[name].transaction.statements
        told = [(mine, theirs) for mine, theirs, statement in zip(outcome.answers, self.endings[name].answers, statements)
                if self.history.mode != "max" or statement.kind == "select"]  # fmt: skip
        return outcome if all(same([mine], [theirs]) for mine, theirs in told) else None

    def explain(self, name, version, rows):
        if self.explains(name, version, rows) is None:
            outcome = self.model.run(self.endings[name].transaction, rows)
            did = net(self.states[version - 1], self.states[version])
            raise Wrong(f"{name} as version {version}: removed {did[0]}, added {did[1]}, answered {self.endings[name].answers}; "
                        f"alone at its place in the log: {outcome.gone}, {outcome.come}, {outcome.answers}")  # fmt: skip

    def some_order(self, rows, left):
        """Everybody keeps his place in the log; only blind appends may come later."""

        blind = {version: self.model.is_blind(self.endings[name].transaction) for version, name in self.owners.items()}

        @functools.lru_cache(maxsize=None)
        def search(rows, left):
            if not left:
                return True
            for i, version in enumerate(left):
                outcome = self.explains(self.owners[version], version, rows)
                if outcome and search(outcome.rows, left[:i] + left[i + 1 :]):
                    return True
                if not blind[version]:
                    return False
            return False

        return search(rows, left)

    # ---------------------------------------------------------------- refusals

    def winners(self, window):
        return [self.endings[self.owners[version]].transaction for version in window[1:]]

    def reason(self, ending):
        """Why a transaction was refused: `rows` that it reads were changed; `metadata`; `equal rows` took the place of some; `by file`; else `needless`."""
        transaction = ending.transaction
        window = range(ending.base[0], ending.latest + 1)
        read = {version: self.model.read(transaction, self.states[version]) for version in window}
        if len(set(read.values())) > 1:
            return "rows"
        kinds = [{statement.kind for statement in each.statements} for each in [transaction, *self.winners(window)]]
        if any("alter" in each for each in kinds[1:]) or (kinds[0] & {"alter", "enable"} and any("enable" in each for each in kinds[1:])):
            return "metadata"
        if not self.history.vectors or self.history.mode == "strict":
            return "by file"
        for version, winner in zip(window[1:], self.winners(window)):
            if set(self.model.read(winner, self.states[version - 1])) & set(read[ending.base[0]]):
                return "equal rows"
        return "needless"


def same(mine, theirs):
    """Answers of statements; rows in no order. `mine` are the model's."""
    return len(mine) == len(theirs) and all(a is None or in_order(a) == in_order(b) for a, b in zip(mine, theirs))
