# SPDX-License-Identifier: Apache-2.0
"""Those who act in a history: connections of this process, each with a database of its own, and processes that obey over a pipe. They live as long
as the test run; each history gives them a new table."""

import dataclasses
import multiprocessing

import duckdb

from conftest import connect_lake

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


def open_lake(lake):
    con = connect_lake(lake, threads=1)
    con.execute("SET braid_durability = 'none'")
    return con


def _obey(lake, pipe):
    con = open_lake(lake)
    while (sql := pipe.recv()) is not None:
        pipe.send(ask(con, sql))


class Connection:
    def __init__(self, lake):
        self.con = open_lake(lake)

    def send(self, sql):
        self.answer = ask(self.con, sql)

    def receive(self):
        return self.answer

    def close(self):
        self.con.close()


class Process:
    def __init__(self, lake):
        self.pipe, theirs = SPAWN.Pipe()
        self.worker = SPAWN.Process(target=_obey, args=(str(lake), theirs), daemon=True)
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


class Crew:
    def __init__(self, lake, connections=6, processes=3):
        self.lake = lake
        self.processes = [Process(lake) for _ in range(processes)]
        self.connections = [Connection(lake) for _ in range(connections)]
        self.reader = Connection(lake)  # makes the tables and reads them
        self.modes = ["strict", "sound"]
        if not ask(self.reader.con, "SET braid_concurrency_mode = 'max'").error:
            self.modes.append("max")

    def channels(self, writers):
        """One for each of a history's writers."""
        pools = {True: iter(self.processes), False: iter(self.connections)}
        return [next(pools[writer.process]) for writer in writers]

    def close(self):
        for channel in [*self.processes, *self.connections, self.reader]:
            channel.close()
