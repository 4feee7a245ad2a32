# SPDX-License-Identifier: Apache-2.0
"""Both matrices of the rules, cell by cell (R6 to R10, R12): two statements on one version, both orders, both levels, three modes, with and without
deletion vectors and partitions, clustered too, by two connections and by two processes. The first commit always succeeds; the table below says what
becomes of the second.

The table has rows 0 to 9 with p = 0 and 100 to 109 with p = 1, and files of one p only. A second statement that changes rows changes row 5 and says p = 0;
a second rearrangement concerns the files of p = 0. The first statement concerns: the same row | another row of the same file | the files of p = 1. An INSERT
adds a row that the other's condition matches | one that it does not match, with p = 0 | one with p = 1.

A rearrangement says WHERE p = .. if the table is partitioned by it. If not, OPTIMIZE leaves out the files of the other p because one of them is large
(and clustered, if the table is); ZORDER BY takes every file, so the third place is like the second; REORG takes files with deleted rows."""

import pytest

from scenarios.play import MODES, NO_VECTORS, Setup, case, txn

SMALL = (("delta.targetFileSize", "2000"),)
VECTORS = {"vectors": (), "no vectors": NO_VECTORS}
LAYOUTS = ("vectors", "vectors, partitions", "no vectors", "no vectors, partitions", "vectors, clustered", "no vectors, clustered")


def rows(p, first=0, count=10):
    return f"SELECT range + {100 * p} AS id, 0 AS v, {p} AS p FROM range({first}, {first + count})"


def large(p):
    """The rows of p, and some that nobody touches, in a file of more than 2000 bytes."""
    return f"{rows(p)} UNION ALL SELECT 1000 + range, (hash(range) % 1000000007)::BIGINT, {p} FROM range(600)"


def halves(p):
    return rows(p, 0, 5), rows(p, 5, 5)


def setup(layout, p, purge):
    """Two small files of rows with this p, and those of the other p beside them."""
    vectors, _, kind = layout.partition(", ")
    properties = (*VECTORS[vectors], *SMALL)
    inserts = [f"INSERT INTO t {half}" for half in halves(p)]
    if purge:
        numbers = range(2) if kind == "partitions" else (p,)
        inserts += [f"DELETE FROM t WHERE id IN ({100 * number + 4}, {100 * number + 9})" for number in numbers]
    if kind == "partitions":
        return Setup(f"{rows(1 - p, 0, 5)}", partitioned="p", properties=properties, then=(f"INSERT INTO t {rows(1 - p, 5, 5)}", *inserts))
    clustered = ("ALTER TABLE t CLUSTER BY (id)", "OPTIMIZE t") if kind == "clustered" else ()
    return Setup(large(1 - p), properties=properties, altered=clustered, then=tuple(inserts))


CHANGES = {
    "INSERT": "INSERT INTO t VALUES ({key}, 7, {p})",
    "DELETE": "DELETE FROM t WHERE id = {key} AND p = {p}",
    "UPDATE": "UPDATE t SET v = v + {p} + 7 WHERE id = {key} AND p = {p}",
    "MERGE": "MERGE INTO t USING (SELECT {key} AS key) s ON t.id = s.key AND t.p = {p} "
    "WHEN MATCHED THEN UPDATE SET v = v + 70 WHEN NOT MATCHED THEN INSERT VALUES (s.key, 1, {p})",
}
REARRANGEMENTS = {"OPTIMIZE": "OPTIMIZE t {where}", "ZORDER": "OPTIMIZE t {where} ZORDER BY (v, id)", "PURGE": "REORG TABLE t {where} APPLY (PURGE)"}
STATEMENTS = (*CHANGES, *REARRANGEMENTS)
PLACES = {"same row": (5, 0), "same file": (7, 0), "other file": (105, 1)}
INSERTED = {"same row": (5, 0), "same file": (55, 0), "other file": (155, 1)}

# What becomes of the second, for the three places of the first. "+": the state is that of the second before the first (R31). "-": nothing is left to do.
# Columns: sound, vectors | sound, no vectors | strict: vectors | vectors, partitions | no vectors | no vectors, partitions. In `max` a change that would
# fail in `sound` is repaired, and finds nothing left to do if its row is gone.
OK, LEFT = "ok ok ok", "- - ok"
CELLS = {
    # first, second, level
    ("INSERT", "INSERT", "S"): (OK, OK, OK, OK, OK, OK),
    ("INSERT", "INSERT", "WS"): (OK, OK, OK, OK, OK, OK),
    ("INSERT", "change", "S"): ("CA ok ok", "CA ok ok", "CA ok ok", "CA CA ok", "CA CA CA", "CA CA ok"),
    ("INSERT", "change", "WS"): ("+ + +", "+ + +", "+ + +", "+ + +", "+ + +", "+ + +"),
    ("change", "INSERT", "S"): (OK, OK, OK, OK, OK, OK),
    ("change", "INSERT", "WS"): (OK, OK, OK, OK, OK, OK),
    # An UPDATE or MERGE of the row leaves an image that the second should have read, a DELETE takes away what it removes.
    ("image", "change", "S"): ("CA ok ok", "CA CDD ok", "CA ok ok", "CA CA ok", "CA CA CA", "CA CA ok"),
    ("image", "change", "WS"): ("CA ok ok", "CA CDD ok", "CA ok ok", "CA CA ok", "CA CA CA", "CA CA ok"),
    ("DELETE", "change", "S"): ("CDD ok ok", "CDD CDD ok", "CDD ok ok", "CA CA ok", "CA CA CA", "CA CA ok"),
    ("DELETE", "change", "WS"): ("CDD ok ok", "CDD CDD ok", "CDD ok ok", "CA CA ok", "CA CA CA", "CA CA ok"),
    ("move", "INSERT", "S"): (OK, OK, OK, OK, OK, OK),
    ("move", "INSERT", "WS"): (OK, OK, OK, OK, OK, OK),
    ("INSERT", "move", "S"): (OK, OK, OK, OK, OK, OK),
    ("INSERT", "move", "WS"): (OK, OK, OK, OK, OK, OK),
    # Without vectors a rearrangement that is the second leaves the touched files alone.
    ("move", "change", "S"): (OK, "CDD CDD ok", OK, OK, "CDD CDD ok", "CDD CDD ok"),
    ("move", "change", "WS"): (OK, "CDD CDD ok", OK, OK, "CDD CDD ok", "CDD CDD ok"),
    ("change", "move", "S"): (OK, LEFT, OK, OK, "CDD CDD ok", "CDD CDD ok"),
    ("change", "move", "WS"): (OK, LEFT, OK, OK, "CDD CDD ok", "CDD CDD ok"),
    ("move", "move", "S"): (LEFT, LEFT, LEFT, LEFT, "CDD CDD ok", "CDD CDD ok"),
    ("move", "move", "WS"): (LEFT, LEFT, LEFT, LEFT, "CDD CDD ok", "CDD CDD ok"),
    ("ZORDER", "change", "S"): (OK, "CDD CDD ok", "CDD CDD ok", "CDD CDD ok", "CDD CDD ok", "CDD CDD ok"),
    ("ZORDER", "change", "WS"): (OK, "CDD CDD ok", "CDD CDD ok", "CDD CDD ok", "CDD CDD ok", "CDD CDD ok"),
    ("change", "ZORDER", "S"): (OK, LEFT, "CDD CDD ok", "CDD CDD ok", "CDD CDD ok", "CDD CDD ok"),
    ("change", "ZORDER", "WS"): (OK, LEFT, "CDD CDD ok", "CDD CDD ok", "CDD CDD ok", "CDD CDD ok"),
    ("ZORDER", "ZORDER", "S"): (LEFT, LEFT, "CDD CDD ok", "CDD CDD ok", "CDD CDD ok", "CDD CDD ok"),
    ("ZORDER", "ZORDER", "WS"): (LEFT, LEFT, "CDD CDD ok", "CDD CDD ok", "CDD CDD ok", "CDD CDD ok"),
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
WORDS = {"+": "before", "-": "noop"}


def row_of_table(first, second, level):
    moves = {first, second} & set(REARRANGEMENTS)
    kinds = {"INSERT": "INSERT", "OPTIMIZE": "move", "PURGE": "move", "ZORDER": "ZORDER"}
    one, two = kinds.get(first, "change"), kinds.get(second, "change")
    if "INSERT" in (one, two):
        one, two = one.replace("ZORDER", "move"), two.replace("ZORDER", "move")
    elif len({one, two} & {"move", "ZORDER"}) == 2 or {one, two} == {"ZORDER"}:
        one = two = "ZORDER"  # one of both is enough
    elif not moves:
        one = "DELETE" if first == "DELETE" else "image"
    return CELLS[one, two, level]


PAIRS = [(first, second) for first in STATEMENTS for second in STATEMENTS]


def test_every_cell_is_used():
    used = [row_of_table(*pair, level) for pair in PAIRS for level in ("S", "WS")]
    assert {id(row) for row in used} == {id(row) for row in CELLS.values()}
    assert all(len(columns) == 6 and all(len(column.split()) == 3 for column in columns) for columns in CELLS.values())


def can_be(first, second, layout):
    """A clustered table cannot be ordered otherwise, and differs from others in rearrangements only; no vectors, nothing to purge."""
    moves = {first, second} & set(REARRANGEMENTS)
    clustered, vectors = layout.endswith("clustered"), layout.startswith("vectors")
    return not (clustered and ("ZORDER" in moves or not moves)) and (vectors or "PURGE" not in moves)


def statement(name, key, p, layout):
    if name in CHANGES:
        return txn(CHANGES[name].format(key=key, p=p))
    where = f"WHERE p = {p}" if layout.endswith("partitions") else ""
    return txn(REARRANGEMENTS[name].format(where=where), plain=())


def cases(first, second, level, layout, mode):
    """One for each place."""
    column = COLUMNS["sound" if mode == "max" else mode, layout.replace(", clustered", "")]
    outcomes = row_of_table(first, second, level)[column].split()
    partitioned = layout.endswith("partitions")
    if not partitioned and "ZORDER" in (first, second):
        outcomes[2] = outcomes[1]
        if first in ("OPTIMIZE", "PURGE") and outcomes[1] == "-" and layout == "vectors":
            outcomes[1] = "ok"  # the large file is left to be moved
    for place, outcome in zip(PLACES, outcomes):
        key, p = (INSERTED if first == "INSERT" else PLACES)[place]
        if first in REARRANGEMENTS and (place == "same row" or (place == "other file" and second in REARRANGEMENTS and not partitioned)):
            continue  # it knows no rows; and both take the same files
        moved = p if first in REARRANGEMENTS else 0
        table = setup(layout, moved, "PURGE" in (first, second))
        one, two = statement(first, key, p, layout), statement(second, 5, 0, layout)
        gone = {"max": "noop"} if place == "same row" and first == "DELETE" and second in ("DELETE", "UPDATE") else {}
        yield case(f"{first} of {place}, {second}, {mode}", one, two, setup=table, any=WORDS.get(outcome, outcome), **gone)


@pytest.mark.parametrize("kind", ["connections", "processes"])
@pytest.mark.parametrize("first, second, layout", [(*pair, layout) for pair in PAIRS for layout in LAYOUTS if can_be(*pair, layout)])
def test_cell(stage, first, second, layout, kind):
    for mode in MODES if kind == "processes" else ("sound",):
        for level in ("S", "WS"):
            for the_case in cases(first, second, level, layout, mode):
                stage.play(the_case, mode, level, kind)
