# SPDX-License-Identifier: Apache-2.0
"""VACUUM that is interrupted, or cannot delete: it says so, the log too (VACUUM END, FAILED), nothing is lost, and the next one finishes the work."""

import os
import re
import shutil

import pytest

import delta_log
from conftest import connect_lake
from faults.test_vacuum_steps import NO_CHECK, VACUUM, contents, finish, lake  # noqa: F401 - a fixture
from judges import seen_by_deltalake


def bring_back(saved, lake):
    """The directory itself stays, with the lease of the process that has the table open."""
    for path in (lake / "t").iterdir():
        if path.name != "_braid":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copytree(saved, lake / "t", dirs_exist_ok=True)


def last_operations(lake, before):
    """What the log tells of it: operation, and status if there is one."""
    infos = [delta_log.info(lake / "t", version) for version in range(before + 1, delta_log.version(lake / "t") + 1)]
    return [(info["operation"], info["operationParameters"].get("status")) for info in infos]


@pytest.mark.parametrize("kind", ["FULL", "LITE"])
def test_interrupted_at_each_step(lake, kind, stepped, tmp_path):  # noqa: F811
    con = connect_lake(lake)
    con.execute("INSERT INTO t VALUES (0, 5), (0, 6)")
    con.execute("DELETE FROM t WHERE p > 4")
    con.close()
    expected, before = contents(lake), delta_log.version(lake / "t")
    saved, unlinked = tmp_path / "saved", lambda steps: sum(name == "unlink" and "_delta_log" not in path for name, path in steps)
    shutil.copytree(lake / "t", saved)
    process = stepped(lake, NO_CHECK, "SET braid_durability = 'none'", "FROM t", watched=VACUUM.format(kind))
    steps, said = process.run()
    files, seen = unlinked(steps), set()
    assert said == "acknowledged" and files > 2
    for last in range(1, len(steps) + 1):
        bring_back(saved, lake)
        done, said = process.run_interrupted(last)
        interrupted = said != "acknowledged"
        assert not interrupted or "INTERRUPT" in said, (last, said)
        deleted, told = unlinked(done), last_operations(lake, before)
        assert told in ([], [("VACUUM START", None), ("VACUUM END", "FAILED" if deleted < files else "COMPLETED")]), (last, steps[last - 1])
        assert interrupted or deleted == files
        assert told or deleted == 0
        seen.add((interrupted, bool(told), deleted))
        assert contents(lake) == expected, steps[last - 1]
        assert seen_by_deltalake(lake / "t") == sorted(expected, key=repr), steps[last - 1]
        finish(lake, kind)
        assert contents(lake) == expected, steps[last - 1]
    assert {(True, False, 0), (True, True, 0), (True, True, 1), (True, True, files)} <= seen, seen


def refusing(preloaded, **what):
    return {"LD_PRELOAD": preloaded("refused"), **{f"REFUSED_{name}": part for name, part in what.items()}}


@pytest.mark.parametrize("kind", ["FULL", "LITE"])
def test_a_file_that_cannot_be_deleted(lake, kind, child, preloaded):  # noqa: F811
    expected, before = contents(lake), delta_log.version(lake / "t")
    result = child(lake, NO_CHECK, VACUUM.format(kind), env=refusing(preloaded, UNLINK="/p=0/"))
    assert result.returncode == 1 and result.stdout == "done 0\n"
    assert re.search(r"cannot delete .*/t/p=0/\S+\.parquet: Permission denied", result.stderr), result.stderr
    assert last_operations(lake, before) == [("VACUUM START", None), ("VACUUM END", "FAILED")]
    assert any((lake / "t" / "p=0").iterdir()) and not (lake / "t" / "_delta_log" / "_last_vacuum_info").exists()
    assert contents(lake) == expected
    assert seen_by_deltalake(lake / "t") == sorted(expected, key=repr)
    finish(lake, kind)
    assert contents(lake) == expected


def test_nor_can_its_end_be_recorded(lake, child, preloaded):  # noqa: F811
    expected, before = contents(lake), delta_log.version(lake / "t")
    result = child(lake, NO_CHECK, VACUUM.format("FULL"), env=refusing(preloaded, UNLINK="/p=0/", LINK=f"{before + 2:020}.json"))
    assert result.returncode == 1 and "cannot delete" in result.stderr and "/p=0/" in result.stderr, result.stderr
    assert last_operations(lake, before) == [("VACUUM START", None)]
    assert contents(lake) == expected
    finish(lake, "FULL")
    assert contents(lake) == expected


def test_nothing_is_deleted_if_the_start_cannot_be_recorded(lake, child, preloaded):  # noqa: F811
    files, before = delta_log.files_on_disk(lake / "t"), delta_log.version(lake / "t")
    result = child(lake, NO_CHECK, VACUUM.format("FULL"), env=refusing(preloaded, LINK=f"{before + 1:020}.json"))
    assert result.returncode == 1 and os.fspath(lake / "t") in result.stderr and "Permission denied" in result.stderr, result.stderr
    assert delta_log.files_on_disk(lake / "t") == files and delta_log.version(lake / "t") == before
    finish(lake, "FULL")
