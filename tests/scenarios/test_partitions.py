# SPDX-License-Identifier: Apache-2.0
"""Scenarios 61 to 73, N3, N4, N5, N14: partitioned tables. `strict` judges them by the partitions that a condition reads, `sound` by rows."""

import shutil

import pytest

import delta_log
from handmade import write_commit
from scenarios.play import NO_VECTORS, Setup, case, foreign, plays, txn

PART = Setup("SELECT range AS id, range % 4 AS part, range % 10 AS v FROM range(100)", partitioned="part")
TWO = Setup("SELECT range AS id, range % 2 AS a, range // 2 % 2 AS b FROM range(40)", partitioned="a, b")
COPY = "INSERT INTO t SELECT id + 1000, 2, v FROM t WHERE "
COPY_TWO = "INSERT INTO t SELECT id + 1000, 7, 7 FROM t WHERE "


def add(part, v=3):
    return f"INSERT INTO t VALUES (500, {part}, {v})"


def replace_where(condition, row):
    return txn(f"INSERT INTO t REPLACE WHERE {condition} SELECT {row}", plain=(f"DELETE FROM t WHERE {condition}", f"INSERT INTO t SELECT {row}"))


def overwrite_partition(part):
    return txn(f"INSERT OVERWRITE t SELECT 600, {part}, 6", plain=(f"DELETE FROM t WHERE part = {part}", f"INSERT INTO t SELECT 600, {part}, 6"))


DYNAMIC = {"braid_partition_overwrite_mode": "dynamic"}
HINT = "CA.WITH_PARTITION_HINT"

LISTED = [
    case("61", add(1), txn("DELETE FROM t WHERE part = 3", add(2)), setup=PART, S="ok"),
    case("62", add(1), COPY + "part = 1", setup=PART, strict_S=HINT, sound_S="CA.ROW_LEVEL_CHANGES"),
    case("62-other row", add(1), COPY + "part = 1 AND v = 7", setup=PART, strict_S=HINT, sound_S="ok"),
    case("63", add(1), "INSERT INTO t SELECT count(*), 2, 2 FROM t", setup=PART, S="CA"),
    case("64", "DELETE FROM t WHERE a = 1 AND b = 1", COPY_TWO + "a = 1", setup=TWO, S="CDR"),
    case("65", "DELETE FROM t WHERE part = 1", "DELETE FROM t WHERE part = 1 AND v = 3", setup=PART, S="CDD", max_S="noop"),
    case("66", "INSERT INTO t VALUES (500, 1, 2)", COPY_TWO + "a >= 1 OR b > 1", setup=TWO, S="CA"),
    case("67", add(2, v=3), COPY + "part = 1 OR v > 7", setup=PART, strict_S="CA", sound_S="ok"),
    case("67-its row", add(2, v=8), COPY + "part = 1 OR v > 7", setup=PART, S="CA"),
    case("68", replace_where("part >= 20", "501, 21, 1"), replace_where("part >= 20", "500, 20, 1"), setup=PART, S="CA"),
    case("69", replace_where("part = 20", "501, 20, 1"), replace_where("part = 21", "500, 21, 1"), setup=PART, S="ok"),
    case("70-append", add(0), overwrite_partition(0), setup=PART, settings=DYNAMIC, S="CA", max_S="ok"),
    case("70-other", add(1), overwrite_partition(0), setup=PART, settings=DYNAMIC, S="ok"),
    case("70-remove", "DELETE FROM t WHERE part = 0", overwrite_partition(0), setup=PART, settings=DYNAMIC, S="CDD", max_S="ok"),
    case("72", "UPDATE t SET part = 2 WHERE id = 1", "DELETE FROM t WHERE part = 2", setup=PART, any="CA", max="ok"),
    case("73", "DELETE FROM t WHERE part = 1", "INSERT INTO t SELECT count(*), 2, 2 FROM t", setup=PART, any="CDR"),
]

WITHOUT = Setup(properties=NO_VECTORS)
INSERT = "INSERT INTO t VALUES (200, 9)"
DATES = "SELECT range AS id, DATE '2024-01-01' + (range // 10)::INT AS date FROM range(40)"
LATER, EARLIER = "UPDATE t SET id = id + 100 WHERE date > '2024-01-02'", "DELETE FROM t WHERE date < '2024-01-02'"
MERGED = Setup(
    "SELECT range AS user_id, DATE '2024-01-01' + (range % 2)::INT AS date, CASE WHEN range % 4 < 2 THEN 'de' ELSE 'fr' END AS country, 0 AS n FROM range(40)",
    partitioned="date, country",
)


def merge(day, country, literals=False):
    """Updates and inserts users of one partition."""
    source = f"SELECT range AS user_id, DATE '2024-01-0{day}' AS date, '{country}' AS country, 1 AS n FROM range(1, 80)"
    more = f"AND t.date = DATE '2024-01-0{day}' AND t.country = '{country}'" if literals else ""
    return (
        f"MERGE INTO t USING ({source}) s ON t.user_id = s.user_id AND s.date = t.date AND s.country = t.country {more} "
        "WHEN MATCHED THEN UPDATE SET n = s.n WHEN NOT MATCHED THEN INSERT VALUES (s.user_id, s.date, s.country, s.n)"
    )


REFERENCE = [
    case("N3a", INSERT, "DELETE FROM t WHERE id < 10", setup=WITHOUT, strict_S="CA", strict_WS="ok", sound="ok"),
    case("N3a-reverse", "DELETE FROM t WHERE id < 10", INSERT, setup=WITHOUT, any="ok"),
    case("N3b", add(1, 7), "DELETE FROM t WHERE part = 1 AND v = 3", setup=PART, strict_S=HINT, strict_WS="ok", sound="ok"),
    case("N3b-reverse", "DELETE FROM t WHERE part = 1 AND v = 3", add(1, 7), setup=PART, any="ok"),
    case("N4a", LATER, EARLIER, setup=Setup(DATES, properties=NO_VECTORS), strict="CA", sound="CDD", max="ok"),
    case("N4b", LATER, EARLIER, setup=Setup(DATES, partitioned="date", properties=NO_VECTORS), any="ok"),
    case("N4c", LATER, EARLIER, setup=Setup(DATES), any="ok"),
    case("N5", "DELETE FROM t WHERE id = 1", "DELETE FROM t WHERE id = 5", setup=PART, strict="CA.PARTITIONED_TABLE_WITHOUT_MERGE_SOURCE", sound="ok"),
    case("N5-hint", "DELETE FROM t WHERE part = 1 AND id = 1", "DELETE FROM t WHERE part = 1 AND id = 5", setup=PART, strict=HINT, sound="ok"),
    case("N14a", merge(1, "de"), merge(2, "fr"), setup=MERGED, strict="CA", sound="ok"),
    case("N14b", merge(1, "de", literals=True), merge(2, "fr", literals=True), setup=MERGED, any="ok"),
]

DAYS = Setup("SELECT range AS id, TIMESTAMP '2000-01-01 12:00:00' AS at FROM range(3)", partitioned="at")


def spelled_otherwise(place):
    """A file of the same partition, as another engine writes its value."""
    ((path, live),) = delta_log.active(place.table).items()
    shutil.copy(place.table / path, place.table / "other.parquet")
    add = {**live, "path": "other.parquet", "partitionValues": {"at": "2000-01-01T12:00:00.000000Z"}}
    write_commit(place.table, place.version() + 1, {"commitInfo": {"operation": "WRITE"}}, {"add": add})


OVERWRITE = "INSERT OVERWRITE t SELECT 600, TIMESTAMP '2000-01-01 12:00:00'"
IN_PLAIN_WORDS = ("DELETE FROM t", "INSERT INTO t VALUES (600, '2000-01-01 12:00:00')")
SPELLINGS = [
    case("71", foreign(spelled_otherwise), txn(OVERWRITE, starts=1, plain=IN_PLAIN_WORDS), setup=DAYS, settings=DYNAMIC, any="ok", order=(1,)),
    case("71-concurrent", foreign(spelled_otherwise, "INSERT INTO t FROM t"), txn(OVERWRITE, plain=IN_PLAIN_WORDS),
         setup=DAYS, settings=DYNAMIC, any="CA", max="ok"),  # fmt: skip
]


@pytest.mark.parametrize(**plays(SPELLINGS + LISTED + REFERENCE))
def test_scenario(stage, the_case, mode, level):
    stage.play(the_case, mode, level)
