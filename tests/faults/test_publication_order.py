# SPDX-License-Identifier: Apache-2.0
"""The system calls of a commit: whatever a commit names is on stable storage before the commit file gets its name."""
import os
import re

import pytest

CALLS = "open,openat,creat,fsync,fdatasync,link,linkat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat"


class Trace:
    """The traced calls that succeeded, in order of completion, as (call, path or paths)."""

    def __init__(self, text, root):
        self.events = []
        unfinished = {}
        for line in text.splitlines():
            head = re.match(r"^(?:\[pid\s+)?(\d+)\]?\s+(.*)$", line)
            pid, line = head.groups() if head else ("0", line)
            if line.endswith("<unfinished ...>"):
                unfinished[pid] = line[: -len("<unfinished ...>")]
                continue
            resumed = re.match(r"<\.\.\. (\w+) resumed>(.*)", line)
            if resumed:
                line = unfinished.pop(pid, resumed.group(1) + "(") + resumed.group(2)
            match = re.match(r"(\w+)\((.*)\)\s+= (-?\d+)(.*)$", line)
            if not match or int(match.group(3)) < 0:
                continue
            call, arguments, _, result = match.groups()
            if root not in arguments + result:
                continue
            if call in ("fsync", "fdatasync"):
                self.events.append(("sync", self._relative(re.search(r"<(.*?)>", arguments).group(1), root)))
            elif call in ("link", "linkat", "rename", "renameat", "renameat2"):
                names = re.findall(r'"(.*?)"', arguments)
                self.events.append(("name", self._relative(names[-1], root)))
            elif call in ("mkdir", "mkdirat"):
                self.events.append(("mkdir", self._relative(re.search(r'"(.*?)"', arguments).group(1), root)))
            elif call in ("open", "openat", "creat") and ("O_CREAT" in arguments or call == "creat"):
                self.events.append(("create", self._relative(re.search(r"<(.*?)>", result).group(1), root)))

    @staticmethod
    def _relative(path, root):
        return os.path.relpath(path, root)

    def index(self, event, after=-1):
        for i, candidate in enumerate(self.events):
            if i > after and candidate == event:
                return i
        return None


@pytest.fixture
def traced(tmp_path, child):
    """traced(lake, *statements): the trace of a process that runs them."""

    def run(lake, *statements):
        log = str(tmp_path / "trace.txt")
        result = child(lake, *statements, prefix=["strace", "-f", "-y", "-s", "4096", "-o", log, "-e", f"trace={CALLS}"])
        assert result.returncode == 0, result.stderr
        return Trace(open(log).read(), str(lake))

    return run


STATEMENTS = {
    "insert": "INSERT INTO t SELECT i, 'new', i % 3 FROM range(5000, 5100) r(i)",
    "delete": "DELETE FROM t WHERE id % 3 = 1",  # its vector is too large to be written inline
    "update": "UPDATE t SET s = 'changed' WHERE id % 3 = 1",
}


@pytest.fixture(params=["plain", "partitioned"])
def table(request, lake, connect):
    partitions = "PARTITIONED BY (p)" if request.param == "partitioned" else ""
    connection = connect(lake)
    connection.execute(f"CREATE TABLE t (id BIGINT, s VARCHAR, p BIGINT) {partitions}")
    connection.execute("INSERT INTO t SELECT (hash(i) % 1048576)::BIGINT, 'old', i % 2 FROM range(4000) r(i)")
    connection.close()
    return lake


@pytest.mark.parametrize("statement", STATEMENTS)
def test_files_and_directories_are_synced_before_the_commit_is_named(traced, table, statement):
    trace = traced(table, STATEMENTS[statement])
    commit = "t/_delta_log/00000000000000000002.json"
    named = trace.index(("name", commit))
    assert named is not None, trace.events

    files = sorted({path for call, path in trace.events[:named]
                    if call == "create" and "/_delta_log" not in path and os.path.exists(os.path.join(table, path))})
    assert files, "the statement wrote no data or vector file"
    assert any(path.endswith(".bin") for path in files) == (statement != "insert")
    for path in files:
        created = trace.index(("create", path))
        synced = trace.index(("sync", path), created)
        assert synced is not None and synced < named, f"{path} is not synced before the commit"
        directory = trace.index(("sync", os.path.dirname(path)), created)
        assert directory is not None and directory < named, f"the directory of {path} is not synced before the commit"
    for i, (call, path) in enumerate(trace.events[:named]):
        if call == "mkdir" and not path.endswith(("/_braid", "_braid/leases")):  # what a lease needs, nothing that a commit names
            parent = trace.index(("sync", os.path.dirname(path)), i)
            assert parent is not None and parent < named, f"the parent of the new directory {path} is not synced before the commit"

    temporary = [path for call, path in trace.events[:named] if call == "create" and path.startswith("t/_delta_log/")]
    assert temporary, "the commit is not written to a temporary file first"
    synced = trace.index(("sync", temporary[-1]))
    assert synced is not None and synced < named, "the temporary file is not synced before it is named"
    assert trace.index(("sync", "t/_delta_log"), named) is not None, "the log directory is not synced after the commit"


def test_durability_none_syncs_nothing(traced, table):
    trace = traced(table, "SET braid_durability = 'none'", STATEMENTS["update"])
    assert trace.index(("name", "t/_delta_log/00000000000000000002.json")) is not None
    assert [event for event in trace.events if event[0] == "sync"] == []
