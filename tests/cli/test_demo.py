# SPDX-License-Identifier: Apache-2.0
"""`braid demo`: what it says is checked against the log as Python reads it and against the table as other engines read it."""

import json
import pathlib
import re
import subprocess

import duckdb
import duckdb_extension_delta
import pytest

from conftest import BUILD, quote

DELTA = pathlib.Path(duckdb_extension_delta.__path__[0]) / "extensions" / "v1.5.5" / "delta.duckdb_extension"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder and the finished process of one demo; the tests only look."""
    folder = tmp_path_factory.mktemp("demo") / "a new folder"
    done = subprocess.run([BUILD / "braid", "demo", folder], capture_output=True, text=True, timeout=180)
    return folder, done


def test_succeeds_and_counts(finished):
    folder, done = finished
    assert (done.returncode, done.stderr) == (0, "")
    totals = re.search(r"^ +all +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) ", done.stdout, re.MULTILINE)
    statements, first_try, rebased, failures, rows = map(int, totals.groups())
    assert (statements, first_try, failures, rows) == (200, 200, 0, 9640)
    assert f"of them {rebased} lost a race" in done.stdout
    assert " 0 rows differ from the plan" in done.stdout


def test_transactions_overlapped(finished):
    folder, done = finished
    said = int(re.search(r"of them (\d+) lost a race", done.stdout).group(1))
    rebased = 0
    for version in range(1, 201):
        lines = (folder / "orders" / "_delta_log" / f"{version:020}.json").read_text().splitlines()
        info = next(action["commitInfo"] for action in map(json.loads, lines) if "commitInfo" in action)
        rebased += info["readVersion"] < version - 1
    assert said == rebased > 0


def test_the_clash_is_explained(finished):
    _, done = finished
    clash = done.stdout.split("A true clash")[1]
    assert clash.count("UPDATE orders SET status") == 2
    assert "[DELTA_CONCURRENT_" in clash and "SQLSTATE: 2D521" in clash
    assert "orders" in clash and "777777" in clash


def test_duckdbs_own_delta_extension_reads_the_result(finished):
    folder, _ = finished
    with duckdb.connect(":memory:") as con:
        con.execute(f"LOAD {quote(DELTA)}")
        rows = con.execute(
            f"SELECT status, count(*), sum(changes) FROM delta_scan({quote(folder / 'orders')}) GROUP BY ALL ORDER BY ALL"
        ).fetchall()
    assert rows == [("open", 990_359, 0), ("paid", 4_840, 4_840), ("shipped", 1, 0)]


def test_a_second_run_in_the_same_folder_is_refused(finished, braid_command):
    folder, _ = finished
    done = braid_command("demo", folder)
    assert done.returncode == 1 and "already holds a table `orders`" in done.stderr


def test_the_command_that_it_names_opens_the_table(finished):
    _, done = finished
    command = done.stdout.split("Open the same table:")[1].strip()
    opened = subprocess.run(command.replace(" -c ", " -csv -c "), shell=True, capture_output=True, text=True, timeout=60)
    assert (opened.returncode, opened.stderr) == (0, "")
    assert "paid,4840" in opened.stdout.splitlines()
