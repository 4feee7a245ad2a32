# SPDX-License-Identifier: Apache-2.0
"""Scenarios 36 to 45: MERGE."""

import pytest

from scenarios.play import case, plays

CLAUSES = "WHEN MATCHED AND t.v > 1000 THEN UPDATE SET v = 1 WHEN NOT MATCHED THEN INSERT VALUES (s.id, 1)"
FIVE_AND_300 = f"MERGE INTO t USING (SELECT * FROM (VALUES (5), (300)) r(id)) s ON t.id = s.id {CLAUSES}"
BY_SOURCE = "MERGE INTO t USING (SELECT range AS id FROM range(50)) s ON t.id = s.id WHEN NOT MATCHED BY SOURCE THEN DELETE"


def insert_key(key, value=1):
    return f"MERGE INTO t USING (SELECT {key} AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT VALUES (s.id, {value})"


def update_key(key, value):
    return f"MERGE INTO t USING (SELECT {key} AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = {value}"


CASES = [
    case("36", insert_key(500), insert_key(500, 2), any="CA.ROW_LEVEL_CHANGES", max="noop"),
    case("37", insert_key(500), insert_key(501), any="ok"),
    case("38", "INSERT INTO t VALUES (500, 9)", insert_key(500), S="CA", WS="before", max_S="noop"),
    case("39", update_key(1, 100), update_key(2, 200), any="ok"),
    case("40", "DELETE FROM t WHERE id = 5", FIVE_AND_300, any="CDR", max="ok"),
    case("41", "UPDATE t SET v = 2000 WHERE id = 5", FIVE_AND_300, any="CA", max="ok"),
    case("42", "INSERT INTO t VALUES (300, 1)", BY_SOURCE, S="CA", WS="before", max_S="ok"),
    case("43", "UPDATE t SET id = 105 WHERE id = 5", FIVE_AND_300, any="CDR", max="ok"),
    case(
        "44",
        "MERGE INTO t USING (SELECT unnest([1, 2]) AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE",
        "DELETE FROM t WHERE id = 3",
        any="ok",
    ),
    case(
        "45",
        "ALTER TABLE t ADD COLUMN w INTEGER",
        "MERGE WITH SCHEMA EVOLUTION INTO t USING (SELECT 500::BIGINT AS id, 1::BIGINT AS v, 7 AS extra) s ON t.id = s.id "
        "WHEN NOT MATCHED THEN INSERT *",
        any="MC",
    ),
]


@pytest.mark.parametrize(**plays(CASES))
@pytest.mark.parametrize("kind", ["connections", "processes"])
def test_scenario(stage, the_case, mode, level, kind):
    stage.play(the_case, mode, level, kind)
