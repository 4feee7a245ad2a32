# SPDX-License-Identifier: Apache-2.0
"""CREATE and DROP of tables and schemas."""

import json

import duckdb
import pytest

import delta_log


def rows(con, query):
    return con.execute(query).fetchall()


def test_new_tables_have_vectors_and_state_their_isolation(con, lake):
    con.execute("CREATE TABLE t (id BIGINT NOT NULL, s VARCHAR)")
    (protocol,) = delta_log.actions(lake / "t", "protocol", 0)
    assert (protocol["minReaderVersion"], protocol["minWriterVersion"]) == (3, 7)
    assert protocol["readerFeatures"] == ["deletionVectors"]
    assert set(protocol["writerFeatures"]) == {"deletionVectors", "appendOnly", "invariants"}
    metadata = delta_log.metadata(lake / "t")
    assert metadata["configuration"] == {"delta.enableDeletionVectors": "true", "delta.isolationLevel": "WriteSerializable"}
    assert metadata["partitionColumns"] == []
    fields = json.loads(metadata["schemaString"])["fields"]
    assert [(f["name"], f["type"], f["nullable"]) for f in fields] == [("id", "long", False), ("s", "string", True)]
    commit = delta_log.info(lake / "t", 0)
    assert commit["operation"] == "CREATE TABLE"
    assert "readVersion" not in commit
    assert commit["operationParameters"]["partitionBy"] == "[]"
    assert commit["operationParameters"]["isManaged"] == "false"


def test_create_as(con, lake):
    assert con.execute("CREATE TABLE t AS SELECT range AS id, range * 2 AS x FROM range(10)").fetchall() == [(10,)]
    assert delta_log.version(lake / "t") == 0
    assert delta_log.info(lake / "t")["operation"] == "CREATE TABLE AS SELECT"
    assert rows(con, "SELECT sum(x) FROM t") == [(90,)]


def test_create_as_keeps_the_order_of_order_by(con, lake):
    con.execute("CREATE TABLE t AS SELECT (hash(range) % 1000000)::BIGINT AS k FROM range(400000) ORDER BY k")
    (path,) = delta_log.active(lake / "t")
    groups = rows(con, f"SELECT stats_min_value::BIGINT, stats_max_value::BIGINT FROM parquet_metadata('{lake}/t/{path}') ORDER BY row_group_id")
    assert all(a[1] <= b[0] for a, b in zip(groups, groups[1:]))


def test_if_not_exists_and_duplicates(con, lake):
    con.execute("CREATE TABLE t AS SELECT 1 AS id")
    con.execute("CREATE TABLE IF NOT EXISTS t (other VARCHAR)")
    con.execute("CREATE TABLE IF NOT EXISTS t AS SELECT 2 AS id")
    with pytest.raises(duckdb.CatalogException, match="already exists"):
        con.execute("CREATE TABLE t (id BIGINT)")
    assert rows(con, "FROM t") == [(1,)]
    assert delta_log.version(lake / "t") == 0


def test_or_replace_keeps_the_history(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(5)")
    identity = delta_log.metadata(lake / "t")["id"]
    con.execute("CREATE OR REPLACE TABLE t AS SELECT 'x' AS s")
    assert rows(con, "FROM t") == [("x",)]
    assert rows(con, "SELECT count(*) FROM t AT (VERSION => 0)") == [(5,)]
    assert delta_log.version(lake / "t") == 1
    assert delta_log.metadata(lake / "t")["id"] == identity
    assert delta_log.info(lake / "t")["operation"] == "CREATE OR REPLACE TABLE AS SELECT"
    assert len(delta_log.actions(lake / "t", "remove")) == 1
    con.execute("CREATE OR REPLACE TABLE fresh (id BIGINT)")
    assert delta_log.version(lake / "fresh") == 0


def test_properties_find_their_spelling(con, lake):
    con.execute(
        """CREATE TABLE t (id BIGINT) WITH ("delta.checkpointInterval" = 5, 'DELTA.ENABLEDELETIONVECTORS' = false, appendOnly = true,
           "delta.isolationLevel" = 'serializable', owner = 'me')"""
    )
    assert delta_log.metadata(lake / "t")["configuration"] == {
        "delta.checkpointInterval": "5", "delta.enableDeletionVectors": "false", "delta.appendOnly": "true",
        "delta.isolationLevel": "Serializable", "owner": "me"}
    (protocol,) = delta_log.actions(lake / "t", "protocol", 0)
    assert protocol == {"minReaderVersion": 1, "minWriterVersion": 2}


@pytest.mark.parametrize(
    "definition, message",
    [
        ("(id BIGINT PRIMARY KEY)", "PRIMARY KEY"),
        ("(id BIGINT UNIQUE)", "UNIQUE"),
        ("(id BIGINT CHECK (random() > 0))", "random"),
        ("(id BIGINT DEFAULT (random() * 10)::BIGINT)", "DEFAULT"),
        ("(id BIGINT, x BIGINT AS (id + random()))", "random"),
        ("(id HUGEINT)", "DECIMAL"),
        ("(id UINTEGER)", "BIGINT"),
        ("(t TIME)", "t"),
        ("(id BIGINT) PARTITIONED BY (nope)", "nope"),
        ("(id BIGINT) PARTITIONED BY (id)", "partition"),
        ("(id BIGINT, l BIGINT[]) PARTITIONED BY (l)", "array"),
        ("(id BIGINT, k BIGINT) PARTITIONED BY (k + 1)", "columns"),
        ('(id BIGINT) WITH ("delta.nope" = 1)', "delta.nope"),
        ('(id BIGINT) WITH ("delta.appendOnly" = 7)', "appendOnly"),
        ('(id BIGINT) WITH ("delta.isolationLevel" = \'x\')', "DELTA_INVALID_ISOLATION_LEVEL"),
    ],
)
def test_what_create_refuses(con, lake, definition, message):
    with pytest.raises(duckdb.Error, match=message):
        con.execute(f"CREATE TABLE t {definition}")
    assert not (lake / "t").exists()


def test_a_full_directory_is_not_taken_over(con, lake):
    (lake / "t").mkdir()
    (lake / "t" / "notes.txt").write_text("mine")
    with pytest.raises(duckdb.Error, match="not empty"):
        con.execute("CREATE TABLE t (id BIGINT)")
    assert [path.name for path in (lake / "t").iterdir()] == ["notes.txt"]


def test_drop_table(con, lake):
    con.execute("CREATE TABLE t AS SELECT 1 AS id")
    con.execute("DROP TABLE t")
    assert not (lake / "t").exists()
    con.execute("DROP TABLE IF EXISTS t")
    with pytest.raises(duckdb.CatalogException):
        con.execute("DROP TABLE t")
    con.execute("CREATE TABLE t AS SELECT 'again' AS s")
    assert rows(con, "FROM t") == [("again",)]


@pytest.mark.parametrize("statement", ["DROP TABLE t", "DROP SCHEMA sales CASCADE"])
def test_drop_cannot_be_rolled_back_and_says_so(con, statement):
    con.execute("CREATE TABLE t AS SELECT 1 AS id")
    con.execute("CREATE SCHEMA sales")
    con.execute("CREATE TABLE sales.t AS SELECT 2 AS id")
    con.execute("BEGIN")
    with pytest.raises(duckdb.TransactionException, match="outside of BEGIN"):
        con.execute(statement)
    con.execute("ROLLBACK")
    assert rows(con, "FROM t UNION ALL FROM sales.t") == [(1,), (2,)]


def test_there_are_no_indexes(con):
    con.execute("CREATE TABLE t AS SELECT 1 AS id")
    with pytest.raises(duckdb.NotImplementedException, match="no indexes"):
        con.execute("CREATE INDEX i ON t (id)")


def test_collations_are_refused(con, lake):
    with pytest.raises(duckdb.InvalidInputException, match="no collations"):
        con.execute("CREATE TABLE t (s VARCHAR COLLATE NOCASE)")
    assert list(lake.iterdir()) == []


def test_schemas(con, lake):
    con.execute("CREATE SCHEMA sales")
    con.execute("CREATE SCHEMA IF NOT EXISTS sales")
    assert (lake / "sales").is_dir()
    con.execute("CREATE TABLE sales.t AS SELECT 1 AS id")
    assert rows(con, "FROM sales.t") == [(1,)]
    assert (lake / "sales" / "t" / "_delta_log").is_dir()
    with pytest.raises(duckdb.Error, match="CASCADE"):
        con.execute("DROP SCHEMA sales")
    assert rows(con, "FROM sales.t") == [(1,)]
    con.execute("DROP SCHEMA sales CASCADE")
    assert not (lake / "sales").exists()


def test_comments_and_not_null_survive(con, lake):
    con.execute("CREATE TABLE t (id BIGINT NOT NULL, s VARCHAR)")
    described = {name: null for name, _, null, *_ in rows(con, "DESCRIBE t")}
    assert described == {"id": "NO", "s": "YES"}


def test_defaults_are_stored_and_applied(con, connect, lake):
    con.execute("CREATE TABLE t (id BIGINT, n INTEGER DEFAULT -7, s VARCHAR DEFAULT 'it''s', b BOOLEAN DEFAULT true, day DATE DEFAULT DATE '2024-02-29')")
    fields = {f["name"]: f["metadata"].get("CURRENT_DEFAULT") for f in json.loads(delta_log.metadata(lake / "t")["schemaString"])["fields"]}
    assert fields["id"] is None and fields["n"] == "-7" and fields["s"] == "'it''s'"
    assert "allowColumnDefaults" in delta_log.actions(lake / "t", "protocol", 0)[0]["writerFeatures"]
    other = connect(lake)
    other.execute("INSERT INTO t (id) VALUES (1)")
    other.execute("INSERT INTO t VALUES (2, DEFAULT, 'given', NULL, NULL)")
    other.execute("UPDATE t SET s = DEFAULT, n = 5 WHERE id = 2")
    assert rows(con, "SELECT id, n, s, b, day::VARCHAR FROM t ORDER BY id") == [
        (1, -7, "it's", True, "2024-02-29"), (2, 5, "it's", None, None)]


def test_the_time_as_a_default(con, lake):
    con.execute("CREATE TABLE t (id BIGINT, a TIMESTAMPTZ DEFAULT now(), b TIMESTAMPTZ DEFAULT current_timestamp, d DATE DEFAULT current_date)")
    fields = json.loads(delta_log.metadata(lake / "t")["schemaString"])["fields"]
    assert [f["metadata"].get("CURRENT_DEFAULT") for f in fields] == [None, "current_timestamp()", "current_timestamp()", "current_date()"]
    con.execute("INSERT INTO t (id) VALUES (1)")
    assert rows(con, "SELECT a > now() - INTERVAL 1 HOUR, a = b, d = current_date FROM t") == [(True, True, True)]


def test_a_default_of_another_dialect_is_refused_when_needed(con, connect, lake):
    con.execute("CREATE TABLE t (id BIGINT, n INTEGER DEFAULT 1)")
    log = lake / "t" / "_delta_log" / "00000000000000000000.json"
    log.write_text(log.read_text().replace('\\"CURRENT_DEFAULT\\":\\"1\\"', '\\"CURRENT_DEFAULT\\":\\"int ( 1 ` )\\"'))
    (lake / "t" / "_delta_log" / "00000000000000000000.crc").unlink()
    other = connect(lake)
    other.execute("INSERT INTO t VALUES (1, 2)")
    with pytest.raises(duckdb.Error, match="not understood"):
        other.execute("INSERT INTO t (id) VALUES (3)")
    assert rows(other, "FROM t") == [(1, 2)]
