# SPDX-License-Identifier: Apache-2.0
"""REORG TABLE: columns that were dropped leave the files, and nothing else is rewritten for it; APPLY (UPGRADE ...) is refused by name."""

import pyarrow.parquet as pq
import pytest

import delta_log
from judges import assert_all_see
from refusal import refuse


def purge(con):
    return con.execute("REORG TABLE t APPLY (PURGE)").fetchone()[1]["numFilesRemoved"]


def columns_of(table, path):
    """Names of all nodes of the file's schema: a list or a struct is more than one."""
    return [part for column in pq.ParquetFile(table / path).schema for part in column.path.split(".")]


@pytest.mark.parametrize("mode", ["name", "id"])
def test_dropped_columns_leave_the_files(con, lake, mode):
    con.execute(f"CREATE TABLE t (id BIGINT, secret VARCHAR, v INT) TBLPROPERTIES ('delta.columnMapping.mode' = '{mode}')")
    con.execute("INSERT INTO t VALUES (1, 'a', 10), (2, 'b', 20)")
    assert purge(con) == 0
    con.execute("ALTER TABLE t DROP COLUMN secret")
    con.execute("INSERT INTO t VALUES (3, 30)")
    clean = [path for path, add in delta_log.active(lake / "t").items() if delta_log.stats(add)["numRecords"] == 1]
    assert purge(con) == 1
    files = delta_log.active(lake / "t")
    assert clean[0] in files and all(len(columns_of(lake / "t", path)) == 2 for path in files)
    assert {action["dataChange"] for kind in ("add", "remove") for action in delta_log.actions(lake / "t", kind)} == {False}
    assert assert_all_see(con, lake / "t") == [(1, 10), (2, 20), (3, 30)]
    at = delta_log.version(lake / "t")
    assert purge(con) == 0 and delta_log.version(lake / "t") == at


def test_a_column_of_the_same_name_is_another_one(con, lake):
    con.execute("CREATE TABLE t (id BIGINT, x INT) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    con.execute("INSERT INTO t VALUES (1, 1)")
    con.execute("ALTER TABLE t DROP COLUMN x")
    con.execute("ALTER TABLE t ADD COLUMN x INT")
    assert purge(con) == 1
    assert assert_all_see(con, lake / "t") == [(1, None)]


def test_fields_of_structs_and_lists(con, lake):
    con.execute("""CREATE TABLE t (id BIGINT, st STRUCT(a INT, b STRUCT(c INT, d INT)), l STRUCT(x INT, y INT)[], m MAP(VARCHAR, INT))
                   TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.enableRowTracking' = 'true')""")
    con.execute("INSERT INTO t VALUES (1, {'a': 1, 'b': {'c': 2, 'd': 3}}, [{'x': 1, 'y': 2}], MAP {'k': 1})")
    assert purge(con) == 0
    con.execute("ALTER TABLE t DROP COLUMN st.b.d")
    assert purge(con) == 1 and purge(con) == 0
    assert con.execute("SELECT st FROM t").fetchall() == [({"a": 1, "b": {"c": 2}},)]
    con.execute("UPDATE t SET id = 2")  # a file with ids of rows in it
    assert purge(con) == 0


def test_an_upgrade_for_iceberg_is_refused(con, lake):
    con.execute("CREATE TABLE t (id INT)")
    refuse(con, lake / "t", "REORG TABLE t APPLY (UPGRADE UNIFORM (ICEBERG_COMPAT_VERSION = 2))", "UPGRADE UNIFORM", "Iceberg", "SET TBLPROPERTIES")
    refuse(con, lake / "t", "REORG TABLE t APPLY (PURGE", "syntax error")
