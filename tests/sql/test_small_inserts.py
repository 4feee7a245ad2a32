# SPDX-License-Identifier: Apache-2.0
"""INSERTs of few rows are written by the thread that runs the statement, in autocommit mode as part of the commit: the outcome is that of any
other INSERT."""

import json
import threading

import duckdb
import pytest

import delta_log


@pytest.fixture
def table(con, lake):
    con.execute("CREATE TABLE t (id BIGINT NOT NULL, s VARCHAR)")
    con.execute("CREATE TEMP TABLE few AS SELECT i AS id, 'row ' || i AS s FROM range(3000) r(i)")
    return lake / "t"


def data_files(table):
    return sorted(path.name for path in table.rglob("part-*.parquet"))


SOURCES = {
    "values": ("VALUES (1, 'a'), (2, 'b')", [(1, "a"), (2, "b")]),
    "expressions": ("VALUES (1, upper('a')), ((SELECT 2), 'b')", [(1, "A"), (2, "b")]),
    "one row": ("SELECT 1, 'a'", [(1, "a")]),
    "a range": ("SELECT i, 'r' FROM range(3) r(i)", [(0, "r"), (1, "r"), (2, "r")]),
    "a filter": ("SELECT * FROM temp.few WHERE id % 1000 = 1", [(1, "row 1"), (1001, "row 1001"), (2001, "row 2001")]),
    "a limit": ("SELECT * FROM temp.few LIMIT 1", [(0, "row 0")]),
    "a union": ("SELECT 1, 'a' UNION ALL SELECT 2, 'b'", [(1, "a"), (2, "b")]),
    "a sort": ("SELECT * FROM temp.few ORDER BY id DESC LIMIT 2", [(2999, "row 2999"), (2998, "row 2998")]),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("mode", ["autocommit", "transaction"])
def test_rows_arrive(con, table, source, mode):
    query, expected = SOURCES[source]
    # The branches of a union run side by side, and SQL promises no order of their rows.
    written = "FROM t ORDER BY id" if source == "a union" else "FROM t"
    if mode == "transaction":
        con.execute("BEGIN")
    assert con.execute(f"INSERT INTO t {query}").fetchall() == [(len(expected),)]
    if mode == "transaction":
        assert con.execute(written).fetchall() == expected
        con.execute("COMMIT")
    assert con.execute(written).fetchall() == expected
    (add,) = delta_log.actions(table, "add")
    assert delta_log.stats(add)["numRecords"] == len(expected)
    metrics = delta_log.info(table)["operationMetrics"]
    assert (metrics["numFiles"], metrics["numOutputRows"]) == ("1", str(len(expected)))
    assert metrics["numOutputBytes"] == str(add["size"]) == str((table / add["path"]).stat().st_size)


def test_a_prepared_statement_runs_many_times(con, table):
    for i in range(5):
        assert con.execute("INSERT INTO t VALUES (?, ?)", [i, f"v{i}"]).fetchall() == [(1,)]
    assert con.execute("FROM t ORDER BY id").fetchall() == [(i, f"v{i}") for i in range(5)]


def test_returning_gives_every_row(con, table):
    rows = con.execute("INSERT INTO t FROM temp.few RETURNING id, s").fetchall()
    assert rows == [(i, f"row {i}") for i in range(3000)]
    assert con.execute("FROM t ORDER BY id").fetchall() == rows


def test_no_rows_make_no_version_and_no_file(con, table):
    assert con.execute("INSERT INTO t SELECT * FROM temp.few WHERE id < 0").fetchall() == [(0,)]
    assert delta_log.version(table) == 0
    assert data_files(table) == []


@pytest.mark.parametrize(
    "query", ["SELECT if(id = 2999, NULL, id), s FROM temp.few", "SELECT if(id = 2999, error('stop')::BIGINT, id), s FROM temp.few"]
)
def test_a_statement_that_fails_late_leaves_nothing(con, table, query):
    with pytest.raises(duckdb.Error):
        con.execute(f"INSERT INTO t {query}")
    assert delta_log.version(table) == 0
    assert data_files(table) == []
    con.execute("INSERT INTO t VALUES (1, 'a')")
    assert con.execute("FROM t").fetchall() == [(1, "a")]


def test_a_file_that_cannot_be_written_fails_the_statement(con, table):
    table.rename(table.with_name("gone"))
    with pytest.raises(duckdb.Error):
        con.execute("INSERT INTO t VALUES (1, 'a')")
    table.with_name("gone").rename(table)
    con.execute("INSERT INTO t VALUES (2, 'b')")
    assert con.execute("FROM t").fetchall() == [(2, "b")]


def test_partitions(con, lake):
    con.execute("CREATE TABLE p (id BIGINT, d DATE) PARTITIONED BY (d)")
    con.execute("INSERT INTO p VALUES (1, '2024-01-01'), (2, '2024-01-02'), (3, '2024-01-01'), (4, NULL)")
    adds = {json.dumps(a["partitionValues"]): delta_log.stats(a)["numRecords"] for a in delta_log.actions(lake / "p", "add")}
    assert adds == {'{"d": "2024-01-01"}': 2, '{"d": "2024-01-02"}': 1, '{"d": null}': 1}


def test_four_connections_of_one_database(con, table):
    """Each writes while it commits; the files are told apart."""
    failures = []

    def insert(first):
        try:
            cursor = con.cursor()
            for i in range(first, first + 20):
                cursor.execute(f"INSERT INTO lake.t VALUES ({i}, 'x')")
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=insert, args=(k * 20,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert con.execute("SELECT id FROM t ORDER BY id").fetchall() == [(i,) for i in range(80)]
    assert len(data_files(table)) == 80
