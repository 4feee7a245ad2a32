# SPDX-License-Identifier: Apache-2.0
"""N18, N19, 104 to 106: what the history explains, appends that read nothing of their table, and processes that work for a while. Random programs beside
a serial oracle (107) are in tests/histories."""

import duckdb
import pytest

import delta_log
from conftest import connect_lake
from histories.writers import PATIENCE, SPAWN
from scenarios.play import MODES, Setup

INSERT, DELETE = "INSERT INTO t VALUES (200, 3)", "DELETE FROM t WHERE v = 3"


def replay_in_history_order(place, statements):
    with duckdb.connect() as plain:
        for statement in (*Setup().plain(), *(statements[delta_log.info(place.table, v)["operation"]] for v in (1, 2))):
            plain.execute(statement)
        return sorted(plain.execute("FROM t").fetchall())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("level", ["S", "WS"], ids=["N18b", "N18a"])
def test_history_explains_the_table_only_under_serializable(stage, mode, level):
    place = stage.new_place(Setup(), level)
    first, second = stage.take("connections", 2)
    for client in (first, second):
        client.enter(place, {"braid_concurrency_mode": mode})
    try:
        second.run("BEGIN")
        second.run(DELETE)
        first.run(INSERT)
        if second.ask("COMMIT").error:
            second.run(DELETE)
    finally:
        for client in (first, second):
            client.leave()
    replayed = replay_in_history_order(place, {"WRITE": INSERT, "DELETE": DELETE})
    read = sorted(place.rows())
    assert (200, 3) not in replayed
    assert read == (replayed if level == "S" else sorted([*replayed, (200, 3)]))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("source", ["VALUES (1, 1)", "SELECT id, 1 FROM other"], ids=["N19-values", "N19-select"])
def test_an_append_reads_no_file_of_its_table(stage, mode, source):
    place = stage.new_place(Setup(then=("DELETE FROM t WHERE id = 3",)), "S")
    (client,) = stage.take("connections", 1)
    client.enter(place, {"braid_concurrency_mode": mode})
    try:
        client.run("CREATE TABLE other AS SELECT 7 AS id")
        for path in delta_log.files_on_disk(place.table):
            (place.table / path).write_bytes(b"not a file that can be read")
        client.run("BEGIN")
        client.run(f"INSERT INTO t {source}")
        client.run("COMMIT")
    finally:
        client.leave()
    assert delta_log.info(place.table)["isBlindAppend"] is True


def _repeat(lake, statements, times, start, pipe):
    """Each transaction is tried again until it succeeds."""
    con = connect_lake(lake, threads=1)
    con.execute("SET braid_durability = 'none'")
    refused = 0
    start.wait(PATIENCE)
    for number in range(times):
        while True:
            try:
                con.execute("BEGIN")
                for statement in statements:
                    con.execute(statement.replace("%N%", str(number)))
                con.execute("COMMIT")
                break
            except duckdb.TransactionException:
                refused += 1
    pipe.send(refused)
    pipe.close()


def at_once(lake, programs):
    """Programs: (statements of one transaction, how often). Answers how often each was refused."""
    start = SPAWN.Barrier(len(programs))
    runs = []
    for statements, times in programs:
        receiving, sending = SPAWN.Pipe(duplex=False)
        process = SPAWN.Process(target=_repeat, args=(str(lake), statements, times, start, sending))
        process.start()
        sending.close()
        runs.append((process, receiving))
    refused = [receiving.recv() for _, receiving in runs]
    for process, _ in runs:
        process.join(PATIENCE)
    return refused


def test_104_increments_of_own_rows(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id, 0 AS c FROM range(8)")
    refused = at_once(lake, [([f"UPDATE t SET c = c + 1 WHERE id = {k}"], 12) for k in range(8)])
    assert refused == [0] * 8
    assert con.execute("FROM t ORDER BY id").fetchall() == [(k, 12) for k in range(8)]
    delta_log.active(lake / "t")  # no file is live twice


def test_105_increments_of_one_row(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id, 0 AS c FROM range(8)")
    at_once(lake, [(["UPDATE t SET c = c + 1 WHERE id = 3"], 10)] * 4)
    assert con.execute("SELECT id, c FROM t WHERE c > 0").fetchall() == [(3, 40)]


def test_106_transfers_beside_optimize_and_appends(con, lake):
    con.execute("CREATE TABLE t WITH ('delta.isolationLevel' = 'Serializable') AS SELECT range AS id, 100 AS balance FROM range(10)")
    transfer = ["UPDATE t SET balance = balance - 5 WHERE id = {}", "UPDATE t SET balance = balance + 5 WHERE id = {}"]
    programs = [([step.format(account) for step, account in zip(transfer, pair)], 8) for pair in ((0, 1), (1, 2), (5, 6))]
    programs += [(["OPTIMIZE t"], 5), (["INSERT INTO t VALUES (1000 + %N%, 0)"], 8)]
    refused = at_once(lake, programs)
    assert refused[4] == 0, "an append that reads nothing is never refused"
    for version in range(delta_log.version(lake / "t") + 1):
        total, accounts = con.execute(f"SELECT sum(balance), count(DISTINCT id) - count(*) FROM t AT (VERSION => {version})").fetchone()
        assert (total, accounts) == (1000, 0), version
    expected = {0: 60, 1: 100, 2: 140, 5: 60, 6: 140}
    assert con.execute("FROM t WHERE id < 10 ORDER BY id").fetchall() == [(i, expected.get(i, 100)) for i in range(10)]
    assert con.execute("SELECT count(*) FROM t").fetchone() == (18,)
