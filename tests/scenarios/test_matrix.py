# SPDX-License-Identifier: Apache-2.0
"""Both matrices of the rules, cell by cell (R6 to R10): two statements on one version, both orders, both levels, with and without deletion vectors and
partitions, by two connections, and in `strict`, which tests files and rows, by two processes too. The first commit always succeeds; the table below
says what becomes of the second.

The table has rows 0 to 9 in one file (p = 0) and 100 to 109 in another (p = 1). The second statement changes row 5 and says p = 0. The first one
concerns: the same row | another row of the same file | the other file. An INSERT adds a row that the other's condition matches | one that it does not
match, with p = 0 | one with p = 1. OPTIMIZE rewrites the first file | the first file | the other; it is written to the log by the test."""

import pytest

import delta_log
from handmade import rearrange
from scenarios.play import NO_VECTORS, Setup, case, foreign

ROWS = "SELECT range % 10 + 100 * (range // 10) AS id, 0 AS v, range // 10 AS p FROM range(20)"
LAYOUTS = {
    "vectors": Setup(f"{ROWS} WHERE range < 10", then=(f"INSERT INTO t {ROWS} WHERE range >= 10",)),
    "vectors, partitions": Setup(ROWS, partitioned="p"),
    "no vectors": Setup(f"{ROWS} WHERE range < 10", properties=NO_VECTORS, then=(f"INSERT INTO t {ROWS} WHERE range >= 10",)),
    "no vectors, partitions": Setup(ROWS, partitioned="p", properties=NO_VECTORS),
}

STATEMENTS = {
    "INSERT": "INSERT INTO t VALUES ({key}, 7, {p})",
    "DELETE": "DELETE FROM t WHERE id = {key} AND p = {p}",
    "UPDATE": "UPDATE t SET v = v + {p} + 7 WHERE id = {key} AND p = {p}",
    "MERGE": "MERGE INTO t USING (SELECT {key} AS key) s ON t.id = s.key AND t.p = {p} "
    "WHEN MATCHED THEN UPDATE SET v = v + 70 WHEN NOT MATCHED THEN INSERT VALUES (s.key, 1, {p})",
}
PLACES = {"same row": (5, 0), "same file": (7, 0), "other file": (105, 1)}
INSERTED = {"same row": (5, 0), "same file": (55, 0), "other file": (155, 1)}
SECOND = (5, 0)

# What becomes of the second, for the three places of the first. "+": the state is that of the second before the first (R31).
# Columns: sound (vectors, with partitions or not) | sound, no vectors | strict: vectors | vectors, partitions | no vectors | no vectors, partitions.
CELLS = {
    # first, second, level
    ("INSERT", "INSERT", "S"): ("ok ok ok", "ok ok ok", "ok ok ok", "ok ok ok", "ok ok ok", "ok ok ok"),
    ("INSERT", "INSERT", "WS"): ("ok ok ok", "ok ok ok", "ok ok ok", "ok ok ok", "ok ok ok", "ok ok ok"),
    ("INSERT", "change", "S"): ("CA ok ok", "CA ok ok", "CA ok ok", "CA CA ok", "CA CA CA", "CA CA ok"),
    ("INSERT", "change", "WS"): ("+ + +", "+ + +", "+ + +", "+ + +", "+ + +", "+ + +"),
    ("change", "INSERT", "S"): ("ok ok ok", "ok ok ok", "ok ok ok", "ok ok ok", "ok ok ok", "ok ok ok"),
    ("change", "INSERT", "WS"): ("ok ok ok", "ok ok ok", "ok ok ok", "ok ok ok", "ok ok ok", "ok ok ok"),
    # An UPDATE or MERGE of the row leaves an image that the second should have read, a DELETE takes away what it removes.
    ("image", "change", "S"): ("CA ok ok", "CA CDD ok", "CA ok ok", "CA CA ok", "CA CA CA", "CA CA ok"),
    ("image", "change", "WS"): ("CA ok ok", "CA CDD ok", "CA ok ok", "CA CA ok", "CA CA CA", "CA CA ok"),
    ("DELETE", "change", "S"): ("CDD ok ok", "CDD CDD ok", "CDD ok ok", "CA CA ok", "CA CA CA", "CA CA ok"),
    ("DELETE", "change", "WS"): ("CDD ok ok", "CDD CDD ok", "CDD ok ok", "CA CA ok", "CA CA CA", "CA CA ok"),
    # OPTIMIZE as the second: tests/kernel/strict_mode_test.cc, relocation_test.cc.
    ("OPTIMIZE", "INSERT", "S"): ("ok ok ok", "ok ok ok", "ok ok ok", "ok ok ok", "ok ok ok", "ok ok ok"),
    ("OPTIMIZE", "INSERT", "WS"): ("ok ok ok", "ok ok ok", "ok ok ok", "ok ok ok", "ok ok ok", "ok ok ok"),
    ("OPTIMIZE", "change", "S"): ("ok ok ok", "CDD CDD ok", "ok ok ok", "ok ok ok", "CDD CDD ok", "CDD CDD ok"),
    ("OPTIMIZE", "change", "WS"): ("ok ok ok", "CDD CDD ok", "ok ok ok", "ok ok ok", "CDD CDD ok", "CDD CDD ok"),
    ("ZORDER", "INSERT", "S"): ("ok ok ok", "ok ok ok", "ok ok ok", "ok ok ok", "ok ok ok", "ok ok ok"),
    ("ZORDER", "INSERT", "WS"): ("ok ok ok", "ok ok ok", "ok ok ok", "ok ok ok", "ok ok ok", "ok ok ok"),
    ("ZORDER", "change", "S"): ("ok ok ok", "CDD CDD ok", "CDD CDD ok", "CDD CDD ok", "CDD CDD ok", "CDD CDD ok"),
    ("ZORDER", "change", "WS"): ("ok ok ok", "CDD CDD ok", "CDD CDD ok", "CDD CDD ok", "CDD CDD ok", "CDD CDD ok"),
}
COLUMNS = {
    ("sound", "vectors"): 0,
    ("sound", "vectors, partitions"): 0,
    ("sound", "no vectors"): 1,
    ("sound", "no vectors, partitions"): 1,
    ("strict", "vectors"): 2,
    ("strict", "vectors, partitions"): 3,
    ("strict", "no vectors"): 4,
    ("strict", "no vectors, partitions"): 5,
}
FIRSTS = ("INSERT", "DELETE", "UPDATE", "MERGE", "OPTIMIZE", "ZORDER")
SECONDS = ("INSERT", "DELETE", "UPDATE", "MERGE")


def row_of_table(first, second, level):
    changes = ("UPDATE", "MERGE")
    kind = "INSERT" if second == "INSERT" else "change"
    if first in changes or first == "DELETE":
        first = "change" if kind == "INSERT" else "image" if first in changes else first
    return CELLS[first, kind, level]


def test_every_cell_is_there_once():
    used = {row_of_table(first, second, level) for first in FIRSTS for second in SECONDS for level in ("S", "WS")}
    assert used <= set(CELLS.values()) and len(CELLS) == 18
    assert all(len(columns) == 6 and all(len(column.split()) == 3 for column in columns) for columns in CELLS.values())


def rewrite(p, zorder):
    """The file with these rows, in another order."""

    def is_it(add):
        return (add["partitionValues"].get("p") or str(delta_log.stats(add)["minValues"]["p"])) == str(p)

    def act(place):
        (chosen,) = filter(is_it, delta_log.active(place.table).values())
        columns = "id, v" if chosen["partitionValues"] else "*"
        query = f"SELECT {columns} FROM lake.{place.name}.t WHERE p = {p} ORDER BY hash(id)"
        parameters = {"zOrderBy": '["id"]'} if zorder else {}
        rearrange(place.con, place.table, query, place.version() + 1, of=is_it, parameters=parameters)

    return act


def first_statement(name, place):
    if name in ("OPTIMIZE", "ZORDER"):
        return foreign(rewrite(PLACES[place][1], name == "ZORDER"))
    key, p = (INSERTED if name == "INSERT" else PLACES)[place]
    return STATEMENTS[name].format(key=key, p=p)


@pytest.mark.parametrize("kind", ["connections", "processes"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("level", ["S", "WS"])
@pytest.mark.parametrize("second", SECONDS)
@pytest.mark.parametrize("first", FIRSTS)
def test_cell(stage, first, second, level, layout, kind):
    for mode in ("strict", "sound") if kind == "connections" else ("strict",):
        outcomes = row_of_table(first, second, level)[COLUMNS[mode, layout]].split()
        for place, outcome in zip(PLACES, outcomes):
            statement = STATEMENTS[second].format(key=SECOND[0], p=SECOND[1])
            name = f"{first} of {place}, {second}, {mode}"
            stage.play(case(name, first_statement(first, place), statement, setup=LAYOUTS[layout], any={"+": "before"}.get(outcome, outcome)), mode, level, kind)
