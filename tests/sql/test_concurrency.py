# SPDX-License-Identifier: Apache-2.0
"""Row-level concurrency between processes and between instances: who commits, who does not, and what the table holds then."""

import re

import duckdb
import pytest

import delta_log
from racing import race


def rows(con, query):
    return con.execute(query).fetchall()


@pytest.fixture
def table(con, lake):
    """1000 rows in one file: id = 0..999, v = id, s = 'old'."""
    con.execute("CREATE TABLE t AS SELECT range AS id, range AS v, 'old' AS s FROM range(1000)")
    return lake / "t"


@pytest.fixture
def writers(connect, lake):
    """writers(n): n connections to n databases, as separate as processes are."""
    return lambda count: [connect(lake) for _ in range(count)]


def open_transactions(writers, programs):
    """Each program executed inside BEGIN on a connection of its own; none committed."""
    connections = writers(len(programs))
    for con, program in zip(connections, programs):
        con.execute("BEGIN")
        for statement in [program] if isinstance(program, str) else program:
            con.execute(statement)
    return connections


def test_eight_processes_change_disjoint_rows_of_one_file(con, lake, table):
    programs = [
        ["DELETE FROM t WHERE id = 10"],
        ["DELETE FROM t WHERE id BETWEEN 100 AND 149"],
        ["DELETE FROM t WHERE id IN (200, 205, 999)"],
        ["UPDATE t SET s = 'p3' WHERE id = 300"],
        ["UPDATE t SET s = 'p4', v = v + 1000000 WHERE id >= 400 AND id < 450"],
        ["UPDATE t SET s = 'p5' WHERE id IN (500, 501, 502)"],
        ["UPDATE t SET s = 'p6' WHERE id = 600", "DELETE FROM t WHERE id = 601"],
        ["DELETE FROM t WHERE id = 700 OR id = 701", "INSERT INTO t VALUES (7000, 7000, 'p7')"],
    ]
    outcomes = race(lake, programs)
    assert [outcome.error for outcome in outcomes] == [None] * 8

    assert delta_log.version(table) == 8
    infos = [delta_log.info(table, version) for version in range(1, 9)]
    assert [info["readVersion"] for info in infos] == [0] * 8
    assert all(info["readVersion"] < version - 1 for version, info in enumerate(infos, 1) if version > 1)
    assert len({info["txnId"] for info in infos}) == 8

    gone = {10, *range(100, 150), 200, 205, 999, 601, 700, 701}
    expected = {i: (i, "old") for i in range(1000) if i not in gone}
    expected |= {300: (300, "p3"), 600: (600, "p6"), 7000: (7000, "p7")}
    expected |= {i: (i + 1000000, "p4") for i in range(400, 450)} | {i: (i, "p5") for i in (500, 501, 502)}
    read = rows(con, "SELECT id, v, s FROM t")
    assert len(read) == len(expected)
    assert {i: (v, s) for i, v, s in read} == expected


def test_a_chain_of_winners_on_one_file(con, writers, table):
    connections = open_transactions(writers, [f"DELETE FROM t WHERE id = {i}" for i in (1, 2, 3, 4, 5)])
    for connection in connections:
        connection.execute("COMMIT")
    assert delta_log.version(table) == 5
    assert delta_log.info(table)["readVersion"] == 0
    (add,) = delta_log.active(table).values()
    assert add["deletionVector"]["cardinality"] == 5
    assert rows(con, "SELECT count(*), sum(id) FROM t") == [(995, 499500 - 15)]


def test_a_winner_removes_a_whole_file(con, writers, table):
    con.execute("INSERT INTO t SELECT range + 5000, 0, 'second' FROM range(10)")
    loser, winner = open_transactions(writers, ["UPDATE t SET s = 'mine' WHERE id = 1", "DELETE FROM t WHERE id >= 5000"])
    winner.execute("COMMIT")
    loser.execute("COMMIT")
    assert rows(con, "SELECT count(*), count(*) FILTER (s = 'mine') FROM t") == [(1000, 1)]
    assert len(delta_log.active(table)) == 2


def test_several_files_all_or_nothing(con, writers, table):
    for part in range(1, 4):
        con.execute(f"INSERT INTO t SELECT range + {part}0000, 0, 'part' FROM range(10)")
    first, second = open_transactions(writers, ["DELETE FROM t WHERE id % 10 = 1", "DELETE FROM t WHERE id % 10 = 2"])
    first.execute("COMMIT")
    second.execute("COMMIT")
    assert rows(con, "SELECT count(*) FROM t WHERE id % 10 IN (1, 2)") == [(0,)]
    assert rows(con, "SELECT count(*) FROM t") == [((1000 + 30) * 8 // 10,)]

    clash, winner = open_transactions(writers, ["DELETE FROM t WHERE id % 10 IN (3, 4)", "DELETE FROM t WHERE id = 30004"])
    winner.execute("COMMIT")
    before = delta_log.version(table)
    with pytest.raises(duckdb.TransactionException):
        clash.execute("COMMIT")
    assert delta_log.version(table) == before
    assert rows(con, "SELECT count(*) FROM t WHERE id % 10 = 3") == [(103,)]


def test_blind_inserts_beside_anything(con, writers, table):
    programs = ["INSERT INTO t VALUES (7, 7, 'new')", "DELETE FROM t WHERE id < 10", "INSERT INTO t VALUES (8, 8, 'new')"]
    for connection in open_transactions(writers, programs):
        connection.execute("COMMIT")
    assert delta_log.version(table) == 3
    assert rows(con, "SELECT id FROM t WHERE s = 'new' ORDER BY id") == [(7,), (8,)]
    assert rows(con, "SELECT count(*) FROM t WHERE s = 'old'") == [(990,)]
    assert delta_log.info(table, 3)["isBlindAppend"] is True


def test_insert_that_matches_nothing_of_a_serializable_delete(con, lake, writers):
    con.execute('CREATE TABLE t WITH ("delta.isolationLevel" = \'Serializable\') AS SELECT range AS id FROM range(100)')
    insert, delete = open_transactions(writers, ["INSERT INTO t VALUES (500)", "DELETE FROM t WHERE id < 10"])
    insert.execute("COMMIT")
    delete.execute("COMMIT")
    assert rows(con, "SELECT count(*) FROM t") == [(91,)]
    insert, delete = open_transactions(writers, ["INSERT INTO t VALUES (20)", "DELETE FROM t WHERE id < 30"])
    insert.execute("COMMIT")
    with pytest.raises(duckdb.TransactionException, match="DELTA_CONCURRENT_APPEND"):
        delete.execute("COMMIT")


@pytest.mark.parametrize("mine", ["DELETE FROM t WHERE id BETWEEN 5 AND 9", "UPDATE t SET s = 'mine' WHERE id IN (7, 8)"])
@pytest.mark.parametrize("theirs", ["DELETE FROM t WHERE id = 7", "UPDATE t SET s = 'theirs' WHERE id = 7"])
def test_a_true_clash_explains_itself(con, writers, table, mine, theirs):
    loser, winner = open_transactions(writers, [mine, theirs])
    winner.execute("COMMIT")
    with pytest.raises(duckdb.TransactionException) as caught:
        loser.execute("COMMIT")
    message = str(caught.value)
    assert re.search(r"\[DELTA_CONCURRENT_(DELETE_DELETE|APPEND)(\.[A-Z_]+)?\]", message)
    assert "SQLSTATE: 2D521" in message
    assert "id=7" in message, message
    assert re.search(r"version 1\b", message) and re.search(r"version 0\b|read version 0|readVersion 0", message), message
    assert "/t" in message
    named = {line["add"]["path"] for lines in delta_log.commits(table).values() for line in lines if "add" in line}
    assert delta_log.files_on_disk(table) == named, "the loser left files behind"
    assert delta_log.version(table) == 1
    loser.execute(mine)  # the connection goes on, on the new version
    assert delta_log.version(table) == 2


def test_a_row_that_moves_into_what_was_read(con, writers, table):
    """Write skew: no common row, and yet no serial order."""
    first, second = open_transactions(
        writers, ["UPDATE t SET v = 5000 WHERE v = 1", "UPDATE t SET v = 1 WHERE v = 5000 OR v = 2"])
    first.execute("COMMIT")
    with pytest.raises(duckdb.TransactionException, match="DELTA_CONCURRENT_APPEND"):
        second.execute("COMMIT")


def test_a_delete_that_matched_nothing_still_has_read(con, writers, table):
    first, second = open_transactions(
        writers,
        [["DELETE FROM t WHERE id = 5000", "INSERT INTO t VALUES (5000, 1, 'upsert')"]] * 2)
    first.execute("COMMIT")
    with pytest.raises(duckdb.TransactionException, match="DELTA_CONCURRENT_APPEND"):
        second.execute("COMMIT")
    assert rows(con, "SELECT count(*) FROM t WHERE id = 5000") == [(1,)]


def test_insert_select_from_the_table_is_not_blind(con, writers, table):
    first, second = open_transactions(writers, ["INSERT INTO t SELECT max(id) + 1, 0, 'next' FROM t"] * 2)
    first.execute("COMMIT")
    assert delta_log.info(table)["isBlindAppend"] is False
    with pytest.raises(duckdb.TransactionException):
        second.execute("COMMIT")


def test_reading_another_part_of_the_table_does_no_harm(con, writers, table):
    reader, other = open_transactions(
        writers, ["INSERT INTO t SELECT id + 10000, v, 'copy' FROM t WHERE id < 10", "DELETE FROM t WHERE id = 500"])
    other.execute("COMMIT")
    reader.execute("COMMIT")
    assert rows(con, "SELECT count(*) FROM t") == [(1009,)]


def test_functions_and_like_are_tested_exactly(con, writers, table):
    con.execute("UPDATE t SET s = 'even' WHERE id % 2 = 0")
    odd, even = open_transactions(
        writers, ["DELETE FROM t WHERE s LIKE 'ol%' AND id % 3 = 1", "UPDATE t SET v = -1 WHERE s LIKE 'ev%'"])
    even.execute("COMMIT")
    odd.execute("COMMIT")
    assert rows(con, "SELECT count(*) FROM t WHERE v = -1") == [(500,)]
    assert delta_log.info(table)["readVersion"] < delta_log.version(table) - 1


def test_an_alteration_by_somebody_else_is_a_metadata_conflict(con, writers, table):
    loser, winner = open_transactions(writers, ["INSERT INTO t VALUES (1, 1, 'x')", "CREATE OR REPLACE TABLE t AS SELECT 1 AS id"])
    winner.execute("COMMIT")
    with pytest.raises(duckdb.TransactionException, match="DELTA_METADATA_CHANGED|DELTA_PROTOCOL_CHANGED"):
        loser.execute("COMMIT")


def test_two_creators_of_one_table(writers, lake):
    first, second = open_transactions(writers, ["CREATE TABLE n AS SELECT 1 AS id", "CREATE TABLE n AS SELECT 2 AS id"])
    first.execute("COMMIT")
    with pytest.raises(duckdb.TransactionException):
        second.execute("COMMIT")
    assert rows(first, "FROM n") == [(1,)]
    assert delta_log.version(lake / "n") == 0
    assert len(delta_log.files_on_disk(lake / "n")) == 1


def test_partitioned_tables_conflict_by_row_too(con, writers, lake):
    con.execute("CREATE TABLE t PARTITIONED BY (p) AS SELECT range AS id, range % 2 AS p, 'old' AS s FROM range(100)")
    connections = open_transactions(
        writers,
        ["UPDATE t SET s = 'a' WHERE p = 0 AND id < 10", "UPDATE t SET s = 'b' WHERE p = 0 AND id >= 90", "DELETE FROM t WHERE p = 1 AND id < 50"])
    for connection in connections:
        connection.execute("COMMIT")
    assert rows(con, "SELECT s, count(*) FROM t GROUP BY s ORDER BY s") == [("a", 5), ("b", 5), ("old", 65)]
    moved, reader = open_transactions(writers, ["UPDATE t SET p = 1 WHERE id = 4", "DELETE FROM t WHERE p = 1"])
    moved.execute("COMMIT")
    with pytest.raises(duckdb.TransactionException, match="DELTA_CONCURRENT_APPEND"):
        reader.execute("COMMIT")


def test_parameters_and_join_keys_are_part_of_what_was_read(con, connect, lake, table):
    first, second = connect(lake), connect(lake)
    for connection in (first, second):
        connection.execute("BEGIN")
    first.execute("UPDATE t SET v = 5000 WHERE id = ?", [7])
    second.execute("DELETE FROM t WHERE v = ? OR s LIKE ?", [5, "zz%"])
    first.execute("COMMIT")
    second.execute("COMMIT")
    assert rows(con, "SELECT count(*) FROM t") == [(999,)]

    second.execute("CREATE TEMP TABLE keys AS SELECT 100 AS id")
    second.execute("BEGIN")
    second.execute("DELETE FROM t USING keys WHERE t.id = keys.id")
    first.execute("UPDATE t SET v = 1 WHERE id = 101")  # beside the key
    second.execute("COMMIT")
    assert rows(con, "SELECT count(*) FROM t") == [(998,)]

    second.execute("BEGIN")
    second.execute("UPDATE t SET s = 'joined' FROM keys WHERE t.id = keys.id + 1")
    first.execute("UPDATE t SET s = 'theirs' WHERE id = 101")
    with pytest.raises(duckdb.TransactionException, match="id=101"):
        second.execute("COMMIT")


def test_replacing_a_table_by_a_query_on_itself(con, table):
    con.execute("CREATE OR REPLACE TABLE t AS SELECT id * 2 AS twice FROM t WHERE id < 3")
    assert rows(con, "FROM t ORDER BY twice") == [(0,), (2,), (4,)]
