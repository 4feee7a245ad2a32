# SPDX-License-Identifier: Apache-2.0
"""Transactions that all have run their statements before any of them commits. No sleeping: barriers and named pipes only."""

import concurrent.futures
import dataclasses
import multiprocessing
import os
import tempfile

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


HOLD = "BRAID_HOLD_COMMIT"  # kernel/storage/fault_point.h


def commit_late(con, statement, *meanwhile, parameters=None):
    """The answer of a statement outside of BEGIN. When it has run and before it commits, meanwhile[0]() is called; should it run again,
    before that commit meanwhile[1](), and so on; it must come to each of them."""
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(1) as pool:
        pipes = [os.path.join(folder, str(number)) for number in range(len(meanwhile))]
        for pipe in pipes:
            os.mkfifo(pipe)
        os.environ[HOLD] = pipes[0]
        ends = []
        running = pool.submit(lambda: con.execute(statement, parameters).fetchall())

        def let_go(_):  # the end of a statement that never came to its place must not leave us waiting there
            ends.extend(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK) for pipe in pipes)

        running.add_done_callback(let_go)
        try:
            for number, action in enumerate(meanwhile):
                with open(pipes[number], "w"):
                    del os.environ[HOLD]
                    assert not running.done(), f"the statement has ended before its commit {number + 1}: {running.exception()}"
                    action()
                    if number + 1 < len(meanwhile):
                        os.environ[HOLD] = pipes[number + 1]
        finally:
            os.environ.pop(HOLD, None)
            concurrent.futures.wait([running], PATIENCE)
            for end in ends:
                os.close(end)
        return running.result()
