# SPDX-License-Identifier: Apache-2.0
"""VACUUM that dies before each of its operations on files: no version that it should keep has lost anything, and the next VACUUM finishes the work.
Beside it others commit at each of its steps, and RESTORE brings back at each what it is about to delete."""
import concurrent.futures
import shutil

import duckdb
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


def put_back(saved, lake):
    """The directory itself stays, with the leases of the processes that have it open."""
    for path in (lake / "t").iterdir():
        if path.name != "_braid":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copytree(saved / "t", lake / "t", dirs_exist_ok=True)


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
        put_back(saved, lake)
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


def said_by(lake, *statements):
    """What the last statement answers, or its error, which may not wait for long."""
    con = connect_lake(lake)
    con.execute("SET braid_commit_timeout_ms = 1")
    try:
        for statement in statements:
            answer = con.execute(statement).fetchall()
        return answer
    except duckdb.Error as error:
        return " ".join(str(error).split())
    finally:
        con.close()


BACK = ["RESTORE t TO VERSION AS OF 2", "CREATE OR REPLACE TABLE t SHALLOW CLONE c"]  # what the newest version does not have


@pytest.fixture
def vacuum(lake, stepped, tmp_path):
    """VACUUM in a process of its own, its steps, and a way back to before it. A clone has files that the table itself does not need."""
    con = connect_lake(lake)
    con.execute("CREATE TABLE c SHALLOW CLONE t VERSION AS OF 2")
    con.close()
    saved = tmp_path / "saved"
    shutil.copytree(lake, saved)
    process = stepped(lake, NO_CHECK, "FROM t", watched=VACUUM.format("FULL"))
    steps, _ = process.run()
    put_back(saved, lake)
    return process, steps, lambda: put_back(saved, lake)


def first_deletion(steps):
    return next(number for number, (name, path) in enumerate(steps, 1) if name == "unlink" and path.endswith(".parquet"))


@pytest.mark.parametrize("statement", BACK)
def test_files_are_brought_back_before_each_step(lake, vacuum, statement):
    """Either VACUUM sees that they are needed, or who wants them waits for it. No file is deleted that the newest version needs then."""
    process, steps, back = vacuum
    before, waited = contents(lake), []
    for last in range(1, len(steps) + 1):
        said = []
        _, end = process.run_with_pause(last, lambda: said.append(said_by(lake, statement)))
        assert end == "acknowledged", (last, end)
        waited.append(isinstance(said[0], str))
        assert not waited[-1] or "has waited 1 ms" in said[0], (last, said)
        assert said_by(lake, "FROM t ORDER BY ALL") == (before if waited[-1] else contents_of_version_2()), steps[last - 1]
        back()
    deletions = range(first_deletion(steps) - 1, 1 + max(number for number, (name, path) in enumerate(steps) if name == "unlink" and path.endswith(".parquet")))
    assert all(waited[number] for number in deletions) and not all(waited)


def contents_of_version_2():
    return sorted((id, p) for p in range(2) for id in range(3000))


def test_who_waits_goes_on_when_it_has_ended(lake, vacuum):
    process, steps, _ = vacuum
    before = contents(lake)
    for statement in BACK + ["CREATE TABLE d SHALLOW CLONE t VERSION AS OF 2"]:
        con = connect_lake(lake)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            waiting = []
            process.run_with_pause(first_deletion(steps), lambda: waiting.append(pool.submit(con.execute, statement)))
            with pytest.raises(duckdb.IOException, match="are gone, perhaps removed by VACUUM"):
                waiting[0].result()
        assert contents(lake) == before and not (lake / "d").exists()
        con.close()
        vacuum[2]()
