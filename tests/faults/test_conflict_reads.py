# SPDX-License-Identifier: Apache-2.0
"""No conflict check reads a data file that bounds, partitions, null counts or vectors can rule out: the Parquet files that a COMMIT opens after others
have committed, counted outside of the product (file_steps.c), are exactly those that only their rows can clear."""
import collections
import pathlib

import pytest

import delta_log
from handmade import rearrange, write_commit


class Race:
    """Our transaction is open while winners commit; then its COMMIT is watched."""

    def __init__(self, con, lake, stepped):
        self.con, self.table, self.stepped, self.lake = con, lake / "t", stepped, lake

    def create(self, layout="", properties="", rows="SELECT range, range % 4, 'old' FROM range(1000)"):
        self.con.execute(f"CREATE TABLE t (k BIGINT, p BIGINT, s VARCHAR) {layout} WITH ('delta.checkpointInterval' = '1000'{properties})")
        self.con.execute(f"INSERT INTO t {rows}")

    def files_read(self, mine, winners, refused=None):
        """How many files of each version the COMMIT opens, version 1 being the table's first rows; our own are not counted."""
        mine = self.stepped(self.lake, mine)
        for winner in winners:
            winner() if callable(winner) else self.con.execute(winner)
        by_version = {}
        for version, lines in delta_log.commits(self.table).items():
            for line in lines:
                if "add" in line:
                    by_version.setdefault(pathlib.Path(line["add"]["path"]).name, version)
        steps, said = mine.run()
        assert (refused or "acknowledged") in said
        opened = {pathlib.Path(path).name for operation, path in steps if operation == "open" and path.endswith(".parquet")}
        return dict(collections.Counter(by_version[name] for name in opened if name in by_version))


@pytest.fixture
def race(con, lake, stepped):
    return Race(con, lake, stepped)


def insert(first, count=10, p="range % 4", s="'new'"):
    return f"INSERT INTO t SELECT {first} + range, {p}, {s} FROM range({count})"


DELETE_LOW = "DELETE FROM t WHERE k < 100"
LOG_ALONE = {
    # Ours and theirs: the log tells enough.
    "bounds of other keys": (DELETE_LOW, [insert(5000 + 10 * i) for i in range(20)]),
    "an update by others' bounds": ("UPDATE t SET s = 'mine' WHERE k = 7 AND s = 'old'", [insert(0, s="'other'"), insert(5000)]),
    "bounds of a merge's keys": (
        "MERGE INTO t USING (SELECT range + 990 AS k FROM range(20)) AS r ON t.k = r.k WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (r.k, 0, 'm')",
        [insert(5000), insert(2000, 1)],
    ),
    "null counts": ("DELETE FROM t WHERE s IS NULL", [insert(0)]),
    "nothing but nulls": ("UPDATE t SET p = 9 WHERE s = 'old' AND k = 3", [insert(3, 1, s="NULL")]),
    "others' vectors": (DELETE_LOW, [f"DELETE FROM t WHERE k BETWEEN {k} AND {k + 9}" for k in range(200, 500, 20)]),
    "others' vectors beside an update": ("UPDATE t SET s = 'mine' WHERE p = 1", ["DELETE FROM t WHERE p = 2", "DELETE FROM t WHERE p = 3"]),
    "updates of other rows": (DELETE_LOW, ["UPDATE t SET s = 'new' WHERE k BETWEEN 300 AND 310", "UPDATE t SET s = 'newer' WHERE k = 305"]),
    "rows that came and went": (DELETE_LOW, [insert(50, 1), "DELETE FROM t WHERE k = 50 AND s = 'new'"]),
    "vectors, what we read is elsewhere": ("INSERT INTO t SELECT count(*), 0, 'mine' FROM t WHERE k > 4000", ["DELETE FROM t WHERE k < 500", insert(3000)]),
    "we only insert": (insert(9000), [insert(0), "DELETE FROM t WHERE k < 10", "UPDATE t SET s = 'x'"]),
}  # fmt: skip


@pytest.mark.parametrize("level", ["Serializable", "WriteSerializable"])
@pytest.mark.parametrize("case", LOG_ALONE)
def test_the_log_is_enough(race, case, level):
    race.create(properties=f", 'delta.isolationLevel' = '{level}'")
    assert race.files_read(*LOG_ALONE[case]) == {}


def test_partitions_are_enough(race):
    race.create("PARTITIONED BY (p)")
    winners = [insert(0, 100, p="1"), insert(0, 100, p="NULL"), "UPDATE t SET s = 'x' WHERE p = 2", "DELETE FROM t WHERE p = 3"]
    assert race.files_read("DELETE FROM t WHERE p = 0 AND k % 3 = 1", winners) == {}
    # k % 3 tells nothing about a file; of the same partition only rows can tell.
    winners = [insert(0, 3, p="3", s="'x'"), "INSERT INTO t VALUES (3, 0, 'x'), (6, 0, 'x')", insert(1, 1, p="2")]
    assert race.files_read("UPDATE t SET s = 'mine' WHERE p = 0 AND k % 3 = 2", winners) == {8: 1}


def test_only_the_files_in_question_are_read(race):
    race.create()
    winners = [insert(100 * i, 2, s=f"'{i}'") for i in range(2, 12)]  # two keys each; four of them within our bounds
    assert race.files_read("DELETE FROM t WHERE k BETWEEN 410 AND 830 AND k % 100 > 50", winners) == {5: 1, 6: 1, 7: 1, 8: 1}


def test_interleaved_keys_of_a_merge_are_read(race):
    race.create()
    mine = "MERGE INTO t USING (SELECT range * 2 + 2000 AS k FROM range(100)) AS r ON t.k = r.k WHEN NOT MATCHED THEN INSERT VALUES (r.k, 0, 'm')"
    assert race.files_read(mine, ["INSERT INTO t VALUES (2011, 0, 'x')", insert(3000)]) == {2: 1}


def test_removed_rows_that_we_only_read(race):
    """Positions do not tell whether we have read a row that we did not remove: the file is asked for those rows, once for all winners."""
    race.create()
    race.con.execute("INSERT INTO t SELECT 5000 + range, 0, 'second' FROM range(100)")
    mine = "INSERT INTO t SELECT count(*), 0, 'mine' FROM t WHERE k BETWEEN 5 AND 5005"
    assert race.files_read(mine, ["DELETE FROM t WHERE k < 3", "DELETE FROM t WHERE k = 4"]) == {1: 1}


@pytest.mark.parametrize("level", ["Serializable", "WriteSerializable"])
def test_clashes(race, level):
    race.create(properties=f", 'delta.isolationLevel' = '{level}'")
    # Two removed one row: bitmaps alone. The row is read to be shown.
    assert race.files_read(DELETE_LOW, [insert(5000), "DELETE FROM t WHERE k = 5"], refused="DELETE_DELETE") == {1: 1}
    refused = "CONCURRENT_APPEND" if level == "Serializable" else None
    assert race.files_read("DELETE FROM t WHERE k = 6", [insert(6, 1), insert(7000)], refused)[4] == 1


def test_without_vectors_files_that_nobody_shares_are_not_read(race):
    race.create("PARTITIONED BY (p)", ", 'delta.enableDeletionVectors' = 'false'")
    assert race.files_read("DELETE FROM t WHERE p = 0 AND k < 100", ["DELETE FROM t WHERE p = 1 AND k > 500", "UPDATE t SET s = 'x' WHERE p = 2"]) == {}


def test_a_file_without_vectors_is_compared_with_its_copy(race):
    race.create()
    race.con.execute("INSERT INTO t SELECT 5000 + range, 0, 'second' FROM range(100)")
    copy = lambda: rearrange(race.con, race.table, ["SELECT * FROM t WHERE k < 5000 ORDER BY s, k", "SELECT * FROM t WHERE k >= 5000"], 3)  # noqa: E731
    # Ours, and the new ones, whose bounds nobody wrote down; not the other old one.
    assert race.files_read(DELETE_LOW, [copy]) == {1: 1, 3: 2}


def test_row_ids_lead_the_way(race):
    """Rearranged by another engine that keeps row ids: the old file's ids are in the log, the new file is asked for them."""
    race.create(properties=", 'delta.enableRowTracking' = 'true'")
    column = "_row-id-col-1"
    metadata = delta_log.metadata(race.table)
    metadata["configuration"] |= {"delta.rowTracking.materializedRowIdColumnName": column,
                                  "delta.rowTracking.materializedRowCommitVersionColumnName": "_row-commit-version-col-1"}  # fmt: skip
    write_commit(race.table, 2, {"commitInfo": {"operation": "SET TBLPROPERTIES"}}, {"metaData": metadata})
    move = lambda: rearrange(race.con, race.table, f'SELECT *, k AS "{column}" FROM t ORDER BY hash(k)', 3, {"delta.rowTracking.preserved": "true"})  # noqa: E731
    assert race.files_read("DELETE FROM t WHERE k % 10 = 3", [move, "DELETE FROM t WHERE k % 10 = 4"]) == {3: 1}
    assert race.con.execute("SELECT count(*) FROM t WHERE k % 10 IN (3, 4)").fetchone() == (0,)


def test_a_rearranged_partition_is_not_read(race):
    race.create("PARTITIONED BY (p)")
    race.con.execute(insert(5000, 100, p="range % 2"))
    assert race.files_read("DELETE FROM t WHERE p = 0 AND k % 3 = 1", ["OPTIMIZE t WHERE p = 1", "OPTIMIZE t WHERE p = 1 ZORDER BY (k)"]) == {}


def test_our_own_rearrangement_reads_nothing(race):
    """Where each row came from is known: what others removed or moved is masked."""
    race.create()
    race.con.execute(insert(5000, 100))
    assert race.files_read("OPTIMIZE t ZORDER BY (k)", ["DELETE FROM t WHERE k % 3 = 0", "UPDATE t SET s = 'x' WHERE p = 1", insert(0)]) == {}


def test_what_moved_is_not_read_if_we_remove_nothing(race):
    race.create()
    move = lambda: rearrange(race.con, race.table, "SELECT * FROM t ORDER BY hash(k)", 2)  # noqa: E731
    assert race.files_read("INSERT INTO t SELECT count(*), 0, 'mine' FROM t", [move]) == {}
