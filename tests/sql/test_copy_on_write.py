# SPDX-License-Identifier: Apache-2.0
"""DELETE and UPDATE where deletion vectors are off or unknown to the table: files are rewritten, nothing is switched on."""

import json

import duckdb
import pytest

import delta_log


def rows(con, query):
    return con.execute(query).fetchall()


@pytest.fixture(params=["feature on, property off", "legacy protocol"])
def table(request, con, lake):
    """100 rows in two files."""
    con.execute('CREATE TABLE t (id BIGINT, p INTEGER, s VARCHAR) PARTITIONED BY (p) WITH ("delta.enableDeletionVectors" = false)')
    if request.param != "legacy protocol":
        log = lake / "t" / "_delta_log" / "00000000000000000000.json"
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        for line in lines:
            if "protocol" in line:
                line["protocol"] = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["deletionVectors"],
                                    "writerFeatures": ["deletionVectors", "appendOnly", "invariants"]}
        log.write_text("".join(json.dumps(line) + "\n" for line in lines))
        (lake / "t" / "_delta_log" / "00000000000000000000.crc").unlink(missing_ok=True)
    con.execute("INSERT INTO t SELECT range, range % 2, 'old' FROM range(100)")
    return lake / "t"


def check_no_vectors(table):
    assert not any("deletionVector" in add for add in delta_log.active(table).values())
    assert len([line for lines in delta_log.commits(table).values() for line in lines if "protocol" in line]) == 1
    assert len([line for lines in delta_log.commits(table).values() for line in lines if "metaData" in line]) == 1


def test_delete_replaces_the_touched_file(con, table):
    before = delta_log.active(table)
    assert rows(con, "DELETE FROM t WHERE id IN (1, 3)") == [(2,)]
    after = delta_log.active(table)
    assert len(after) == 2 and len(set(before) & set(after)) == 1
    assert rows(con, "SELECT p, count(*), min(id) FROM t GROUP BY p ORDER BY p") == [(0, 50, 0), (1, 48, 5)]
    (add,) = delta_log.actions(table, "add")
    assert add["partitionValues"] == {"p": "1"}
    assert delta_log.stats(add)["numRecords"] == 48 and delta_log.stats(add)["tightBounds"] is True
    metrics = delta_log.info(table)["operationMetrics"]
    assert (metrics["numDeletedRows"], metrics["numCopiedRows"]) == ("2", "48")
    check_no_vectors(table)


def test_delete_of_a_whole_file_writes_none(con, table):
    con.execute("DELETE FROM t WHERE p = 1")
    assert delta_log.actions(table, "add") == []
    assert len(delta_log.active(table)) == 1
    check_no_vectors(table)


def test_update_also_of_the_partition_column(con, table):
    con.execute("UPDATE t SET s = 'new' WHERE id = 2")
    con.execute("UPDATE t SET p = 7 WHERE id IN (2, 3)")
    assert rows(con, "SELECT id, p, s FROM t WHERE p = 7 ORDER BY id") == [(2, 7, "new"), (3, 7, "old")]
    assert rows(con, "SELECT count(*), count(DISTINCT id) FROM t") == [(100, 100)]
    check_no_vectors(table)


def test_several_statements_in_one_transaction(con, table):
    con.execute("BEGIN")
    con.execute("INSERT INTO t SELECT range + 1000, 1, 'mine' FROM range(10)")
    con.execute("DELETE FROM t WHERE id IN (1, 1000)")
    con.execute("UPDATE t SET s = 'again' WHERE id IN (3, 1001)")
    con.execute("DELETE FROM t WHERE id IN (5, 1002)")
    con.execute("UPDATE t SET s = 'third' WHERE s = 'again'")
    assert rows(con, "SELECT count(*), count(*) FILTER (s = 'third') FROM t") == [(106, 2)]
    con.execute("COMMIT")
    assert rows(con, "SELECT count(*), count(*) FILTER (s = 'third') FROM t") == [(106, 2)]
    named = {line["add"]["path"] for lines in delta_log.commits(table).values() for line in lines if "add" in line}
    assert delta_log.files_on_disk(table) == named
    check_no_vectors(table)


def test_conflicts_are_judged_by_file(con, connect, lake, table):
    first, second, third = connect(lake), connect(lake), connect(lake)
    for connection, statement in ((first, "DELETE FROM t WHERE id = 0"), (second, "DELETE FROM t WHERE id = 1"), (third, "DELETE FROM t WHERE id = 2")):
        connection.execute("BEGIN")
        connection.execute(statement)
    first.execute("COMMIT")
    second.execute("COMMIT")  # another file
    with pytest.raises(duckdb.TransactionException, match="SQLSTATE: 2D521"):
        third.execute("COMMIT")
    assert rows(con, "SELECT count(*) FROM t") == [(98,)]
    named = {line["add"]["path"] for lines in delta_log.commits(table).values() for line in lines if "add" in line}
    assert delta_log.files_on_disk(table) == named


def test_a_failed_rewrite_leaves_nothing(con, table):
    before = delta_log.files_on_disk(table)
    with pytest.raises(duckdb.Error):
        con.execute("UPDATE t SET id = (CASE WHEN id = 99 THEN 'x' ELSE '1' END)::BIGINT")
    assert delta_log.files_on_disk(table) == before
