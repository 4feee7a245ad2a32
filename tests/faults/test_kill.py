# SPDX-License-Identifier: Apache-2.0
"""A process that dies at any step of a commit: the table reads as before or after, nothing acknowledged is lost, the next writer goes on.

The steps are the fault points of kernel/storage/fault_point.h: BRAID_FAULT_POINT=<name>:<n> ends the process, as kill -9 would, when it
reaches that point for the n-th time.
"""
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
KILLED = 137
STATEMENTS = {
    "insert": "INSERT INTO t SELECT i, 'new' FROM range(5000, 5100) r(i)",
    "delete": "DELETE FROM t WHERE id % 3 = 1",
    "update": "UPDATE t SET s = 'changed' WHERE id % 3 = 1",
}
ROWS = "SELECT id, s FROM t ORDER BY ALL"


def fault_points():
    """Every point that the sources have, so that a new one cannot be forgotten here."""
    header = (ROOT / "kernel" / "storage" / "fault_point.h").read_text()
    listed = re.search(r"kFaultPoints\[\] = \{(.*?)\n\};", header, re.S).group(1)
    return re.findall(r'"([a-z_.]+)",', re.sub(r"//.*", "", listed))


def contents(connect, lake):
    connection = connect(lake)
    rows = connection.execute(ROWS).fetchall()
    connection.close()
    return rows


def test_there_are_fault_points_at_each_step():
    assert len(fault_points()) >= 12, fault_points()


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("point", fault_points())
def test_killed(point, statement, tmp_path, connect, child):
    """Each point ends the process at its first, then at its second passage, unless the statements get through before."""
    kills = 0
    for hit in range(1, 3):
        lake = tmp_path / f"lake{hit}"
        lake.mkdir()
        connection = connect(lake)
        connection.execute("CREATE TABLE t (id BIGINT, s VARCHAR) WITH ('delta.checkpointInterval' = '1')")  # checkpoints take part
        connection.execute("INSERT INTO t SELECT (hash(i) % 65536)::BIGINT, 'old' FROM range(4000) r(i)")
        before = connection.execute(ROWS).fetchall()
        connection.close()

        result = child(lake, "UPDATE t SET s = 'acknowledged' WHERE id % 3 = 2", STATEMENTS[statement], env={"BRAID_FAULT_POINT": f"{point}:{hit}"})
        acknowledged = result.stdout.count("done")
        after_first = [(i, "acknowledged" if i % 3 == 2 else s) for i, s in before]
        after_second = {
            "insert": after_first + [(i, "new") for i in range(5000, 5100)],
            "delete": [(i, s) for i, s in after_first if i % 3 != 1],
            "update": [(i, "changed" if i % 3 == 1 else s) for i, s in after_first],
        }[statement]
        states = [sorted(before), sorted(after_first), sorted(after_second)]
        found = contents(connect, lake)
        assert found in states[acknowledged:acknowledged + 2], f"{acknowledged} statements were acknowledged, and the table is in none of the allowed states"

        connection = connect(lake)
        connection.execute("INSERT INTO t VALUES (-1, 'next writer')")
        connection.execute("DELETE FROM t WHERE id % 3 = 0 AND id >= 0")
        connection.close()
        assert contents(connect, lake) == [(-1, "next writer")] + [(i, s) for i, s in found if i % 3 != 0]
        if result.returncode == 0:
            break
        assert result.returncode == KILLED, result.stderr
        kills += 1
    if statement == "update":
        assert kills > 0, f"no statement passes the point {point}"
