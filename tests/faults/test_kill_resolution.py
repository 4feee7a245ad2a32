# SPDX-License-Identifier: Apache-2.0
"""kill -9 while a lost race is resolved: a process has an open transaction, others commit, and its COMMIT dies before each operation on a file of the
lake in turn. Nothing acknowledged is lost, the table holds all of the transaction or nothing of it, other engines read it, the next writer goes on."""
import shutil

import pytest

import delta_log
from judges import seen_by_deltalake

CASES = {
    # The table, the transaction, the winners; kinds of steps that the resolution must have.
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


@pytest.mark.parametrize("case", CASES)
def test_killed_at_each_step(case, lake, tmp_path, connect, stepped):
    create, mine, winners, kinds = CASES[case]
    con = connect(lake)
    con.execute(create)
    con.execute("INSERT INTO t SELECT range, range % 2 FROM range(1000)")
    transaction = stepped(lake, *mine)
    for winner in winners:
        con.execute(winner)
    before = con.execute(ROWS).fetchall()
    after = alone(con, before, mine)
    assert before != after or mine[0].startswith("OPTIMIZE")
    won = delta_log.version(lake / "t")
    shutil.copytree(lake, tmp_path / "won")

    steps, said = transaction.commit()
    assert said == "acknowledged"
    assert sum(is_commit(step, won + 1) for step in steps) == 1
    assert {kind for kind in kinds for step in steps if step[0] == kind[0] and kind[1] in step[1]} == kinds, steps
    for last in range(1, len(steps) + 2):
        shutil.rmtree(lake)
        shutil.copytree(tmp_path / "won", lake)
        done, said = transaction.commit(last)
        place = f"before step {last}, {steps[last - 1] if last <= len(steps) else 'none'}"
        assert len(done) == last - 1 and said == ("acknowledged" if last > len(steps) else None), place

        committed = any(is_commit(step, won + 1) for step in done)
        con = connect(lake)
        assert con.execute(ROWS).fetchall() == (after if committed else before), place
        assert delta_log.version(lake / "t") == won + committed, place
        assert sorted(seen_by_deltalake(lake / "t")) == (after if committed else before), place
        con.execute("DELETE FROM t WHERE k % 7 = 0")
        con.execute("INSERT INTO t VALUES (-1, 0)")
        expected = sorted([(-1, 0), *((k, v) for k, v in (after if committed else before) if k % 7)])
        assert con.execute(ROWS).fetchall() == expected, place
        assert sorted(seen_by_deltalake(lake / "t")) == expected, place
        con.close()
