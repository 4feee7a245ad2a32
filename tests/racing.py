# SPDX-License-Identifier: Apache-2.0
"""Transactions of several processes that all have run their statements before any of them commits. No sleeping: barriers only."""

import dataclasses
import multiprocessing

import duckdb

from conftest import connect_lake

SPAWN = multiprocessing.get_context("spawn")  # a fork of a process with DuckDB's threads would hang
PATIENCE = 120  # seconds; only a broken test waits that long


@dataclasses.dataclass
class Outcome:
    program: list[str]
    error: str | None = None
    error_type: str | None = None


def _transaction(lake, program, barrier, pipe):
    outcome = Outcome(program)
    try:
        con = connect_lake(lake)
        con.execute("BEGIN")
        for statement in program:
            con.execute(statement)
        barrier.wait(PATIENCE)
        con.execute("COMMIT")
    except Exception as error:  # noqa: BLE001 - the outcome is what the test looks at
        barrier.abort()
        outcome.error, outcome.error_type = str(error), type(error).__name__
    pipe.send(outcome)
    pipe.close()


def race(lake, programs: list[list[str]]) -> list[Outcome]:
    """Each program in a process of its own, inside BEGIN ... COMMIT; every COMMIT comes after every statement."""
    barrier = SPAWN.Barrier(len(programs))
    runs = []
    for program in programs:
        receiving, sending = SPAWN.Pipe(duplex=False)
        process = SPAWN.Process(target=_transaction, args=(str(lake), program, barrier, sending))
        process.start()
        sending.close()
        runs.append((process, receiving))
    outcomes = [receiving.recv() for _, receiving in runs]
    for process, _ in runs:
        process.join(PATIENCE)
    return outcomes


def overlapped(lake, *programs: str | list[str]) -> list[str | None]:
    """Each program inside BEGIN on an instance of its own, all on one version; then they COMMIT in turn. What each COMMIT said; None if nothing."""
    connections = [connect_lake(lake) for _ in programs]
    for con, program in zip(connections, programs):
        con.execute("BEGIN")
        for statement in [program] if isinstance(program, str) else program:
            con.execute(statement)
    said = []
    for con in connections:
        try:
            con.execute("COMMIT")
            said.append(None)
        except duckdb.TransactionException as error:
            said.append(str(error))
        con.close()
    return said
