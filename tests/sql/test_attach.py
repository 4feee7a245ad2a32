# SPDX-License-Identifier: Apache-2.0
"""One table is reachable by one attachment only, and a path that lies in an attached lake is read through it: else a transaction would not
notice what it reads."""

import duckdb
import pytest

import delta_log
from conftest import quote


@pytest.fixture
def table(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id, 0 AS n FROM range(100)")
    return lake / "t"


def attach(con, path, name, options=""):
    con.execute(f"ATTACH {quote(path)} AS {name} (TYPE braid{options})")


@pytest.mark.parametrize("where", ["lake", "lake/", "lake/t", ".", "link", "link/t"])
@pytest.mark.parametrize("options", ["", ", READ_ONLY"])
def test_tables_cannot_be_attached_twice(con, lake, table, where, options):
    (lake.parent / "link").symlink_to(lake)
    with pytest.raises(duckdb.BinderException, match=r"attached as \"lake\".*DETACH"):
        attach(con, f"{lake.parent}/{where}", "twice", options)


def test_neighbours_and_detached_lakes_can_be_attached(con, lake, table):
    neighbour = lake.parent / "lake2"  # its name begins with the other's
    neighbour.mkdir()
    attach(con, neighbour, "neighbour")
    con.execute("USE memory")
    con.execute("DETACH lake")
    attach(con, table, "t")
    assert con.execute("SELECT count(*) FROM t.t").fetchone() == (100,)


def test_a_link_to_a_table_is_that_table(con, lake, table):
    (lake / "other_name").symlink_to(table)
    con.execute("BEGIN")
    con.execute("UPDATE t SET n = 1 WHERE id < 10")
    assert con.execute("SELECT sum(n) FROM other_name").fetchone() == (10,)
    con.execute("UPDATE other_name SET n = n + 1 WHERE id < 5")
    con.execute("COMMIT")
    assert con.execute("SELECT sum(n) FROM t").fetchone() == (15,)
    assert delta_log.version(table) == 1


def test_braid_scan_sees_what_its_transaction_staged(con, table):
    con.execute("BEGIN")
    con.execute("DELETE FROM t WHERE id < 40")
    scan = f"FROM braid_scan({quote(table)}"
    assert con.execute(f"SELECT count(*) {scan})").fetchone() == (60,)
    assert con.execute(f"SELECT count(*) {scan}, version => 0)").fetchone() == (100,)
    con.execute("ROLLBACK")


def test_braid_scan_reads_the_pinned_version(con, connect, lake, table):
    other = connect(lake)
    con.execute("BEGIN")
    assert con.execute("SELECT count(*) FROM t").fetchone() == (100,)
    other.execute("DELETE FROM t WHERE id < 50")
    assert con.execute(f"SELECT count(*) FROM braid_scan({quote(table)})").fetchone() == (100,)
    con.execute("COMMIT")
    assert con.execute(f"SELECT count(*) FROM braid_scan({quote(table)})").fetchone() == (50,)


@pytest.mark.parametrize("read", [
    "SELECT sum(n) FROM braid_scan('{}') WHERE id = 7",
    "INSERT INTO t SELECT id + 1000, n FROM braid_scan('{}') WHERE id = 7",
])
def test_what_braid_scan_reads_can_clash(con, connect, lake, table, read):
    other = connect(lake)
    con.execute("BEGIN")
    con.execute(read.format(table))
    con.execute("UPDATE t SET n = 5 WHERE id = 50")
    other.execute("UPDATE t SET n = 1 WHERE id = 7")
    with pytest.raises(duckdb.TransactionException, match="DELTA_CONCURRENT"):
        con.execute("COMMIT")
    assert con.execute("SELECT n FROM t WHERE id = 50").fetchone() == (0,)


def test_braid_scan_of_an_uncommitted_table(con, lake):
    con.execute("BEGIN")
    con.execute("CREATE TABLE fresh AS SELECT 1 AS id")
    assert con.execute(f"SELECT * FROM braid_scan({quote(lake / 'fresh')})").fetchall() == [(1,)]
    con.execute("COMMIT")
