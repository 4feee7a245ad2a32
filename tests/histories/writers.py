# SPDX-License-Identifier: Apache-2.0
"""Those who act in a history: connections of this process, each with a database of its own, and processes that obey over a pipe. They live as long
as the test run; each history gives them a new lake."""

import dataclasses
import multiprocessing

import duckdb

from conftest import open_duckdb, quote

SPAWN = multiprocessing.get_context("spawn")  # a fork of a process with DuckDB's threads would hang
PATIENCE = 120  # seconds; only a broken test waits that long


@dataclasses.dataclass
class Answer:
    rows: list | None = None
    error: str | None = None

    @property
    def conflict(self):
        return self.error is not None and "SQLSTATE: 2D521" in self.error


def ask(con, sql) -> Answer:
    try:
        return Answer(rows=con.execute(sql).fetchall())
    except duckdb.Error as error:
        return Answer(error=f"{type(error).__name__}: {error}")


def open_one():
    con = open_duckdb(threads=1)
    con.execute("SET braid_durability = 'none'")
    return con


def _obey(pipe):
    con = open_one()
    while (sql := pipe.recv()) is not None:
        pipe.send(ask(con, sql))


class Connection:
    def __init__(self):
        self.con = open_one()

    def send(self, sql):
        self.answer = ask(self.con, sql)

    def receive(self):
        return self.answer

    def close(self):
        self.con.close()


class Process:
    def __init__(self):
        self.pipe, theirs = SPAWN.Pipe()
        self.worker = SPAWN.Process(target=_obey, args=(theirs,), daemon=True)
        self.worker.start()
        theirs.close()

    def send(self, sql):
        self.pipe.send(sql)

    def receive(self):
        assert self.pipe.poll(PATIENCE), "a process does not answer"
        return self.pipe.recv()

    def close(self):
        self.pipe.send(None)
        self.worker.join(PATIENCE)


def tell(channel, *statements):
    """What cannot fail."""
    for sql in statements:
        channel.send(sql)
        answer = channel.receive()
        assert not answer.error, f"{sql}: {answer.error}"


class Crew:
    def __init__(self, connections=6, processes=3):
        self.processes = [Process() for _ in range(processes)]
        self.connections = [Connection() for _ in range(connections)]
        self.reader = Connection()  # makes the tables and reads them
        self.knows = {"strict", "sound"}
        if not ask(self.reader.con, "SET braid_concurrency_mode = 'max'").error:
            self.knows.add("max")

    def meet(self, lake, history):
        """Lets everybody open the lake; a channel for each of the history's writers."""
        pools = {True: iter(self.processes), False: iter(self.connections)}
        channels = [next(pools[writer.process]) for writer in history.writers]
        mode = history.mode if history.mode in self.knows else "sound"
        for channel in [self.reader, *channels]:
            tell(channel, "USE memory", "DETACH DATABASE IF EXISTS lake", f"ATTACH {quote(lake)} AS lake (TYPE braid)", "USE lake")
            tell(channel, f"SET braid_concurrency_mode = '{mode}'")
        return channels

    def close(self):
        for channel in [*self.processes, *self.connections, self.reader]:
            channel.close()
