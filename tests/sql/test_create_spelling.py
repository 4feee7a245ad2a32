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
    with pytest.raises(duckdb.ParserException, match="TBLPROPERTIES|USING"):
        con.execute("CREATE TABLE t (id BIGINT) USING DELTA TBLPROPERTIES ('a' 'b')")
