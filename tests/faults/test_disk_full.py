# SPDX-License-Identifier: Apache-2.0
"""A full disk while data, vector or commit bytes are written: a clear error, the table as before, nothing left behind."""
import pytest

from faults.conftest import tree


CASES = {
    # what fills the disk: path part, bytes until full, statement
    "data file of an insert": ("/t/", 100, "INSERT INTO t SELECT i, 'new' FROM range(20000, 30000) r(i)"),
    "data file of an update": (".parquet", 0, "UPDATE t SET s = 'changed' WHERE id % 3 = 1"),
    "vector file of a delete": (".bin", 0, "DELETE FROM t WHERE id % 3 = 1"),
    "commit of an insert": ("_delta_log", 0, "INSERT INTO t VALUES (-1, 'new')"),
    "commit of a delete": ("_delta_log", 10, "DELETE FROM t WHERE id % 3 = 1"),
}


@pytest.mark.parametrize("case", CASES)
def test_disk_full(case, preloaded, lake, connect, child):
    part, after, statement = CASES[case]
    connection = connect(lake)
    connection.execute("CREATE TABLE t (id BIGINT, s VARCHAR)")
    connection.execute("INSERT INTO t SELECT (hash(i) % 65536)::BIGINT, 'old' FROM range(5000) r(i)")
    rows = connection.execute("SELECT id, s FROM t ORDER BY ALL").fetchall()
    connection.close()
    before = tree(lake)

    result = child(lake, statement, env={"LD_PRELOAD": preloaded("disk_full"), "DISK_FULL_PATH": part, "DISK_FULL_AFTER": str(after)})
    assert result.returncode == 1, result.stderr
    assert "No space left on device" in result.stderr, result.stderr
    assert tree(lake) == before, "the failed statement left files behind"

    connection = connect(lake)
    assert connection.execute("SELECT id, s FROM t ORDER BY ALL").fetchall() == rows
    connection.execute(statement)  # with space again the same statement works
