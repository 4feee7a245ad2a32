# SPDX-License-Identifier: Apache-2.0
"""A lost race is resolved step by step: a process has an open transaction, others commit, and its COMMIT is stopped before each operation on a file of
the lake in turn. Ended by kill -9 there, nothing acknowledged is lost, the table holds all of the transaction or nothing of it, other engines read it,
the next writer goes on. Held up while others commit once more, it resolves that too, and reads each winner once."""
import shutil

import pytest

import delta_log
from judges import seen_by_deltalake

CASES = {
    # The table, the transaction (or one statement outside of BEGIN, in mode max), the winners; kinds of steps that the resolution must have.
    "both delete rows of one file": (
        "CREATE TABLE t (k BIGINT, v BIGINT) WITH ('delta.checkpointInterval' = '5')",
        ["UPDATE t SET v = 1 WHERE k % 3 = 1"],
        ["DELETE FROM t WHERE k % 3 = 0", "INSERT INTO t VALUES (5000, 5)", "DELETE FROM t WHERE k = 2"],
        {("create", ".bin"), ("open", ".parquet"), ("rename", ".checkpoint.parquet"), ("rename", "_last_checkpoint")},
    ),
    "several statements, partitions and row ids": (
        "CREATE TABLE t (k BIGINT, v BIGINT) PARTITIONED BY (v) WITH ('delta.enableRowTracking' = 'true')",
        ["INSERT INTO t VALUES (7000, 0)", "DELETE FROM t WHERE k % 5 = 1", "UPDATE t SET v = 2 WHERE k BETWEEN 100 AND 104"],
        ["UPDATE t SET v = 1 WHERE k % 5 = 2 AND k > 200", "INSERT INTO t VALUES (9000, 0)"],
        {("create", ".bin")},
    ),
    "merge of other keys": (
        "CREATE TABLE t (k BIGINT, v BIGINT)",
        ["""MERGE INTO t USING (SELECT range * 50 AS k FROM range(30)) AS s ON t.k = s.k
            WHEN MATCHED THEN UPDATE SET v = 7 WHEN NOT MATCHED THEN INSERT VALUES (s.k, 8)"""],
        ["DELETE FROM t WHERE k % 50 = 1", "INSERT INTO t SELECT range * 50 + 1, 3 FROM range(40)"],
        {("open", ".parquet"), ("create", ".json")},
    ),
    "files are replaced": (
        "CREATE TABLE t (k BIGINT, v BIGINT) PARTITIONED BY (v) WITH ('delta.enableDeletionVectors' = 'false')",
        ["DELETE FROM t WHERE v = 0 AND k % 2 = 0"],
        ["DELETE FROM t WHERE v = 1 AND k % 3 = 0", "INSERT INTO t VALUES (6000, 1)"],
        set(),
    ),
    "the winner changes properties": (
        "CREATE TABLE t (k BIGINT, v BIGINT)",
        ["DELETE FROM t WHERE k % 3 = 1"],
        ["ALTER TABLE t SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')", "DELETE FROM t WHERE k % 3 = 0"],
        {("create", ".bin")},
    ),
    "the winner moves our rows": (
        "CREATE TABLE t (k BIGINT, v BIGINT)",
        ["DELETE FROM t WHERE k % 3 = 1"],
        ["INSERT INTO t VALUES (5000, 5)", "OPTIMIZE t ZORDER BY (v)", "DELETE FROM t WHERE k % 3 = 0"],
        {("create", ".bin"), ("open", ".parquet")},
    ),
    "we move the winners' rows": (
        "CREATE TABLE t (k BIGINT, v BIGINT)",
        ["OPTIMIZE t ZORDER BY (v, k)"],
        ["INSERT INTO t VALUES (5000, 5)", "DELETE FROM t WHERE k % 3 = 0"],
        {("create", ".bin")},
    ),
    "rows that clash are changed again": (
        "CREATE TABLE t (k BIGINT, v BIGINT)",
        "UPDATE t SET v = v + 10 WHERE k % 3 = 1",
        ["UPDATE t SET v = v + 100 WHERE k % 6 = 1", "DELETE FROM t WHERE k = 4", "INSERT INTO t VALUES (5000, 5)"],
        {("create", ".bin"), ("create", ".parquet"), ("open", ".parquet")},
    ),
    "the whole statement is executed again": (
        "CREATE TABLE t (k BIGINT, v BIGINT)",
        """MERGE INTO t USING (SELECT range * 50 AS k FROM range(30)) AS s ON t.k = s.k
           WHEN MATCHED THEN UPDATE SET v = v + 10 WHEN NOT MATCHED THEN INSERT VALUES (s.k, 8)""",
        ["UPDATE t SET v = 3 WHERE k = 100", "INSERT INTO t VALUES (1200, 4)"],
        {("create", ".parquet"), ("open", ".parquet")},
    ),
}  # fmt: skip
ROWS = "SELECT k, v FROM t ORDER BY ALL"


def alone(con, rows, statements):
    """What the transaction makes of these rows: on a plain table."""
    cursor = con.cursor()
    cursor.execute("USE memory")
    cursor.execute("CREATE OR REPLACE TABLE t (k BIGINT, v BIGINT)")
    cursor.executemany("INSERT INTO t VALUES (?, ?)", rows)
    for statement in statements:
        if not statement.startswith("OPTIMIZE"):
            cursor.execute(statement)
    return cursor.execute(ROWS).fetchall()


def is_commit(step, version):
    return step[0] == "link" and step[1].endswith(f"{version:020}.json")


class Race:
    """The transaction of a case has run, its winners have committed; the lake can be brought back to this state, to be committed to once more. A
    statement outside of BEGIN runs each time before the winners' commits come."""

    def __init__(self, case, lake, tmp_path, connect, stepped):
        create, mine, winners, self.kinds = CASES[case]
        self.lake, self.saved, self.before, self.con = lake, tmp_path / "won", tmp_path / "before", connect(lake)
        self.con.execute(create)
        self.con.execute("INSERT INTO t SELECT range, range % 2 FROM range(1000)")
        self.late = isinstance(mine, str)
        self.mine = [mine] if self.late else mine
        if self.late:
            self.transaction = stepped(lake, "SET braid_concurrency_mode = 'max'", watched=mine)
            shutil.copytree(lake, self.before)
        else:
            self.transaction = stepped(lake, *mine)
        for winner in winners:
            self.con.execute(winner)
        self.rows = self.con.execute(ROWS).fetchall()
        self.won = delta_log.version(lake / "t")
        shutil.copytree(lake, self.saved)

    def with_mine(self, rows):
        return alone(self.con, rows, self.mine)

    def commit(self, last=0):
        return self.transaction.run(last, self.restore())

    def commit_with_pause(self, last, meanwhile):
        return self.transaction.run_with_pause(last, meanwhile, self.restore())

    def restore(self):
        """What is left to be done before the commit."""
        shutil.rmtree(self.lake)
        shutil.copytree(self.before if self.late else self.saved, self.lake)
        return (lambda: shutil.copytree(self.saved, self.lake, dirs_exist_ok=True)) if self.late else None


@pytest.fixture(params=CASES)
def race(request, lake, tmp_path, connect, stepped):
    return Race(request.param, lake, tmp_path, connect, stepped)


def test_killed_at_each_step(race, connect):
    after = race.with_mine(race.rows)
    assert race.rows != after or race.mine[0].startswith("OPTIMIZE")
    steps, said = race.commit()
    assert said == "acknowledged"
    assert sum(is_commit(step, race.won + 1) for step in steps) == 1
    assert {kind for kind in race.kinds for step in steps if step[0] == kind[0] and kind[1] in step[1]} == race.kinds, steps
    for last in range(1, len(steps) + 2):
        done, said = race.commit(last)
        place = f"before step {last}, {steps[last - 1] if last <= len(steps) else 'none'}"
        assert len(done) == last - 1 and said == ("acknowledged" if last > len(steps) else None), place

        committed = any(is_commit(step, race.won + 1) for step in done)
        con = connect(race.lake)
        assert con.execute(ROWS).fetchall() == (after if committed else race.rows), place
        assert delta_log.version(race.lake / "t") == race.won + committed, place
        assert sorted(seen_by_deltalake(race.lake / "t")) == (after if committed else race.rows), place
        con.execute("DELETE FROM t WHERE k % 7 = 0")
        con.execute("INSERT INTO t VALUES (-1, 0)")
        expected = sorted([(-1, 0), *((k, v) for k, v in (after if committed else race.rows) if k % 7)])
        assert con.execute(ROWS).fetchall() == expected, place
        assert sorted(seen_by_deltalake(race.lake / "t")) == expected, place
        con.close()


def test_others_commit_at_each_step(race, connect):
    """Twice: a row deleted that no case concerns, and one inserted."""
    expected = race.with_mine([*(row for row in race.rows if row[0] != 995), (90000, 1)])
    steps, _ = race.commit()
    overtaken = 0
    for last in range(1, len(steps) + 1):

        def meanwhile():
            con = connect(race.lake)
            con.execute("DELETE FROM t WHERE k = 995")
            con.execute("INSERT INTO t VALUES (90000, 1)")
            con.close()

        done, said = race.commit_with_pause(last, meanwhile)
        place = f"before step {last}, {steps[last - 1]}"
        assert said == "acknowledged", place
        con = connect(race.lake)
        assert con.execute(ROWS).fetchall() == expected, place
        assert sorted(seen_by_deltalake(race.lake / "t")) == expected, place
        version = max(version for version in range(race.won + 1, race.won + 4) if any(is_commit(step, version) for step in done))
        info = delta_log.info(race.lake / "t", version)
        if race.late:  # a repaired commit has read the version that it was repaired on
            assert race.won <= info["readVersion"] < version, place
        else:
            assert int(info["operationMetrics"]["numConflictsResolved"]) == version - 1 - info["readVersion"], place
        overtaken += version == race.won + 3
        con.close()
    assert overtaken >= 3
