# SPDX-License-Identifier: Apache-2.0
"""OPTIMIZE and REORG ended by kill -9 before each of their operations on a file of the lake, from the first byte of a new file to the last of the
checksum: the rows are the same for every engine, there is the whole commit or none, and the next one does what is left."""

import shutil

import pytest

import delta_log
from judges import seen_by_deltalake

CASES = {
    # What the table is besides, the statement, how many files it leaves.
    "bin-packing": ("", "OPTIMIZE t", 1),
    "order of two columns": ("", "OPTIMIZE t ZORDER BY (k, v)", 1),
    "purge": ("", "REORG TABLE t APPLY (PURGE)", 2),
    "partitions": ("PARTITIONED BY (v)", "OPTIMIZE t", 2),
    "clustered": ("CLUSTER BY (v, k)", "OPTIMIZE t", 1),
    "without vectors": ("TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')", "OPTIMIZE t", 1),
}
ROWS = "SELECT k, v FROM t ORDER BY ALL"


@pytest.mark.parametrize("case", CASES)
def test_killed_at_each_step(case, lake, tmp_path, connect, stepped):
    more, statement, count = CASES[case]
    con = connect(lake)
    con.execute(f"CREATE TABLE t (k BIGINT, v BIGINT) {more}")
    for first in range(0, 300, 100):
        con.execute(f"INSERT INTO t SELECT range, range % 2 FROM range({first}, {first + 100})")
    con.execute("DELETE FROM t WHERE k % 10 = 3")
    con.execute("INSERT INTO t SELECT range, range % 2 FROM range(300, 310)")
    rows, before = con.execute(ROWS).fetchall(), delta_log.version(lake / "t")
    assert len(rows) == 280
    process = stepped(lake, watched=statement)
    shutil.copytree(lake, tmp_path / "saved")

    steps, said = process.run()
    assert said == "acknowledged"
    assert {kind for kind, path in steps if path.endswith(".parquet")} >= {"open", "create", "write", "sync"}
    for done, place in process.die_before_each(steps, lake, tmp_path / "saved"):
        committed = any(kind == "link" and path.endswith(f"{before + 1:020}.json") for kind, path in done)

        con = connect(lake)
        assert delta_log.version(lake / "t") == before + committed, place
        assert con.execute(ROWS).fetchall() == rows, place
        assert sorted(seen_by_deltalake(lake / "t")) == rows, place
        con.execute("DELETE FROM t WHERE k = 0")
        con.execute(statement)
        assert len(delta_log.active(lake / "t")) == count, place
        assert con.execute(ROWS).fetchall() == rows[1:], place
        assert sorted(seen_by_deltalake(lake / "t")) == rows[1:], place
        con.close()
