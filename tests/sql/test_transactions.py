# SPDX-License-Identifier: Apache-2.0
"""Several statements in one transaction are one commit; rolled back they never were."""

import json
import threading

import duckdb
import pytest

import delta_log


def rows(con, query):
    return con.execute(query).fetchall()


@pytest.fixture
def table(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id, 'v' AS s FROM range(100)")
    return lake / "t"


def test_many_statements_are_one_commit(con, connect, lake, table):
    other = connect(lake)
    con.execute("BEGIN")
    con.execute("INSERT INTO t VALUES (1000, 'mine')")
    con.execute("DELETE FROM t WHERE id < 10")
    con.execute("UPDATE t SET s = 'mine2' WHERE s = 'mine'")
    con.execute("UPDATE t SET s = 'mine3' WHERE s = 'mine2'")
    con.execute("DELETE FROM t WHERE id BETWEEN 5 AND 14")
    assert rows(con, "SELECT count(*), count(*) FILTER (s = 'mine3') FROM t") == [(86, 1)]
    assert rows(other, "SELECT count(*), count(*) FILTER (s <> 'v') FROM t") == [(100, 0)]
    con.execute("COMMIT")
    assert delta_log.version(table) == 1
    assert rows(other, "SELECT count(*), count(*) FILTER (s = 'mine3') FROM t") == [(86, 1)]
    (old,) = [add for add in delta_log.active(table).values() if "deletionVector" in add]
    assert old["deletionVector"]["cardinality"] == 15
    assert delta_log.files_on_disk(table) == set(delta_log.active(table)) | {
        name for name in delta_log.files_on_disk(table) if name.startswith("deletion_vector")}


def test_rows_inserted_and_deleted_again_leave_nothing(con, table):
    before = delta_log.files_on_disk(table)
    con.execute("BEGIN")
    con.execute("INSERT INTO t VALUES (1000, 'x'), (1001, 'y')")
    con.execute("DELETE FROM t WHERE id >= 1000")
    con.execute("COMMIT")
    assert delta_log.version(table) == 0
    assert delta_log.files_on_disk(table) == before


def test_part_of_own_rows_deleted(con, table):
    con.execute("BEGIN")
    con.execute("INSERT INTO t SELECT range + 1000, 'x' FROM range(10)")
    con.execute("DELETE FROM t WHERE id IN (1000, 1003)")
    con.execute("COMMIT")
    assert rows(con, "SELECT count(*), min(id) FROM t WHERE s = 'x'") == [(8, 1001)]


def test_rollback_removes_every_file(con, table):
    before = delta_log.files_on_disk(table)
    con.execute("BEGIN")
    con.execute("INSERT INTO t SELECT range, 'x' FROM range(1000)")
    con.execute("UPDATE t SET s = 'y' WHERE id = 5")
    con.execute("ROLLBACK")
    assert delta_log.files_on_disk(table) == before
    assert rows(con, "SELECT count(*), min(s), max(s) FROM t") == [(100, "v", "v")]


def test_commit_of_an_aborted_transaction_changes_nothing(con, table):
    """Trap 24: DuckDB answers such a COMMIT with success, or an error, and rolls back."""
    before = delta_log.files_on_disk(table)
    con.execute("BEGIN")
    con.execute("INSERT INTO t VALUES (1000, 'x')")
    with pytest.raises(duckdb.ConversionException):
        con.execute("INSERT INTO t SELECT CASE WHEN range = 7 THEN 'x' ELSE '1' END::BIGINT, 'y' FROM range(10)")
    with pytest.raises(duckdb.TransactionException, match="aborted"):
        con.execute("INSERT INTO t VALUES (1, 'z')")
    try:
        con.execute("COMMIT")
    except duckdb.TransactionException:
        con.execute("ROLLBACK")
    assert delta_log.version(table) == 0
    assert delta_log.files_on_disk(table) == before


def test_one_transaction_changes_one_table(con, lake, table):
    con.execute("CREATE TABLE other (id BIGINT)")
    before = delta_log.files_on_disk(lake / "other")
    con.execute("BEGIN")
    con.execute("INSERT INTO t VALUES (1000, 'x')")
    for second in ("INSERT INTO other VALUES (1)", "DELETE FROM other", "UPDATE other SET id = 1",
                   "MERGE INTO other USING t USING (id) WHEN NOT MATCHED THEN INSERT (id) VALUES (t.id)"):
        with pytest.raises(duckdb.BinderException, match=r"/t .*/other"):  # before anything is staged
            con.execute(second)
    with pytest.raises(duckdb.BinderException, match=r"/t .*/other"):
        con.execute("PREPARE p AS INSERT INTO other VALUES (1)")
    assert rows(con, "SELECT count(*) FROM t") == [(101,)]  # the transaction goes on
    con.execute("COMMIT")
    assert delta_log.files_on_disk(lake / "other") == before
    assert delta_log.version(lake / "t") == 1
    con.execute("BEGIN")
    con.execute("DELETE FROM t WHERE id = -1")  # touches nothing
    con.execute("INSERT INTO other SELECT max(id) FROM t")
    con.execute("COMMIT")
    assert rows(con, "FROM other") == [(1000,)]


def test_create_insert_and_read_inside_one_transaction(con, lake):
    con.execute("BEGIN")
    con.execute("CREATE TABLE n (id BIGINT, p INTEGER) PARTITIONED BY (p)")
    con.execute("INSERT INTO n SELECT range, range % 2 FROM range(10)")
    con.execute("DELETE FROM n WHERE id = 3")
    assert rows(con, "SELECT count(*) FROM n") == [(9,)]
    con.execute("COMMIT")
    assert delta_log.version(lake / "n") == 0
    assert delta_log.info(lake / "n")["operation"].startswith("CREATE TABLE")
    assert rows(con, "SELECT count(*) FROM n") == [(9,)]


def test_rolled_back_create_leaves_no_table(con, lake):
    con.execute("BEGIN")
    con.execute("CREATE TABLE n PARTITIONED BY (p) AS SELECT range AS id, range % 3 AS p FROM range(10)")
    con.execute("ROLLBACK")
    assert not (lake / "n").exists()
    assert "n" not in [name for (name,) in rows(con, "SHOW TABLES")]
    con.execute("CREATE TABLE n AS SELECT 2 AS id")
    assert rows(con, "FROM n") == [(2,)]


def test_replace_inside_a_transaction(con, table):
    con.execute("BEGIN")
    con.execute("INSERT INTO t VALUES (1000, 'gone')")
    con.execute("CREATE OR REPLACE TABLE t AS SELECT 1 AS x")
    con.execute("INSERT INTO t VALUES (2)")
    assert rows(con, "FROM t ORDER BY x") == [(1,), (2,)]
    con.execute("COMMIT")
    assert rows(con, "FROM t ORDER BY x") == [(1,), (2,)]
    assert delta_log.version(table) == 1
    assert delta_log.files_on_disk(table) == {line["add"]["path"] for lines in delta_log.commits(table).values() for line in lines if "add" in line}


def test_a_transaction_reads_one_version(con, connect, lake, table):
    other = connect(lake)
    con.execute("BEGIN")
    assert rows(con, "SELECT count(*) FROM t") == [(100,)]
    other.execute("DELETE FROM t WHERE id < 50")
    assert rows(con, "SELECT count(*) FROM t") == [(100,)]
    con.execute("COMMIT")
    assert rows(con, "SELECT count(*) FROM t") == [(50,)]


def test_prepared_statements_see_the_newest_version(con, connect, lake, table):
    other = connect(lake)
    con.execute("PREPARE p AS DELETE FROM t WHERE id = $1")
    con.execute("EXECUTE p(1)")
    other.execute("DELETE FROM t WHERE id = 2")
    con.execute("EXECUTE p(3)")
    assert rows(con, "SELECT count(*), min(id) FROM t") == [(97, 0)]
    assert delta_log.version(table) == 3


def test_explain_changes_nothing(con, table):
    con.execute("EXPLAIN DELETE FROM t")
    con.execute("EXPLAIN UPDATE t SET s = 'x'")
    con.execute("EXPLAIN INSERT INTO t SELECT * FROM t")
    assert delta_log.version(table) == 0


@pytest.mark.parametrize("statement", ["INSERT INTO t SELECT range, md5(range::VARCHAR) FROM range(1000000000)",
                                       "UPDATE t SET s = (SELECT max(md5(range::VARCHAR)) FROM range(1000000000))"])
def test_an_interrupt_stops_a_statement_and_leaves_no_file(con, table, statement):
    before = delta_log.files_on_disk(table)
    caught = []

    def run():
        try:
            con.execute(statement)
        except duckdb.Error as error:
            caught.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    while thread.is_alive():
        con.interrupt()
        thread.join(0.02)
    assert [type(error) for error in caught] == [duckdb.InterruptException]
    assert delta_log.files_on_disk(table) == before
    assert delta_log.version(table) == 0
    con.execute("DELETE FROM t WHERE id = 1")
    assert delta_log.version(table) == 1


def test_an_interrupt_that_comes_too_late_is_no_failure(con, table):
    for version in range(1, 11):
        con.execute("BEGIN")
        con.execute(f"DELETE FROM t WHERE id = {version}")
        commit = table / "_delta_log" / f"{version:020}.json"

        def interrupt():
            while not commit.exists():
                pass
            con.interrupt()

        thread = threading.Thread(target=interrupt)
        thread.start()
        con.execute("COMMIT")
        thread.join()
    assert rows(con, "SELECT count(*) FROM t") == [(90,)]


def test_the_commit_says_what_it_was_made_of(con, table):
    con.execute("BEGIN")
    con.execute("INSERT INTO t VALUES (1000, 'x')")
    con.execute("DELETE FROM t WHERE id = 77777")  # changes nothing
    con.execute("UPDATE t SET s = 'y' WHERE id = 1000")
    con.execute("DELETE FROM t WHERE id = 1")
    con.execute("COMMIT")
    info = delta_log.info(table)
    assert info["operation"] == "TRANSACTION"
    assert json.loads(info["operationParameters"]["statements"]) == ["WRITE", "UPDATE", "DELETE"]


def test_a_row_inserted_then_updated_then_deleted(con, table):
    con.execute("BEGIN")
    con.execute("INSERT INTO t VALUES (1000, 'new'), (1001, 'stays')")
    con.execute("UPDATE t SET s = 'twice' WHERE id IN (1000, 7)")
    assert rows(con, "FROM t WHERE s = 'twice' ORDER BY id") == [(7, "twice"), (1000, "twice")]
    con.execute("UPDATE t SET s = s || '!', id = id + 5000 WHERE s = 'twice'")
    con.execute("DELETE FROM t WHERE id = 6000")
    assert rows(con, "SELECT * FROM t WHERE id >= 1000 ORDER BY id") == [(1001, "stays"), (5007, "twice!")]
    con.execute("COMMIT")
    assert rows(con, "SELECT * FROM t WHERE id >= 1000 ORDER BY id") == [(1001, "stays"), (5007, "twice!")]
    assert rows(con, "SELECT count(*) FROM t") == [(101,)]
    assert delta_log.version(table) == 1


def test_other_tables_are_pinned_at_first_touch(con, connect, lake, table):
    con.execute("CREATE TABLE seen AS SELECT 1 AS x")
    con.execute("CREATE TABLE unseen AS SELECT 1 AS x")
    other = connect(lake)
    con.execute("BEGIN")
    assert rows(con, "FROM seen") == [(1,)]
    other.execute("UPDATE seen SET x = 2")
    other.execute("UPDATE unseen SET x = 2")
    con.execute("INSERT INTO t SELECT seen.x * 10000 + unseen.x, 'read' FROM seen, unseen")
    con.execute("COMMIT")  # what it read of other tables cannot clash
    assert rows(con, "SELECT id FROM t WHERE s = 'read'") == [(10002,)]
    assert rows(con, "FROM seen") == [(2,)]


def test_a_transaction_that_only_reads_never_conflicts(con, connect, lake, table):
    other = connect(lake)
    con.execute("BEGIN")
    assert rows(con, "SELECT count(*) FROM t") == [(100,)]
    other.execute("DELETE FROM t WHERE id < 50")
    other.execute("CREATE OR REPLACE TABLE t AS SELECT 1 AS id, 'z' AS s")
    assert rows(con, "SELECT count(*) FROM t") == [(100,)]
    con.execute("COMMIT")
    assert delta_log.version(table) == 2


def test_a_lost_connection_leaves_nothing(connect, con, lake, table):
    before = delta_log.files_on_disk(table)
    other = connect(lake)
    other.execute("BEGIN")
    other.execute("INSERT INTO t SELECT range, 'x' FROM range(1000)")
    other.execute("UPDATE t SET s = 'y' WHERE id = 5")
    assert delta_log.files_on_disk(table) != before
    other.close()
    assert delta_log.files_on_disk(table) == before
    assert rows(con, "SELECT count(*) FROM t") == [(100,)]


def test_a_connection_sees_its_own_and_then_the_commits_of_others(con, connect, lake, table):
    other = connect(lake)
    for i in range(5):
        con.execute(f"INSERT INTO t VALUES ({1000 + i}, 'mine')")
        assert rows(con, "SELECT count(*) FROM t") == [(101 + 2 * i,)]
        assert rows(other, "SELECT count(*) FROM t") == [(101 + 2 * i,)]
        other.execute(f"INSERT INTO t VALUES ({2000 + i}, 'theirs')")
        assert rows(other, "SELECT count(*) FROM t") == [(102 + 2 * i,)]
        assert rows(con, "SELECT count(*) FROM t") == [(102 + 2 * i,)]
