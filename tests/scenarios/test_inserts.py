# SPDX-License-Identifier: Apache-2.0
"""Scenarios 21 to 35: INSERT beside DELETE and UPDATE, rows that appear, and N11b, N15, N20 of the same kind."""

import pytest

import delta_log
from handmade import write_commit
from scenarios.play import Setup, case, foreign, plays, txn

INSERT_3 = "INSERT INTO t VALUES (200, 3)"
THREE_ROWS = Setup("SELECT * FROM (VALUES (0, 0), (1, 1), (3, 9)) AS r(id, v)")
TWO_ROWS = Setup("SELECT * FROM (VALUES (3, 9), (5, 5)) AS r(id, v)")
APPEND = "INSERT INTO t VALUES (7, 9), (8, 0)"

ANY_CHANGE = {
    "update": "UPDATE t SET v = 7 WHERE id = 1",
    "delete": "DELETE FROM t",
    "merge": "MERGE INTO t USING (SELECT 200 AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT VALUES (200, 1)",
    "insert that reads": "INSERT INTO t SELECT count(*), 1 FROM t",
}


def honest_append(row):
    """By an engine that never calls its appends blind."""

    def act(place):
        name = f"appended-{place.version()}.parquet"
        place.con.execute(f"COPY (SELECT {row[0]}::BIGINT AS id, {row[1]}::BIGINT AS v) TO '{place.table / name}' (FORMAT parquet)")
        add = {"path": name, "partitionValues": {}, "size": (place.table / name).stat().st_size, "modificationTime": 1, "dataChange": True}
        info = {"operation": "WRITE", "isBlindAppend": False, "engineInfo": "Kernel", "readVersion": place.version()}
        write_commit(place.table, place.version() + 1, {"commitInfo": info}, {"add": {**add, "stats": '{"numRecords":1}'}})

    return foreign(act, f"INSERT INTO t VALUES ({row[0]}, {row[1]})")


def the_row_survives(place):
    assert place.rows("FROM t WHERE id = 200") == [(200, 3)]
    assert [delta_log.info(place.table, version)["operation"] for version in (1, 2)] == ["WRITE", "DELETE"], "history has the INSERT first"


CASES = [
    case("21", INSERT_3, "DELETE FROM t WHERE v = 3", S="CA.ROW_LEVEL_CHANGES", max_S="ok"),
    case("22", INSERT_3, "DELETE FROM t WHERE v = 3", WS="before", check=the_row_survives),
    case("23", INSERT_3, "DELETE FROM t WHERE v = 4", S="ok", WS="ok"),
    case("24", "DELETE FROM t WHERE v = 3", INSERT_3, any="ok"),
    *(case(f"25-{name}", change, INSERT_3, any="ok") for name, change in ANY_CHANGE.items()),
    case("26", INSERT_3, "INSERT INTO t VALUES (201, 3)", any="ok"),
    case("27", "INSERT INTO t SELECT id + 1000, v FROM t", "UPDATE t SET v = 1 WHERE id >= 1000 OR id = 1", any="CA", max="ok"),
    case("28", INSERT_3, "INSERT INTO t SELECT count(*), 0 FROM t", S="CA", WS="before"),
    case("29", "DELETE FROM t WHERE id = 1", "INSERT INTO t SELECT id + 1000, v FROM t WHERE id < 10", any="CDR"),
    case("30", APPEND, txn("DELETE FROM t WHERE v = 0", starts=1), "UPDATE t SET v = 0 WHERE v = 9", setup=THREE_ROWS, any="CA", max="ok"),
    case(
        "30a",
        "INSERT INTO t VALUES (7, 9)",
        txn("DELETE FROM t WHERE v = 0", starts=1),
        "UPDATE t SET v = 0 WHERE v = 9",
        setup=THREE_ROWS,
        WS="before",
        order=(1, 2, 0),
    ),
    case(
        "30b",
        APPEND,
        txn("DELETE FROM t WHERE v = 0", starts=1),
        "UPDATE t SET v = 0 WHERE v = 5",
        "UPDATE t SET v = 5 WHERE v = 9",
        setup=TWO_ROWS,
        WS="CA",
        max_WS="ok",
    ),
    case("31", APPEND, "DELETE FROM t WHERE v = 0", "UPDATE t SET v = 0 WHERE v = 9", setup=THREE_ROWS, WS="before", order=(1, 2, 0)),
    case("32", "INSERT INTO t VALUES (NULL, 3)", "DELETE FROM t WHERE id <> 5", any="ok"),
    case("33", honest_append((200, 9)), "DELETE FROM t WHERE v = 3", any="ok"),
    case("33-matching", honest_append((200, 3)), "DELETE FROM t WHERE v = 3", any="CA"),
    case("34", "INSERT INTO t VALUES (500, 3)", "DELETE FROM t WHERE random() < 0.5", S="CA", WS="ok", max_S="ok", order=None),
    case("35", INSERT_3, "DELETE FROM t WHERE id > 1000", any="noop"),
    case("35-matching", "INSERT INTO t VALUES (2000, 3)", "DELETE FROM t WHERE id > 1000", any="noop", order=(1, 0)),
    # N15: how many can read the rows that were appended; 1 and 2 are 30a and 30.
    case(
        "N15-0",
        "INSERT INTO t VALUES (200, 9)",
        txn("DELETE FROM t WHERE v = 3", starts=1),
        "DELETE FROM t WHERE v = 4",
        any="ok",
    ),
    case("N20", *("INSERT INTO t SELECT 500, 1 WHERE NOT EXISTS (SELECT 1 FROM t WHERE id = 500)",) * 2, any="CA"),
]


@pytest.mark.parametrize(**plays(CASES))
def test_scenario(stage, the_case, mode, level):
    stage.play(the_case, mode, level)
