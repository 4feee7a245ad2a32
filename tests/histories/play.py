# SPDX-License-Identifier: Apache-2.0
"""Plays a history on the real engine, one step after the other, and writes down what every transaction was told."""

import dataclasses
import pathlib

from histories.program import History, Transaction
from histories.writers import tell


class Unexpected(Exception):
    """What no history should meet; tells the history."""


@dataclasses.dataclass
class Ending:
    transaction: Transaction
    base: tuple[int, int] | None = None  # its snapshot is one of these versions or between
    answers: list = dataclasses.field(default_factory=list)  # of its statements
    end: str = ""  # committed, refused, rolled back
    latest: int = -1  # version when it had ended
    error: str = ""


@dataclasses.dataclass
class Played:
    history: History
    table: pathlib.Path
    first: int  # version before the first step
    endings: list[Ending]
    events: list[str]

    def story(self):
        h = self.history
        return "\n".join([f"-- seed {h.seed}: {h.level}, {h.mode}", *(f"{sql};" for sql in h.set_up()), *self.events])


class Actor:
    """One writer's way through its transactions."""

    def __init__(self, number, writer, channel):
        self.name, self.channel = f"{'process' if writer.process else 'connection'} {number}", channel
        self.endings = [Ending(transaction) for transaction in writer.transactions]
        self.left = [(ending, action) for ending in self.endings for action in self.actions(ending.transaction)]

    @staticmethod
    def actions(transaction):
        statements = [(statement.sql, True) for statement in transaction.statements]
        return [("BEGIN", False), *statements, (transaction.end, False)] if transaction.explicit else statements

    def start(self):
        """Sends the next action off; False if an error has ended its transaction already."""
        self.ending, (self.action, self.is_statement) = self.left.pop(0)
        if self.ending.end:
            return False
        if not self.is_statement or not self.ending.transaction.explicit:
            tell(self.channel, f"SET braid_user_metadata = '{self.ending.transaction.name}'")
        self.channel.send(self.action)
        return True

    def finish(self, answer, before, after):
        """`before`, `after`: newest versions before and after the step. Returns the step in words."""
        ending, transaction = self.ending, self.ending.transaction
        said = answer.error or (answer.rows if self.is_statement else "done")
        event = f"{self.action};  -- {self.name}, {transaction.name}, version {before}: {said}"
        if self.is_statement and ending.base is None:
            ending.base = (before, after)
        ending.latest = after
        if answer.error:
            ending.end, ending.error = "refused", answer.error
            if not answer.conflict:
                raise Unexpected(event)
            if transaction.explicit and self.action != "COMMIT":
                tell(self.channel, "ROLLBACK")
            return event
        if self.is_statement:
            ending.answers.append(answer.rows)
        if self.action == "ROLLBACK":
            ending.end = "rolled back"
        elif self.action == "COMMIT" or not transaction.explicit:
            ending.end = "committed"
        return event


def latest(table):
    return max(int(path.stem) for path in (table / "_delta_log").glob("*.json") if path.stem.isdigit())


def play(history, crew, lake) -> Played:
    """In a lake of its own."""
    channels = crew.meet(lake, history)
    tell(crew.reader, *history.set_up())
    actors = [Actor(i, writer, channel) for i, (writer, channel) in enumerate(zip(history.writers, channels), 1)]
    table = lake / "t"
    played = Played(history, table, latest(table), [ending for actor in actors for ending in actor.endings], [])
    try:
        for step in history.steps:
            before = latest(table)
            started = [actors[i] for i in step if actors[i].start()]
            answers = [actor.channel.receive() for actor in started]
            after = latest(table)
            if len(started) > 1:
                played.events.append(f"-- {len(started)} at the same time:")
            played.events += [actor.finish(answer, before, after) for actor, answer in zip(started, answers)]
    except Unexpected as error:
        played.events.append(str(error))
        raise Unexpected(played.story()) from None
    return played
