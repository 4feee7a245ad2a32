# SPDX-License-Identifier: Apache-2.0
"""CREATE TABLE as Delta users write it."""
import json

import duckdb
import pytest


def metadata(lake, table):
    lines = (lake / table / "_delta_log" / "00000000000000000000.json").read_text().splitlines()
    return next(json.loads(line)["metaData"] for line in lines if "metaData" in json.loads(line))


def test_tblproperties_and_using_delta(con, lake):
    con.execute("CREATE TABLE t (id BIGINT, p VARCHAR) USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.appendOnly' = 'true', 'owner' = 'me')")
    made = metadata(lake, "t")
    assert made["partitionColumns"] == ["p"]
    assert made["configuration"]["delta.appendOnly"] == "true"
    assert made["configuration"]["owner"] == "me"


def test_several_statements_and_create_as(con, lake):
    con.execute("create table a using delta tblproperties ('delta.checkpointInterval' = '7') as select 1 AS x; SELECT 'TBLPROPERTIES (' AS s")
    assert con.fetchall() == [("TBLPROPERTIES (",)]
    assert metadata(lake, "a")["configuration"]["delta.checkpointInterval"] == "7"
    assert con.execute("FROM a").fetchall() == [(1,)]


def test_quoted_text_and_other_statements_stay(con):
    con.execute('CREATE TABLE t ("TBLPROPERTIES" VARCHAR, delta BIGINT)')
    con.execute("INSERT INTO t VALUES ('CREATE TABLE x USING DELTA TBLPROPERTIES (', 1) -- USING DELTA TBLPROPERTIES (")
    assert con.execute("SELECT * FROM t JOIN (SELECT 1 AS delta) USING (delta)").fetchall() == [("CREATE TABLE x USING DELTA TBLPROPERTIES (", 1)]


def test_an_error_is_that_of_the_query_as_written(con):
    query = "CREATE TABLE t (id BIGINT) USING DELTA TBLPROPERTIES ('a' = )"
    with pytest.raises(duckdb.ParserException, match="expected a value") as error:
        con.execute(query)
    assert query[10:] in str(error.value)


def fields(lake, table):
    return {f["name"]: f for f in json.loads(metadata(lake, table)["schemaString"])["fields"]}


def test_every_option_of_delta_in_any_order(con, lake):
    con.execute(f"""CREATE TABLE t (
        id BIGINT NOT NULL COMMENT 'the key, not NULL',
        `a b` ARRAY<STRUCT<x: INT, y: STRING>> COMMENT 'it''s',
        m MAP<STRING, ARRAY<DOUBLE>>,
        b BYTE, d DECIMAL(10, 2) DEFAULT 1.5, z TIMESTAMP_NTZ, p STRING,
        twice BIGINT GENERATED ALWAYS AS (id * 2) COMMENT 'computed'
    ) USING DELTA
    TBLPROPERTIES ('Owner' = 'Me', delta.checkpointInterval = 7)
    COMMENT 'about t'
    PARTITIONED BY (p)
    LOCATION '{lake}/t'""")
    made = metadata(lake, "t")
    assert made["partitionColumns"] == ["p"] and made["description"] == "about t"
    assert made["configuration"]["Owner"] == "Me" and made["configuration"]["delta.checkpointInterval"] == "7"
    columns = fields(lake, "t")
    assert columns["id"]["metadata"] == {"comment": "the key, not NULL"} and columns["id"]["nullable"] is False
    assert columns["a b"]["type"]["elementType"]["fields"][1]["type"] == "string" and columns["a b"]["metadata"] == {"comment": "it's"}
    assert columns["m"]["type"]["valueType"]["elementType"] == "double"
    assert columns["b"]["type"] == "byte" and columns["z"]["type"] == "timestamp_ntz"
    assert columns["twice"]["metadata"] == {"comment": "computed", "delta.generationExpression": "CAST((id * 2) AS BIGINT)"}
    con.execute("INSERT INTO t (id, p) VALUES (1, 'x')")
    assert con.execute("SELECT id, d, twice FROM t").fetchall()[0][2] == 2


def test_cluster_by(con, lake):
    con.execute("CREATE TABLE t (id BIGINT, s STRUCT<x: INT>) USING DELTA CLUSTER BY (id, s.x)")
    lines = [json.loads(line) for line in (lake / "t" / "_delta_log" / "00000000000000000000.json").read_text().splitlines()]
    (domain,) = [line["domainMetadata"] for line in lines if "domainMetadata" in line]
    assert json.loads(domain["configuration"]) == {"clusteringColumns": [["id"], ["s", "x"]]}
    (commit,) = [line["commitInfo"] for line in lines if "commitInfo" in line]
    assert commit["operationParameters"]["clusterBy"] == '["id","s.x"]'
    con.execute("CREATE OR REPLACE TABLE t AS SELECT 1 AS other")
    lines = [json.loads(line) for line in (lake / "t" / "_delta_log" / "00000000000000000001.json").read_text().splitlines()]
    assert [json.loads(line["domainMetadata"]["configuration"]) for line in lines if "domainMetadata" in line] == [{"clusteringColumns": []}]


def test_keys_of_with_keep_their_case(con, lake):
    con.execute("CREATE TABLE t (id BIGINT) WITH (Owner = 'me', appendOnly = true, 'delta.CHECKPOINTinterval' = 9)")
    assert metadata(lake, "t")["configuration"]["Owner"] == "me"
    assert metadata(lake, "t")["configuration"]["delta.appendOnly"] == "true"
    assert metadata(lake, "t")["configuration"]["delta.checkpointInterval"] == "9"
    con.execute("WITH x AS (SELECT 1 AS a) SELECT * FROM x")
    con.execute("CREATE VIEW memory.v AS WITH x AS (SELECT 1 AS a) SELECT a FROM x")
    assert con.execute("FROM memory.v").fetchall() == [(1,)]


@pytest.mark.parametrize(
    "statement, message",
    [
        ("CREATE TABLE t (id BIGINT) USING DELTA LOCATION '/elsewhere'", "LOCATION"),
        ("CREATE TABLE t (id BIGINT) USING DELTA CLUSTER BY (nope)", "nope"),
        ("CREATE TABLE t (id BIGINT, p STRING) USING DELTA PARTITIONED BY (p) CLUSTER BY (id)", "partitioned"),
        ("CREATE TABLE t (id BIGINT, x BIGINT GENERATED ALWAYS AS (nope + 1)) USING DELTA", "nope"),
        ("CREATE TABLE t (id ARRAY<INT) USING DELTA", "expected >"),
        ("CREATE TABLE memory.t (id BIGINT) USING DELTA", "."),
    ],
)
def test_what_create_refuses(con, lake, statement, message):
    with pytest.raises(duckdb.Error, match=message):
        con.execute(statement)
    assert list(lake.iterdir()) == []
