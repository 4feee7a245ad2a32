# SPDX-License-Identifier: Apache-2.0
"""Public cases C57, C59, C142, C152, C174: versions are made once, files of no bytes are judged by what they are, old versions keep their time,
and a long log is not read."""

import json
import multiprocessing
import os
import shutil

import duckdb
import pytest

import delta_log
from conftest import connect_lake
from racing import PATIENCE

SPAWN = multiprocessing.get_context("spawn")
PROCESSES, APPENDS = 8, 200


def rows(con, query):
    return con.execute(query).fetchall()


def appender(lake, me, ready):
    con = connect_lake(lake, threads=1)
    con.execute("SET braid_durability = 'none'")
    ready.wait(PATIENCE)
    for turn in range(APPENDS):
        con.execute(f"INSERT INTO t VALUES ({me * APPENDS + turn})")


def test_c57_no_version_is_written_twice(con, lake):
    """1600 appends by 8 processes: 1600 versions without a gap, and every row."""
    con.execute("CREATE TABLE t (id BIGINT) WITH ('delta.checkpointInterval' = '400')")
    ready = SPAWN.Barrier(PROCESSES)
    writers = [SPAWN.Process(target=appender, args=(str(lake), me, ready)) for me in range(PROCESSES)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(PATIENCE)
    assert [writer.exitcode for writer in writers] == [0] * PROCESSES
    assert sorted(delta_log.commits(lake / "t")) == list(range(PROCESSES * APPENDS + 1))
    assert rows(con, "SELECT count(*), count(DISTINCT id), min(id), max(id) FROM t") == [(1600, 1600, 0, 1599)]


@pytest.fixture
def checkpointed(con, lake):
    """13 versions, a checkpoint at 10."""
    con.execute("CREATE TABLE t (id BIGINT)")
    for i in range(12):
        con.execute(f"INSERT INTO t VALUES ({i})")
    return lake / "t" / "_delta_log"


@pytest.mark.parametrize("kind", ["_last_checkpoint", "checkpoint", "checksum", "compacted commits"])
def test_c59_c142_empty_files_that_only_help_are_passed_over(checkpointed, lake, connect, kind):
    names = {"_last_checkpoint": "_last_checkpoint", "checkpoint": f"{10:020}.checkpoint.parquet", "checksum": f"{12:020}.crc", "compacted commits": f"{3:020}.{9:020}.compacted.json"}  # fmt: skip
    path = checkpointed / names[kind]
    assert path.exists() or kind == "compacted commits"
    path.write_bytes(b"")
    con = connect(lake)
    assert rows(con, "SELECT count(*), sum(id)::INT FROM t") == [(12, 66)]
    con.execute("INSERT INTO t VALUES (100)")
    con.execute("DELETE FROM t WHERE id = 3")
    assert rows(connect(lake), "SELECT count(*), sum(id)::INT FROM t") == [(12, 163)]


@pytest.mark.parametrize("text", ["", "garbage", "{}", "[]", '{"version":999,"size":1}', '{"version":10}', '{"version":"ten"}', "null", "\x00" * 40])
def test_c142_the_pointer_is_only_a_hint(checkpointed, lake, connect, text):
    (checkpointed / "_last_checkpoint").write_text(text)
    assert rows(connect(lake), "SELECT count(*), sum(id)::INT FROM t") == [(12, 66)]


@pytest.mark.parametrize("version", [12, 11])
def test_c59_an_empty_commit_is_an_error_that_says_what_to_do(checkpointed, lake, connect, version):
    (checkpointed / f"{version:020}.json").write_bytes(b"")
    con = connect(lake)
    for statement in ("FROM t", "INSERT INTO t VALUES (1)", "DELETE FROM t"):
        with pytest.raises(duckdb.IOException, match=f"{version:020}.json") as caught:
            con.execute(statement)
        assert "empty" in str(caught.value)
    assert rows(con, "SELECT count(*) FROM t AT (VERSION => 10)") == [(10,)]


def test_c152_times_survive_a_copy(con, lake, tmp_path):
    """With in-commit timestamps; without them the documented fallback is the time of the file."""
    con.execute("CREATE TABLE t (id BIGINT) WITH ('delta.enableInCommitTimestamps' = 'true')")
    for i in range(4):
        con.execute(f"INSERT INTO t VALUES ({i})")
    times = [delta_log.info(lake / "t", version)["inCommitTimestamp"] for version in range(5)]
    assert times == sorted(set(times))
    copies = tmp_path / "copies"
    shutil.copytree(lake / "t", copies / "t", copy_function=shutil.copy)  # modification times are those of the copy
    for number, path in enumerate(sorted((copies / "t" / "_delta_log").glob("*.json"))):
        os.utime(path, (2_000_000_000 - number,) * 2)
    copy = connect_lake(copies)
    for version, time in enumerate(times):
        assert rows(copy, f"SELECT count(*) FROM t AT (TIMESTAMP => make_timestamptz({time * 1000}))") == [(version,)]
        assert rows(copy, f"SELECT epoch_ms(timestamp) FROM braid_history('t') WHERE version = {version}") == [(time,)]


def test_c174_what_lies_before_the_checkpoint_is_not_read(con, lake, connect):
    """500 versions, of which those before the checkpoint are garbage now: opening must not look at them."""
    con.execute("CREATE TABLE t (id BIGINT) WITH ('delta.checkpointInterval' = '490')")
    con.execute("SET braid_durability = 'none'")
    for i in range(495):
        con.execute(f"INSERT INTO t VALUES ({i})")
    log = lake / "t" / "_delta_log"
    assert json.loads((log / "_last_checkpoint").read_text())["version"] == 490
    for version in range(490):
        (log / f"{version:020}.json").write_text("garbage")
        (log / f"{version:020}.crc").unlink(missing_ok=True)
    later = connect(lake)
    assert rows(later, "SELECT count(*), sum(id)::INT FROM t") == [(495, sum(range(495)))]
    later.execute("DELETE FROM t WHERE id = 494")
    assert rows(later, "SELECT max(id) FROM t") == [(493,)]
