# SPDX-License-Identifier: Apache-2.0
"""Public cases C31 to C40: files that somebody compacts or sorts while others insert, delete, update and merge. Neither loses a row nor brings one
back; what the log counts is what a scan finds. The rearrangement is ours, another engine's (written by hand) or deltalake's."""

import json
import multiprocessing

import deltalake
import pytest

import delta_log
from conftest import connect_lake
from handmade import rearrange
from racing import PATIENCE

SPAWN = multiprocessing.get_context("spawn")


def ids(con, where="true"):
    return [i for (i,) in con.execute(f"SELECT id FROM t WHERE {where} ORDER BY id").fetchall()]


def assert_counts_agree(con, table):
    """C38: rows by the log's statistics and vectors, rows that count(*) gives, rows of a scan."""
    by_log = sum(json.loads(add["stats"])["numRecords"] - add.get("deletionVector", {}).get("cardinality", 0) for add in delta_log.active(table).values())
    counted, scanned = con.execute("SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM t WHERE hash(id) IS NOT NULL)").fetchone()
    assert by_log == counted == scanned


class Racer:
    """A transaction that has run its statements and waits for COMMIT."""

    def __init__(self, lake, *statements):
        self.con = connect_lake(lake)
        self.con.execute("BEGIN")
        for statement in statements:
            self.con.execute(statement)

    def commit(self):
        self.con.execute("COMMIT")
        self.con.close()


def two_files(con, vectors=()):
    con.execute("CREATE TABLE t (id BIGINT, v INT)")
    con.execute("INSERT INTO t SELECT range, 0 FROM range(10)")
    con.execute("INSERT INTO t SELECT range, 0 FROM range(10, 20)")
    for i in vectors:
        con.execute(f"DELETE FROM t WHERE id = {i}")


@pytest.mark.parametrize("level", ["Serializable", "WriteSerializable"])
def test_c31_an_insert_only_merge_after_a_compaction(con, lake, level):
    two_files(con)
    con.execute(f"ALTER TABLE t SET ('delta.isolationLevel' = '{level}')")
    merge = Racer(lake, "MERGE INTO t USING (SELECT range AS id FROM range(15, 25)) src ON t.id = src.id WHEN NOT MATCHED THEN INSERT VALUES (src.id, 1)")
    rearrange(con, lake / "t", "FROM t ORDER BY id", 4)
    merge.commit()
    assert ids(con) == list(range(25)) and ids(con, "v = 1") == list(range(20, 25))
    assert_counts_agree(con, lake / "t")


def appender(lake, me, reads, ready, pipe):
    """Each row by an INSERT of its own, one that reads the table or not."""
    con = connect_lake(lake)
    source = "SELECT {0}, count(*) FROM t WHERE id = {0}" if reads else "SELECT {0}, 0"
    ready.wait(PATIENCE)
    failures = []
    for turn in range(25):
        try:
            con.execute("INSERT INTO t " + source.format(me * 1000 + turn))
        except Exception as error:  # noqa: BLE001 - what the test looks at
            failures.append(str(error))
    pipe.send(failures)


def compact(con, table, whose):
    """How many files went."""
    if whose == "ours":
        return con.execute("OPTIMIZE t").fetchone()[1]["numFilesRemoved"]
    try:
        return deltalake.DeltaTable(table).optimize.compact()["numFilesRemoved"]
    except deltalake.exceptions.CommitFailedError:
        return 0  # its own retries ran out


@pytest.mark.parametrize("reads", [False, True])
@pytest.mark.parametrize("whose", ["ours", "deltalake's"])
def test_c32_appends_beside_a_loop_of_compactions(con, lake, whose, reads):
    """Somebody compacts all the time; no append of ours fails, nor does our OPTIMIZE."""
    con.execute("CREATE TABLE t (id BIGINT, v BIGINT) WITH ('delta.enableDeletionVectors' = 'false')")
    con.execute("INSERT INTO t VALUES (-1, 0)")
    ready = SPAWN.Barrier(3)
    runs = []
    for me in (1, 2):
        receiving, sending = SPAWN.Pipe(duplex=False)
        process = SPAWN.Process(target=appender, args=(str(lake), me, reads, ready, sending))
        process.start()
        sending.close()
        runs.append((process, receiving))
    ready.wait(PATIENCE)
    compactions = 0
    while any(process.is_alive() for process, _ in runs) or compactions == 0:
        compactions += compact(con, lake / "t", whose) > 0
    assert [receiving.recv() for _, receiving in runs] == [[], []]
    assert ids(con) == [-1, *range(1000, 1025), *range(2000, 2025)]
    assert con.execute("SELECT max(v) FROM t").fetchone() == (0,)
    assert_counts_agree(con, lake / "t")


OUTPUTS = {
    "one file": ["FROM t ORDER BY id DESC"],
    "several files": ["FROM t WHERE id % 3 = 0", "FROM t WHERE id % 3 = 1 ORDER BY hash(id)", "FROM t WHERE id % 3 = 2 ORDER BY id DESC"],
}
STATEMENTS = {
    "delete": ("DELETE FROM t WHERE id IN (3, 13)", [], [3, 13]),
    "update": ("UPDATE t SET v = 1 WHERE id IN (3, 13)", [3, 13], []),
    "merge": ("""MERGE INTO t USING (SELECT unnest([3, 13, 30]) AS id) src ON t.id = src.id WHEN MATCHED AND src.id = 3 THEN DELETE
                 WHEN MATCHED THEN UPDATE SET v = 1 WHEN NOT MATCHED THEN INSERT VALUES (src.id, 1)""", [13, 30], [3]),
}  # fmt: skip


ORDERS = ["ours after it", "ours before it", "theirs before it"]


@pytest.mark.parametrize("vectors", [(), (5, 15)])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("statement", STATEMENTS)
def test_c34_c38_vectors_and_compaction_on_the_same_files(con, lake, statement, output, order, vectors):
    """The statement wins and the compaction masks its rows in what it made, or the compaction wins and the statement follows its rows."""
    two_files(con, vectors)
    sql, changed, gone = STATEMENTS[statement]
    if order == "ours after it":
        racer = Racer(lake, "OPTIMIZE t" if output == "one file" else "OPTIMIZE t ZORDER BY (v, id)")
        con.execute(sql)
    else:
        racer = Racer(lake, sql)
        if order == "ours before it":
            con.execute("OPTIMIZE t" if output == "one file" else "OPTIMIZE t ZORDER BY (v, id)")
        else:
            rearrange(con, lake / "t", OUTPUTS[output], delta_log.version(lake / "t") + 1)
    racer.commit()
    assert ids(con) == [i for i in range(20) if i not in (*vectors, *gone)] + [i for i in changed if i >= 20]
    assert ids(con, "v = 1") == changed
    assert_counts_agree(con, lake / "t")


def test_c34_nothing_is_left_to_be_written(con, lake):
    """All rows were deleted before: the compaction has no output."""
    two_files(con, [i for i in range(20) if i % 10])
    racer = Racer(lake, "DELETE FROM t WHERE id = 10")
    con.execute("DELETE FROM t WHERE id = 0")
    racer.commit()
    assert ids(con) == [] and delta_log.active(lake / "t") == {}


@pytest.mark.parametrize("order", ORDERS)
def test_c36_rows_that_are_sorted_by_other_columns(con, lake, order):
    con.execute("CREATE TABLE t AS SELECT range AS id, hash(range)::VARCHAR AS a, range % 7 AS b FROM range(100)")
    con.execute("INSERT INTO t SELECT range, hash(range)::VARCHAR, range % 7 FROM range(100, 200)")
    eraser, updater = Racer(lake, "DELETE FROM t WHERE id IN (1, 50, 99, 100, 150)"), Racer(lake, "UPDATE t SET b = -1 WHERE id IN (2, 101)")
    if order == "ours after it":
        sorter = Racer(lake, "OPTIMIZE t ZORDER BY (a, b)")
    elif order == "ours before it":
        con.execute("OPTIMIZE t ZORDER BY (a, b)")
    else:
        rearrange(con, lake / "t", ["FROM t ORDER BY a, b LIMIT 120", "FROM t ORDER BY a, b OFFSET 120"], 2)
    eraser.commit()
    updater.commit()
    if order == "ours after it":
        sorter.commit()
    assert ids(con) == [i for i in range(200) if i not in (1, 50, 99, 100, 150)]
    assert ids(con, "b = -1") == [2, 101]
    assert_counts_agree(con, lake / "t")


def test_c37_zorder_on_a_snapshot_that_is_behind(con, lake):
    """A MERGE commits between its reading and its COMMIT."""
    two_files(con)
    sorter = Racer(lake, "OPTIMIZE t ZORDER BY (id)")
    con.execute(STATEMENTS["merge"][0])
    con.execute("INSERT INTO t VALUES (40, 0)")
    sorter.commit()
    assert ids(con) == [i for i in range(20) if i != 3] + [30, 40] and ids(con, "v = 1") == [13, 30]
    assert delta_log.info(lake / "t")["operation"] == "OPTIMIZE"
    assert_counts_agree(con, lake / "t")


@pytest.mark.parametrize("rewrite", ["overwrite", "copy on write", "optimize"])
def test_c40_the_commits_alone_give_the_same_rows(con, lake, rewrite):
    """Files with vectors that are rewritten: the remove names the vector, so a replay of the commits, without checkpoints, drops the file."""
    con.execute("CREATE TABLE t (id BIGINT, v INT) WITH ('delta.checkpointInterval' = '1')")
    con.execute("INSERT INTO t VALUES (1, 0), (2, 0), (3, 0)")
    con.execute("INSERT INTO t VALUES (4, 0), (5, 0)")
    con.execute("DELETE FROM t WHERE id = 1")
    if rewrite == "overwrite":
        con.execute("INSERT OVERWRITE t SELECT * FROM t")
    elif rewrite == "optimize":
        con.execute("OPTIMIZE t")
    else:
        con.execute("ALTER TABLE t SET ('delta.enableDeletionVectors' = 'false')")
        con.execute("UPDATE t SET v = 1 WHERE id = 2")
    for checkpoint in (*(lake / "t" / "_delta_log").glob("*.checkpoint*"), lake / "t" / "_delta_log" / "_last_checkpoint"):
        checkpoint.unlink()
    assert connect_lake(lake).execute("SELECT list(id ORDER BY id) FROM t").fetchone() == ([2, 3, 4, 5],)
    assert not any("deletionVector" in add for add in delta_log.active(lake / "t").values())
