# SPDX-License-Identifier: Apache-2.0
"""Scenarios 1 to 20: DELETE and UPDATE of rows of one file."""

import pytest

import delta_log
from scenarios.play import NO_VECTORS, Setup, case, plays

VECTOR = Setup(then=("DELETE FROM t WHERE id = 5",))
TWO_FILES = Setup(then=("INSERT INTO t SELECT range + 1000, 0 FROM range(100)",))


def one_file_with(cardinality):
    def check(place):
        (add,) = delta_log.active(place.table).values()
        assert add["deletionVector"]["cardinality"] == cardinality
        (removed,), (before,) = delta_log.actions(place.table, "remove"), delta_log.actions(place.table, "add", place.version() - 1)
        assert delta_log.key(removed) == delta_log.key(before), "what is removed is the winner's entry"

    return check


def no_file(place):
    assert delta_log.active(place.table) == {} and delta_log.actions(place.table, "add") == []


CASES = [
    case("1", "DELETE FROM t WHERE id < 10", "DELETE FROM t WHERE id >= 90", any="ok", check=one_file_with(20)),
    case("2", "DELETE FROM t WHERE id = 5", "DELETE FROM t WHERE id = 5", any="CDD.ROW_LEVEL_CHANGES", max="noop"),
    case("3", "DELETE FROM t WHERE id IN (1, 2)", "DELETE FROM t WHERE id IN (2, 3)", any="CDD", max="ok"),
    case("4", "UPDATE t SET v = 100 WHERE id = 1", "UPDATE t SET v = 200 WHERE id = 2", any="ok"),
    case("5", "UPDATE t SET v = 100 WHERE id = 1", "UPDATE t SET v = 200 WHERE id = 1", any="CA.ROW_LEVEL_CHANGES", max="ok"),
    case("6", "UPDATE t SET v = 100 WHERE id = 1", "DELETE FROM t WHERE id = 1", any="CA", max="ok"),
    case("7", "DELETE FROM t WHERE id = 1", "UPDATE t SET v = 200 WHERE id = 1", any="CDD", max="noop"),
    case("8", "DELETE FROM t WHERE id = 1", "DELETE FROM t WHERE id = 2", setup=VECTOR, any="ok", check=one_file_with(3)),
    case("9", *(f"DELETE FROM t WHERE id = {i}" for i in (1, 2, 3)), any="ok", check=one_file_with(3)),
    case("10", "DELETE FROM t WHERE id = 1", "DELETE FROM t WHERE id = 2", "DELETE FROM t WHERE id IN (2, 3)", any="CDD", max="ok"),
    case("11", "DELETE FROM t WHERE id < 50", "DELETE FROM t WHERE id >= 50", any="ok", check=no_file),
    case("12", "DELETE FROM t", "DELETE FROM t WHERE id = 1", any="CDD", max="noop"),
    case("13", "DELETE FROM t WHERE id = 1", "DELETE FROM t", any="CDD", max="ok"),
    case("14", "DELETE FROM t WHERE id = 7", "DELETE FROM t WHERE id = 1007", setup=TWO_FILES, any="ok"),
    case("15", "UPDATE t SET v = 5 WHERE v = 1", "UPDATE t SET v = 1 WHERE v = 5", any="CA", max="ok"),
    case("16", "UPDATE t SET v = 77 WHERE id = 1", "DELETE FROM t WHERE v IN (77, 8)", any="CA", max="ok"),
    case("16-alone", "UPDATE t SET v = 77 WHERE id = 1", "DELETE FROM t WHERE v = 77", any="noop", order=(1, 0)),
    case("17", "UPDATE t SET v = 77 WHERE id = 1", "DELETE FROM t WHERE v = 8", any="ok"),
    case("18", "UPDATE t SET v = v WHERE id = 1", "UPDATE t SET v = 9 WHERE id = 1", any="CA", max="ok"),
    case("19", "DELETE FROM t WHERE id = 1", "DELETE FROM t WHERE id = 2", setup=Setup(properties=NO_VECTORS), strict="CA", sound="CDD", max="ok"),
    case("19-update", "UPDATE t SET v = 1 WHERE id = 1", "UPDATE t SET v = 1 WHERE id = 2", setup=Setup(properties=NO_VECTORS), strict="CA", sound="CDD", max="ok"),
]


@pytest.mark.parametrize(**plays(CASES))
@pytest.mark.parametrize("kind", ["connections", "processes"])
def test_scenario(stage, the_case, mode, level, kind):
    stage.play(the_case, mode, level, kind)
