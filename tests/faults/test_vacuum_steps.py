# SPDX-License-Identifier: Apache-2.0
"""VACUUM that dies before each of its operations on files: no version that it should keep has lost anything, and the next VACUUM finishes the work.
Beside it others commit at each of its steps."""
import shutil

import pytest

import delta_log
from conftest import connect_lake
from judges import seen_by_deltalake

NO_CHECK = "SET braid_retention_check = false"
VACUUM = "VACUUM t {} RETAIN 0 HOURS"


@pytest.fixture
def lake(tmp_path):
    """A table with live files, files of old versions, vectors, partitions that are empty now, and an orphan."""
    lake = tmp_path / "lake"
    lake.mkdir()
    con = connect_lake(lake)
    con.execute("CREATE TABLE t (id BIGINT, p INT) PARTITIONED BY (p)")
    for i in range(2):
        con.execute(f"INSERT INTO t SELECT range, {i} FROM range(3000)")
    con.execute("DELETE FROM t WHERE hash(id) % 2 = 0 AND p = 1")
    con.execute("DELETE FROM t WHERE p = 0")
    con.execute("INSERT INTO t SELECT range, 1 FROM range(10)")
    con.close()
    (lake / "t" / "orphan").write_text("x")
    return lake


def contents(lake):
    con = connect_lake(lake)
    rows = con.execute("FROM t ORDER BY ALL").fetchall()
    con.close()
    return rows


def finish(lake, kind):
    """The next VACUUM; everything that is left afterwards is needed."""
    con = connect_lake(lake)
    con.execute(NO_CHECK)
    con.execute("SET braid_durability = 'none'")
    con.execute(VACUUM.format(kind))
    con.close()
    live = delta_log.active(lake / "t")
    left = {path for path in delta_log.files_on_disk(lake / "t") if not path.endswith(".bin")}
    assert left == set(live) | ({"orphan"} if kind == "LITE" else set())
    if kind == "FULL":  # LITE looks at no directory that it has not just deleted something in
        assert not (lake / "t" / "p=0").exists()


@pytest.mark.parametrize("kind", ["FULL", "LITE"])
def test_killed_at_every_step(lake, kind, stepped, tmp_path):
    expected = contents(lake)
    saved = tmp_path / "saved"
    shutil.copytree(lake, saved)
    process = stepped(lake, NO_CHECK, "FROM t", watched=VACUUM.format(kind))
    steps, said = process.run()
    assert said == "acknowledged"
    assert sum(name == "unlink" and "_delta_log" not in path for name, path in steps) >= 1
    for last in range(1, len(steps) + 1):
        # The directory itself stays, with the lease of the process that we have open.
        for path in (lake / "t").iterdir():
            if path.name != "_braid":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copytree(saved / "t", lake / "t", dirs_exist_ok=True)
        _, said = process.run(last)
        assert said is None or last > len(steps) - 3, (last, steps[last - 1])
        assert contents(lake) == expected, steps[last - 1]
        assert seen_by_deltalake(lake / "t") == sorted(expected, key=repr), steps[last - 1]
        finish(lake, kind)
        assert contents(lake) == expected, steps[last - 1]


def test_others_commit_before_each_step(lake, stepped, tmp_path):
    process = stepped(lake, NO_CHECK, "FROM t", watched=VACUUM.format("FULL"))
    count = len(process.run()[0])
    rows = contents(lake)
    for last in range(1, count + 10):
        con = connect_lake(lake)
        con.execute("DELETE FROM t WHERE id = 0")  # something to do for it
        con.execute(f"INSERT INTO t VALUES (0, 0), (0, {last + 10})")
        con.close()

        def meanwhile():
            con = connect_lake(lake)
            con.execute("UPDATE t SET p = p + 1 WHERE id = 0")
            con.execute("OPTIMIZE t")
            con.close()

        steps, said = process.run_with_pause(last, meanwhile)
        if last > len(steps):
            break
        assert said == "acknowledged", (last, said)
        now = contents(lake)
        assert [row for row in now if row[0]] == [row for row in rows if row[0]] and sorted(row[1] for row in now if not row[0]) == [1, last + 11]
