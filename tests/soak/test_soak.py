# SPDX-License-Identifier: Apache-2.0
"""Everybody at once for a while (crew.py): writers on rows of their own and on common ones, an appender, maintenance, readers of old versions. Nothing
fails but statements whose rows another writer has changed, every acknowledged change is there once, and three engines read the same at the end.
`pytest tests/soak --soak-seconds 300` for longer."""

import multiprocessing
import queue

from judges import seen_by_deltalake, seen_by_duckdb_delta
from soak.crew import APPENDED, HOT, ROWS, TABLES, Report, Writer, create, crew

SPAWN = multiprocessing.get_context("spawn")  # a fork of a process with DuckDB's threads would hang
PATIENCE = 120  # seconds more than they were told; only a broken test waits that long


def run(member, lake, seed, seconds, answers):
    try:
        answers.put((member.name, member.work(lake, seed, seconds)))
    except BaseException as error:  # noqa: BLE001 - whatever it was, the test has to know
        answers.put((member.name, f"{type(error).__name__}: {error}"))


def play(lake, seconds) -> list[Report]:
    answers = SPAWN.Queue()
    members = [SPAWN.Process(target=run, args=(member, str(lake), seed, seconds, answers), daemon=True) for seed, member in enumerate(crew())]
    for member in members:
        member.start()
    reports, failures = [], []
    try:
        for _ in members:
            name, report = answers.get(timeout=seconds + PATIENCE)
            (reports if isinstance(report, Report) else failures).append(report if isinstance(report, Report) else f"{name}: {report}")
    except queue.Empty:
        failures.append("somebody does not come to an end")
    finally:
        for member in members:
            member.join(1)
            member.kill()
    assert not failures, "\n".join(failures)
    return reports


def expected_rows(reports, table):
    """n by id, if every acknowledged change took place once."""
    rows = dict.fromkeys(range(ROWS), 0)
    for commit in sorted((commit for report in reports for commit in report.commits if commit.table == table), key=lambda commit: commit.version):
        for key, more in commit.added.items():
            if more is None:
                del rows[key]
            else:
                rows[key] = rows.get(key, 0) + more
    return rows


def assert_true_clash(clash, commits):
    """The winner is another writer's change of rows that the loser wanted to change too, after what the loser had read, and the error names only such."""
    assert clash.read_version < clash.winner_version, clash
    winner = commits.get((clash.table, clash.winner_version))
    assert winner is not None, f"lost against a commit that no writer has made: {clash}"
    common = set(clash.keys) & set(winner.added)
    assert common and clash.named <= common, f"{clash} lost against {winner}"


def test_soak(lake, con, request):
    create(con)
    reports = play(lake, request.config.getoption("--soak-seconds"))
    for report in reports:
        assert not report.warnings, report
        assert report.rounds or report.commits, f"{report.name} has done nothing"
        print(f"{report.name}: {len(report.commits) or report.rounds} rounds, {len(report.clashes)} clashes")
    commits = {(commit.table, commit.version): commit for report in reports for commit in report.commits}
    assert len(commits) == sum(len(report.commits) for report in reports), "two commits of one version"
    for report in reports:
        for clash in report.clashes:
            assert set(clash.keys) <= set(range(HOT)), f"these rows are nobody else's: {clash}"
            assert_true_clash(clash, commits)
    for table in TABLES:
        rows = con.execute(f"FROM {table}").to_arrow_table()
        found = sorted(zip(rows["id"].to_pylist(), rows["n"].to_pylist()))
        assert found == sorted(expected_rows(reports, table).items()), table
        assert any(key >= APPENDED for key, _ in found)
        mine = sorted(zip(*(rows[name].to_pylist() for name in rows.column_names)), key=repr)
        assert seen_by_deltalake(lake / table) == mine
        assert seen_by_duckdb_delta(lake / table) == mine
    assert {Writer(number).name for number in range(4)} <= {report.name for report in reports}
