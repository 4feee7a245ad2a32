# SPDX-License-Identifier: Apache-2.0
"""Scenarios 90 to 96 and 110: row ids, timestamps and column mapping of what is committed on top of others."""

import json

import pytest

import delta_log
from handmade import write_commit
from scenarios.play import Setup, case, foreign, plays, txn

TRACKED = (("delta.enableRowTracking", "true"),)
OPTIMIZE = txn("OPTIMIZE t", plain=())


def row_id_mark(place):
    (domain,) = delta_log.actions(place.table, "domainMetadata")
    assert domain["domain"] == "delta.rowTracking"
    return json.loads(domain["configuration"])["rowIdHighWaterMark"]


def ranges_are_disjoint(place):
    (first,), (second,) = (delta_log.actions(place.table, "add", version) for version in (1, 2))
    assert (first["baseRowId"], second["baseRowId"]) == (100, 1100) and row_id_mark(place) == 100 + 1000 + 1500 - 1


def continues_at_18(place):
    (add,) = delta_log.actions(place.table, "add")
    assert add["baseRowId"] == 18 and row_id_mark(place) == 18


def base_id_is_kept(place):
    (add,) = delta_log.actions(place.table, "add")
    assert (add["baseRowId"], add["defaultRowCommitVersion"]) == (0, 0)


def output_keeps_its_ids(place):
    (written,), (now,) = delta_log.actions(place.table, "add", place.version() - 1), delta_log.actions(place.table, "add")
    assert now["path"] == written["path"] and now["deletionVector"]["cardinality"] == 50
    assert all(now[key] == written[key] for key in ("baseRowId", "defaultRowCommitVersion"))


FUTURE = 4_000_000_000_000


def ahead(place):
    """A winner whose clock is far ahead."""
    write_commit(place.table, place.version() + 1, {"commitInfo": {"inCommitTimestamp": FUTURE, "timestamp": FUTURE, "operation": "SET TBLPROPERTIES"}})


def a_millisecond_later(place):
    assert delta_log.info(place.table)["inCommitTimestamp"] == FUTURE + 1


MAPPED = Setup(
    "SELECT range AS id, range % 10 AS v, 'gone' AS s FROM range(100)",
    properties=(("delta.columnMapping.mode", "name"),),
    then=("ALTER TABLE t RENAME COLUMN id TO key", "ALTER TABLE t DROP COLUMN s", "INSERT INTO t SELECT range + 100, range % 10 FROM range(100)"),
)

CASES = [
    case("90", "INSERT INTO t SELECT range + 1000, 1 FROM range(1000)", "INSERT INTO t SELECT range + 5000, 1 FROM range(1500)", setup=Setup(properties=TRACKED),
         any="ok", check=ranges_are_disjoint),  # fmt: skip
    case("91", "INSERT INTO t SELECT range + 100, 1 FROM range(11)", "INSERT INTO t VALUES (500, 1)", setup=Setup("SELECT range AS id, 0 AS v FROM range(7)", properties=TRACKED),
         any="ok", check=continues_at_18),  # fmt: skip
    case("92", "INSERT INTO t SELECT range + 1000, 1 FROM range(10)", "DELETE FROM t WHERE id = 1", setup=Setup(properties=TRACKED), any="ok", check=base_id_is_kept),
    case("92-no mark", "DELETE FROM t WHERE id = 2", "DELETE FROM t WHERE id = 1", setup=Setup(properties=TRACKED), any="ok", check=base_id_is_kept),
    case("95", OPTIMIZE, "DELETE FROM t WHERE id % 2 = 0", setup=Setup("SELECT range AS id, 0 AS v FROM range(50)", properties=TRACKED, then=("INSERT INTO t SELECT range + 50, 0 FROM range(50)",)),
         any="ok", check=output_keeps_its_ids),  # fmt: skip
    case("96", foreign(ahead), "DELETE FROM t WHERE id = 1", setup=Setup(properties=(("delta.enableInCommitTimestamps", "true"),)), any="ok", check=a_millisecond_later),
    case("110", "DELETE FROM t WHERE key < 10", "UPDATE t SET v = 77 WHERE key IN (20, 120)", setup=MAPPED, any="ok"),
    case("110-clash", "UPDATE t SET key = 500 WHERE key = 20", "DELETE FROM t WHERE key >= 500 OR v = 3", setup=MAPPED, any="CA", max="ok"),
    case("110-moved", OPTIMIZE, "UPDATE t SET v = 77 WHERE key IN (20, 120)", setup=MAPPED, any="ok"),
]


@pytest.mark.parametrize(**plays(CASES))
def test_scenario(stage, the_case, mode, level):
    stage.play(the_case, mode, level)
