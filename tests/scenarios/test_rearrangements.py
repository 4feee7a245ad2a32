# SPDX-License-Identifier: Apache-2.0
"""Scenarios 20, 46 to 60 and N6 to N10: OPTIMIZE, ZORDER BY and REORG beside changes, as the winner and as the loser. A rearrangement by another engine is
a commit that the test writes."""

import json

import pytest

import delta_log
from handmade import rearrange, write_commit
from scenarios.play import NO_VECTORS, Setup, case, foreign, plays, txn

TEN_FILES = Setup("SELECT range AS id, range % 10 AS v FROM range(10)", then=tuple(f"INSERT INTO t SELECT range + {i}, range % 10 FROM range(10)" for i in range(10, 100, 10)))
TWO_FILES = Setup("SELECT range AS id, range % 10 AS v FROM range(50)", then=("INSERT INTO t SELECT range + 50, range % 10 FROM range(50)",))
VECTOR = Setup(then=("DELETE FROM t WHERE id = 5",))
COPIES = Setup("SELECT 1 AS id, 1 AS v FROM range(5)", then=("INSERT INTO t SELECT 1, 1 FROM range(5)",))

OPTIMIZE = txn("OPTIMIZE t", plain=())
ZORDER = txn("OPTIMIZE t ZORDER BY (v)", plain=())
PURGE = txn("REORG TABLE t APPLY (PURGE)", plain=())
EVEN = "DELETE FROM t WHERE id % 2 = 0"


def later(transaction, starts):
    return txn(*transaction.statements, starts=starts, plain=transaction.plain)


def shuffled(place):
    rearrange(place.con, place.table, f"SELECT * FROM lake.{place.name}.t ORDER BY hash(id)", place.version() + 1)


def too_many_rows_claimed(place):
    rearrange(place.con, place.table, f"FROM lake.{place.name}.t", place.version() + 1, drop=1)


def uncounted(place):
    """An output without numRecords, and a row is missing in it."""
    shuffled(place)
    path = place.table / "_delta_log" / f"{place.version():020}.json"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        line.get("add", {}).pop("stats", None)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def optimized(place):
    place.con.execute(f"OPTIMIZE lake.{place.name}.t")
    swept(place)


def vacuumed(place):
    """Nothing goes that a transaction which has begun may need."""
    place.con.execute(f"OPTIMIZE lake.{place.name}.t")
    place.con.execute("SET braid_retention_check = false")
    place.con.execute(f"VACUUM lake.{place.name}.t RETAIN 0 HOURS")
    place.con.execute("RESET braid_retention_check")


def gone_from_disk(place):
    shuffled(place)
    swept(place)


def swept(place):
    """What VACUUM RETAIN 0 HOURS on another host does, which knows nothing of our transactions."""
    named = {delta_log.key(add)[0] for version in range(place.version() + 1) for add in delta_log.actions(place.table, "add", version)}
    for name in named - set(delta_log.active(place.table)):
        (place.table / name).unlink()


def statistics_added(place):
    """The same file again, with another field, as a backfill does."""
    (live,) = delta_log.active(place.table).values()
    write_commit(place.table, place.version() + 1, {"commitInfo": {"operation": "COMPUTE STATS"}},
                 {"add": {**live, "dataChange": False, "tags": {"backfilled": "yes"}}})  # fmt: skip


def changes_nothing_but_places(place):
    assert {action["dataChange"] for kind in ("add", "remove") for action in delta_log.actions(place.table, kind)} == {False}


def vector_on_the_output(place):
    changes_nothing_but_places(place)
    (live,) = delta_log.active(place.table).values()
    assert live["deletionVector"]["cardinality"] == 50


def fields_are_kept(place):
    (live,) = delta_log.active(place.table).values()
    assert live["tags"] == {"backfilled": "yes"} and live["deletionVector"]["cardinality"] == 1


def is_left(count):
    def check(place):
        assert len(place.rows()) == count

    return check


def copy_on_write(place):
    """Another engine updates row 12 without vectors."""
    query = f"SELECT * REPLACE (CASE WHEN id = 12 THEN 100 ELSE v END AS v) FROM lake.{place.name}.t ORDER BY id"
    rearrange(place.con, place.table, query, place.version() + 1)
    path = place.table / "_delta_log" / f"{place.version():020}.json"
    path.write_text(path.read_text().replace('"dataChange": false', '"dataChange": true').replace("OPTIMIZE", "UPDATE"))


COW = foreign(copy_on_write, "UPDATE t SET v = 100 WHERE id = 12")

LISTED = [
    case("20", COW, "DELETE FROM t WHERE id = 3", any="ok"),
    case("20-its row", COW, "DELETE FROM t WHERE id = 12", any="CA"),
    case("46", EVEN, OPTIMIZE, setup=TEN_FILES, any="ok", check=vector_on_the_output),
    case("47", OPTIMIZE, EVEN, setup=TEN_FILES, any="ok"),
    case("48", OPTIMIZE, "UPDATE t SET v = 70 WHERE id = 7", setup=TEN_FILES, any="ok"),
    case("49", "DELETE FROM t WHERE id = 1", later(OPTIMIZE, 1), "DELETE FROM t WHERE id = 1", setup=TEN_FILES, any="CDD", max="noop"),
    case("49-other row", "DELETE FROM t WHERE id = 1", later(OPTIMIZE, 1), "DELETE FROM t WHERE id = 2", setup=TEN_FILES, any="ok"),
    case("50", OPTIMIZE, txn("INSERT INTO t VALUES (500, 1)", starts=1), later(OPTIMIZE, 2), "DELETE FROM t WHERE id = 3", setup=TEN_FILES, any="ok"),
    case("51", OPTIMIZE, OPTIMIZE, setup=TEN_FILES, any="noop"),
    case("52", ZORDER, EVEN, setup=TEN_FILES, strict="CDD", sound="ok"),
    case("52-other files", txn("OPTIMIZE t WHERE v = 1 ZORDER BY (id)", plain=()), "DELETE FROM t WHERE v = 2",
         setup=Setup(partitioned="v", then=("INSERT INTO t VALUES (501, 1), (502, 2)",)), any="ok"),  # fmt: skip
    case("53", "INSERT INTO t VALUES (500, 1)", OPTIMIZE, setup=TEN_FILES, any="ok"),
    case("54", "DELETE FROM t WHERE id < 50", OPTIMIZE, setup=TWO_FILES, any="ok", check=vector_on_the_output),
    case("55", PURGE, "DELETE FROM t WHERE id = 6", setup=VECTOR, any="ok"),
    case("56", OPTIMIZE, "DELETE FROM t WHERE file_row_number < 2", setup=COPIES, any="ok", order=None, check=is_left(6)),
    case("57", foreign(shuffled), "DELETE FROM t WHERE id = 3", any="ok"),
    case("57-update", foreign(shuffled), "UPDATE t SET v = 70 WHERE id = 3", any="ok"),
    case("58", foreign(optimized), "DELETE FROM t WHERE id = 3", setup=TEN_FILES, any="ok"),
    case("58-update", foreign(optimized), "UPDATE t SET v = 70 WHERE id = 3", setup=TEN_FILES, any="ok"),
    case("58-this host", foreign(vacuumed), "UPDATE t SET v = 70 WHERE id = 3", setup=TEN_FILES, any="ok"),
    case("58-foreign", foreign(gone_from_disk), "DELETE FROM t WHERE id = 3", any="CDD"),
    case("59", foreign(statistics_added), "DELETE FROM t WHERE id = 1", any="ok", check=fields_are_kept),
    case("60", foreign(uncounted), "DELETE FROM t WHERE id = 3", any="CA", max=None),  # a repaired statement could not put a vector on the file either
    case("60-counts differ", foreign(too_many_rows_claimed), "DELETE FROM t WHERE id = 3", any="CA"),
]

# N6 to N10, with changes of the rows of a file that both rewrite. Partitioned: by v, so each partition has two small files.
PARTITIONED = Setup("SELECT range AS id, range % 2 AS v FROM range(50)", partitioned="v", then=("INSERT INTO t SELECT range + 50, range % 2 FROM range(50)",))
CLUSTERED = Setup("SELECT range AS id, range % 10 AS v FROM range(50)",
                  then=("INSERT INTO t SELECT range + 50, range % 10 FROM range(50)",), altered=("ALTER TABLE t CLUSTER BY (id)",))  # fmt: skip
WITHOUT = Setup(TWO_FILES.query, properties=NO_VECTORS, then=TWO_FILES.then)
PURGED = Setup(TWO_FILES.query, then=(*TWO_FILES.then, "DELETE FROM t WHERE id IN (5, 55)"))
CHANGES = {
    "delete": "DELETE FROM t WHERE id = 6",
    "update": "UPDATE t SET id = 600 WHERE id = 6",
    "merge": "MERGE INTO t USING (SELECT 6 AS k) s ON t.id = s.k WHEN MATCHED THEN UPDATE SET id = 600",
    "insert": "INSERT INTO t VALUES (700, 1)",
}


def cells(number, setup, rearrangement, can=False, **outcomes):
    """Both orders of the rearrangement and every change. `can`: files clash in `strict`, but never with an INSERT."""
    for name, change in CHANGES.items():
        clash = outcomes if can and name != "insert" else {"any": "ok"}
        yield case(f"{number} after {name}", change, rearrangement, setup=setup, **{key: outcome for key, outcome in clash.items() if key != "max"})
        clash = {**clash, "sound": "CDD"} if number.startswith("N7") and name != "insert" else clash
        yield case(f"{number} before {name}", rearrangement, change, setup=setup, **clash)


ZORDER_ID = txn("OPTIMIZE t ZORDER BY (id)", plain=())
MATRIX = [
    *cells("N6", PARTITIONED, OPTIMIZE),
    *cells("N7", WITHOUT, OPTIMIZE, can=True, strict="CDD", sound="noop"),
    *cells("N8", TWO_FILES, ZORDER_ID, can=True, strict="CDD", sound="ok"),
    *cells("N8-partitions", PARTITIONED, ZORDER_ID, can=True, strict="CDD", sound="ok"),
    *cells("N9", CLUSTERED, OPTIMIZE),
    *cells("N10a", PURGED, PURGE),
    case("N6 twice", OPTIMIZE, OPTIMIZE, setup=PARTITIONED, any="noop"),
    case("N7 twice", OPTIMIZE, OPTIMIZE, setup=WITHOUT, strict="CDD", sound="noop"),
    case("N8 twice", ZORDER_ID, ZORDER_ID, setup=TWO_FILES, strict="CDD", sound="noop"),
    case("N8 and OPTIMIZE", ZORDER_ID, OPTIMIZE, setup=TWO_FILES, strict="CDD", sound="noop"),
    case("N8 after OPTIMIZE", OPTIMIZE, ZORDER_ID, setup=TWO_FILES, strict="CDD", sound="noop"),
    case("N9 twice", OPTIMIZE, OPTIMIZE, setup=CLUSTERED, any="noop"),
    case("N10a twice", PURGE, PURGE, setup=PURGED, any="noop"),
]


@pytest.mark.parametrize(**plays(LISTED + MATRIX))
def test_scenario(stage, the_case, mode, level):
    stage.play(the_case, mode, level)
