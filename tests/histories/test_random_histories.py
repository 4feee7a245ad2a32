# SPDX-License-Identifier: Apache-2.0
"""Random histories of 2 to 6 connections and processes on one table, compared with the same transactions one after the other on a plain table of
DuckDB. `--histories 5000 --first-seed 1000` runs more of them; a seed that fails prints its statements in order."""

import collections
import shutil

import pytest

from histories.judge import Judge, Wrong
from histories.play import Unexpected, play
from histories.program import draw
from histories.writers import Crew


@pytest.fixture
def crew():
    crew = Crew()
    yield crew
    crew.close()


def judge(played, con, tally):
    judge = Judge(played, con)
    judge.check()
    mode = played.history.mode
    tally["histories"] += 1
    for ending in played.endings:
        tally[ending.end] += 1
        if ending.end == "committed" and ending.transaction.name in judge.owners.values():
            tally["changed the table"] += 1
        if ending.end == "refused":
            tally[f"{mode}: {judge.reason(ending)}"] += 1


def test_random_histories(crew, tmp_path, request):
    count, first = request.config.getoption("--histories"), request.config.getoption("--first-seed")
    tally = collections.Counter()
    for seed in range(first, first + count):
        lake = tmp_path / str(seed)
        lake.mkdir()
        try:
            played = play(draw(seed), crew, lake)
            judge(played, crew.reader.con, tally)
        except (Unexpected, Wrong) as wrong:
            pytest.fail(str(wrong), pytrace=False)
        shutil.rmtree(lake)
    print(dict(sorted(tally.items())))
    lenient = {name: sum(tally[f"{mode}: {name}"] for mode in ("sound", "max")) for name in ("rows", "equal rows", "by file", "needless")}
    assert lenient["needless"] <= 1 + sum(lenient.values()) / 100, "too many were refused although nothing that they read had changed"
