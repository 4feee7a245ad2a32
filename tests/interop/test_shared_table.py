# SPDX-License-Identifier: Apache-2.0
"""Two processes of deltalake and two of ours write to one table at once: nothing of either side is lost."""

import multiprocessing

import deltalake
import pyarrow as pa
import pytest

import delta_log
from conftest import connect_lake
from judges import assert_all_see

SPAWN = multiprocessing.get_context("spawn")
ROUNDS = 6
PATIENCE = 120


def ours(lake, me, barrier, pipe):
    """Each round appends a block and deletes half of it in another transaction."""
    con = connect_lake(lake)
    barrier.wait(PATIENCE)
    for turn in range(ROUNDS):
        first = me * 100000 + turn * 100
        con.execute(f"INSERT INTO t SELECT range + {first}, '{me}' FROM range(100)")
        con.execute(f"DELETE FROM t WHERE id >= {first} AND id < {first + 50}")
    pipe.send(("done", 0))


def theirs(path, me, barrier, pipe):
    barrier.wait(PATIENCE)
    lost = 0

    def until_it_works(action):
        nonlocal lost
        for _ in range(500):
            try:
                return action(deltalake.DeltaTable(path))
            except (deltalake.exceptions.CommitFailedError, deltalake.exceptions.DeltaError, OSError):
                lost += 1
        raise AssertionError("deltalake never got through")

    for turn in range(ROUNDS):
        first = me * 100000 + turn * 100
        rows = pa.table({"id": pa.array(range(first, first + 100), pa.int64()), "s": pa.array([str(me)] * 100)})
        until_it_works(lambda table: deltalake.write_deltalake(table, rows, mode="append"))
        until_it_works(lambda table: table.delete(f"id >= {first} AND id < {first + 50}"))
    pipe.send(("done", lost))


@pytest.mark.parametrize("vectors", ["true", "false"])
def test_nothing_is_lost_beside_deltalake(con, lake, vectors):
    con.execute(f'CREATE TABLE t (id BIGINT, s VARCHAR) WITH ("delta.enableDeletionVectors" = {vectors})')
    barrier = SPAWN.Barrier(4)
    runs = []
    for target, where, me in ((ours, lake, 1), (ours, lake, 2), (theirs, lake / "t", 3), (theirs, lake / "t", 4)):
        receiving, sending = SPAWN.Pipe(duplex=False)
        process = SPAWN.Process(target=target, args=(str(where), me, barrier, sending))
        process.start()
        sending.close()
        runs.append((process, receiving))
    for process, receiving in runs:
        assert receiving.recv()[0] == "done"
        process.join(PATIENCE)
        assert process.exitcode == 0
    expected = {me * 100000 + turn * 100 + i for me in (1, 2, 3, 4) for turn in range(ROUNDS) for i in range(50, 100)}
    read = con.execute("SELECT id FROM t").fetchall()
    assert len(read) == len(expected) and {i for (i,) in read} == expected
    assert delta_log.version(lake / "t") >= 4 * ROUNDS * 2
    assert_all_see(con, lake / "t")
