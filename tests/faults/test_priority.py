# SPDX-License-Identifier: Apache-2.0
"""Maintenance gives way: its row groups are encoded by threads of low priority, and the device writes them while it goes on."""
import re

import pytest

ROWS = 400_000  # several row groups


@pytest.fixture
def calls(child, connect, lake, tmp_path):
    """calls(statement): (call, arguments) of the system calls that matter here, in the order of their ends."""
    con = connect(lake)
    con.execute("CREATE TABLE t (id BIGINT)")
    for low in 0, ROWS:
        con.execute(f"INSERT INTO t SELECT range FROM range({low}, {low + ROWS})")
    con.close()

    def run(*statements):
        log = tmp_path / "trace.txt"
        trace = ["strace", "-f", "-y", "-s", "4096", "-o", str(log), "-e", "trace=setpriority,sync_file_range,fsync"]
        result = child(lake, *statements, prefix=trace)
        assert result.returncode == 0, result.stderr
        return re.findall(r"(setpriority|sync_file_range|fsync)\((.*?) ?(?:\)|<unfinished)", log.read_text())

    return run


@pytest.mark.parametrize("statement", ["OPTIMIZE t", "OPTIMIZE t ZORDER BY (id)"])
def test_maintenance_encodes_at_low_priority(calls, statement):
    lowered = [arguments for call, arguments in calls(statement) if call == "setpriority"]
    assert len(lowered) >= 2 * ROWS // 122_880 and set(lowered) == {"PRIO_PROCESS, 0, 10"}


def test_other_statements_keep_their_priority(calls):
    assert not [call for call, _ in calls(f"INSERT INTO t SELECT range FROM range({ROWS})", "DELETE FROM t WHERE id % 3 = 0") if call == "setpriority"]


def test_the_device_writes_while_a_large_file_grows(calls):
    seen = [call for call, arguments in calls("OPTIMIZE t") if ".parquet>" in arguments]
    assert seen.index("fsync") >= 3 and set(seen[:3]) == {"sync_file_range"}, seen


def test_without_durability_nobody_asks_it_to(calls):
    assert not [call for call, _ in calls("SET braid_durability = 'none'", "OPTIMIZE t") if call == "sync_file_range"]
