# SPDX-License-Identifier: Apache-2.0
"""Damaged tables: reading and writing give an error that names table, version and file; nothing is written, nothing crashes."""
import json
import os

import duckdb
import pytest

from faults.conftest import tree


def commit_path(table, version):
    return table / "_delta_log" / f"{version:020d}.json"


def edit_commit(table, version, change):
    """Rewrites a commit: `change` gets its actions as a list of objects and answers the new list."""
    path = commit_path(table, version)
    actions = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(action) + "\n" for action in change(actions)))


def active_vector(table):
    """The path of the only vector file."""
    return next(path for path in table.iterdir() if path.suffix == ".bin")


def flip_byte(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 0xFF
    path.write_bytes(bytes(data))


def set_vector(field, value):
    def change(actions):
        for action in actions:
            if "add" in action:
                action["add"]["deletionVector"][field] = value
        return actions

    return change


def replace_text(old, new):
    return lambda actions: json.loads(json.dumps(actions).replace(old, new))


# name: (damage, words that the error must contain)
DAMAGES = {
    "truncated commit": (lambda t: os.truncate(commit_path(t, 2), 200), ["00000000000000000002.json"]),
    "garbled commit": (lambda t: commit_path(t, 2).write_bytes(os.urandom(300)), ["00000000000000000002.json"]),
    "empty first commit": (lambda t: commit_path(t, 0).write_bytes(b""), ["empty", "version 0"]),
    "empty commit": (lambda t: commit_path(t, 2).write_bytes(b""), ["empty", "00000000000000000002.json"]),
    "missing version": (lambda t: commit_path(t, 1).unlink(), ["version", "1"]),
    "missing first version": (lambda t: commit_path(t, 0).unlink(), ["version"]),
    "vector checksum": (lambda t: flip_byte(active_vector(t), -1), [".bin"]),
    "vector bytes": (lambda t: flip_byte(active_vector(t), 30), [".bin"]),
    "vector cut": (lambda t: os.truncate(active_vector(t), 40), [".bin"]),
    "vector missing": (lambda t: active_vector(t).unlink(), [".bin"]),
    "vector size": (lambda t: edit_commit(t, 2, set_vector("sizeInBytes", 20)), [".bin"]),
    "vector cardinality": (lambda t: edit_commit(t, 2, set_vector("cardinality", 7)), ["cardinality"]),
    "data file missing": (lambda t: next(p for p in t.iterdir() if p.suffix == ".parquet").unlink(), [".parquet"]),
    "data file cut": (lambda t: os.truncate(next(p for p in t.iterdir() if p.suffix == ".parquet"), 100), [".parquet"]),
    "two protocols": (lambda t: edit_commit(t, 0, lambda a: a + [x for x in a if "protocol" in x]), ["two protocol", "version 0"]),
    "unknown feature": (lambda t: edit_commit(t, 0, replace_text('"deletionVectors"', '"timeMachine"')), ["timeMachine"]),
    "unknown type": (lambda t: edit_commit(t, 0, replace_text('\\"long\\"', '\\"hyperloglog\\"')), ["hyperloglog"]),
    "schema does not parse": (lambda t: edit_commit(t, 0, replace_text('{\\"type\\":\\"struct\\"', '{\\"type\\":\\"str')), ["schema"]),
}


@pytest.fixture
def table(lake, connect):
    connection = connect(lake)
    connection.execute("CREATE TABLE t (id BIGINT, s VARCHAR)")
    connection.execute("INSERT INTO t SELECT (hash(i) % 1048576)::BIGINT, 'x' FROM range(5000) r(i)")
    connection.execute("DELETE FROM t WHERE id % 3 = 1")
    connection.close()
    for checksum in (lake / "t" / "_delta_log").glob("*.crc"):
        checksum.unlink()  # a checksum may describe the state before the damage
    return lake / "t"


@pytest.mark.parametrize("name", DAMAGES)
def test_damage(name, table, lake, connect):
    damage, words = DAMAGES[name]
    damage(table)
    before = tree(lake)
    connection = connect(lake)
    statements = ["SELECT sum(id), count(s) FROM t", "DELETE FROM t WHERE id % 3 = 2"]
    if not name.startswith(("vector", "data")):  # an append reads neither vectors nor data
        statements.append("INSERT INTO t VALUES (1, 'y')")
    for statement in statements:
        with pytest.raises(duckdb.Error) as caught:
            connection.execute(statement).fetchall()
        message = str(caught.value)
        assert not isinstance(caught.value, duckdb.InternalException), message
        assert str(table) in message, message
        for word in words:
            assert word in message, message
    assert tree(lake) == before
    assert connection.execute("SELECT 42").fetchall() == [(42,)]  # the database is still usable


@pytest.fixture
def checkpointed(lake, connect):
    connection = connect(lake)
    connection.execute("CREATE TABLE t (id BIGINT, s VARCHAR)")
    for i in range(12):
        connection.execute(f"INSERT INTO t VALUES ({i}, 'x')")
    connection.close()
    assert (lake / "t" / "_delta_log" / "00000000000000000010.checkpoint.parquet").exists()
    return lake / "t"


def test_unreadable_checkpoint_falls_back_to_the_commits(checkpointed, lake, connect):
    os.truncate(checkpointed / "_delta_log" / "00000000000000000010.checkpoint.parquet", 50)
    assert connect(lake).execute("SELECT count(*), sum(id) FROM t").fetchall() == [(12, 66)]


def test_unreadable_checkpoint_without_commits_is_an_error(checkpointed, lake, connect):
    os.truncate(checkpointed / "_delta_log" / "00000000000000000010.checkpoint.parquet", 50)
    commit_path(checkpointed, 0).unlink()
    with pytest.raises(duckdb.Error, match="00000000000000000010.checkpoint.parquet"):
        connect(lake).execute("SELECT count(*) FROM t").fetchall()


def test_garbled_last_checkpoint_is_only_a_hint(checkpointed, lake, connect):
    (checkpointed / "_delta_log" / "_last_checkpoint").write_text("{garbled")
    assert connect(lake).execute("SELECT count(*), sum(id) FROM t").fetchall() == [(12, 66)]
