# SPDX-License-Identifier: Apache-2.0
"""Public cases C122, C125, C126: partition values as conditions give the same rows as columns that partition nothing. (C120 is in
test_deletion_vectors.py, C121 in tests/sql/test_write_partitions.py.)"""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import delta_log
from conftest import connect_lake
from handmade import write_commit


def rows(con, query):
    return con.execute(query).fetchall()


ZONES = ["UTC", "America/New_York", "Asia/Kolkata"]
# What other writers have put into the log for one and the same instant, and for the same time without zone.
FORMS = ["2023-11-05 06:30:00.123456", "2023-11-05T06:30:00.123456Z", "2023-11-05T06:30:00.123456000Z"]


@pytest.mark.parametrize("zone", ZONES)
def test_c122_instants_as_partition_values(con, lake, zone):
    con.execute(f"SET TimeZone = '{zone}'")
    con.execute("CREATE TABLE t (id BIGINT, tz TIMESTAMPTZ, ts TIMESTAMP) PARTITIONED BY (tz, ts)")
    con.execute("INSERT INTO t VALUES (1, '2023-11-05 06:30:00.123456+00', '2023-11-05 01:30:00.000001'), (2, NULL, NULL)")
    written = {(add["partitionValues"]["tz"], add["partitionValues"]["ts"]) for add in delta_log.active(lake / "t").values()}
    assert written == {("2023-11-05T06:30:00.123456Z", "2023-11-05 01:30:00.000001"), (None, None)}
    for form in FORMS:  # a file of somebody else
        pq.write_table(pa.table({"id": [10]}), lake / "t" / "foreign.parquet")
        size = (lake / "t" / "foreign.parquet").stat().st_size
        add = {"path": "foreign.parquet", "partitionValues": {"tz": form, "ts": "2023-11-05 01:30:00.000001"}, "size": size, "modificationTime": 1, "dataChange": True}
        write_commit(lake / "t", delta_log.version(lake / "t") + 1, {"commitInfo": {"operation": "WRITE"}}, {"add": add})
        for other in ZONES:
            reader = connect_lake(lake)
            reader.execute(f"SET TimeZone = '{other}'")
            same = "SELECT id FROM t WHERE tz = TIMESTAMPTZ '2023-11-05 06:30:00.123456+00' AND ts = TIMESTAMP '2023-11-05 01:30:00.000001' ORDER BY id"
            assert rows(reader, same) == [(1,), (10,)], form
            assert rows(reader, "SELECT count(DISTINCT tz), count(DISTINCT ts), count(*) FROM t") == [(1, 1, 3)]
            reader.close()
        con.execute("DELETE FROM t WHERE id = 10")
    con.execute("DELETE FROM t WHERE tz < TIMESTAMPTZ '2023-11-05 06:30:00.123457+00'")
    assert rows(con, "SELECT id FROM t") == [(2,)]


OPERATORS = ["= {}", "<> {}", "< {}", "<= {}", "> {}", ">= {}", "IN ({}, NULL)", "NOT IN ({})", "IS DISTINCT FROM {}", "IS NOT DISTINCT FROM {}",
             "BETWEEN {} AND {}", "IS NULL", "IS NOT NULL"]  # fmt: skip
KINDS = {"INTEGER": ["1", "2", "10"], "VARCHAR": ["'a b'", "'b/c'", "'é'"], "DATE": ["DATE '2024-02-29'", "DATE '1969-12-31'", "DATE '2024-03-01'"],
         "DOUBLE": ["1.5::DOUBLE", "'nan'::DOUBLE", "'-inf'::DOUBLE"], "DECIMAL(9,2)": ["1.50", "-2.00", "10.25"], "BOOLEAN": ["true", "false", "true"]}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_c125_every_operator_before_and_after_a_checkpoint(con, lake, kind):
    values = [*KINDS[kind], "NULL"]
    con.execute(f"CREATE TABLE t (id BIGINT, p {kind}) PARTITIONED BY (p) WITH ('delta.checkpointInterval' = '100')")
    con.execute(f"CREATE TABLE memory.plain (id BIGINT, p {kind})")
    model = con.cursor()
    for i in range(12):
        row = f"({i}, {values[i % 4]})"
        con.execute(f"INSERT INTO t VALUES {row}")
        model.execute(f"INSERT INTO memory.plain VALUES {row}")

    def check(reader):
        for operator in OPERATORS:
            for value in values:
                for condition in (f"p {operator.format(value, value)}", f"NOT (p {operator.format(value, value)})"):
                    expected = rows(model, f"SELECT id FROM memory.plain WHERE {condition} ORDER BY id")
                    assert rows(reader, f"SELECT id FROM t WHERE {condition} ORDER BY id") == expected, condition

    check(con)
    con.execute("ALTER TABLE t SET ('delta.checkpointInterval' = '1')")
    con.execute("INSERT INTO t VALUES (100, NULL)")
    model.execute("INSERT INTO memory.plain VALUES (100, NULL)")
    checkpoint = json.loads((lake / "t" / "_delta_log" / "_last_checkpoint").read_text())["version"]
    for version in range(checkpoint):
        (lake / "t" / "_delta_log" / f"{version:020}.json").unlink()
    with connect_lake(lake) as reader:
        check(reader)


def test_c126_parameters_and_literals_select_the_same_files(con, lake):
    con.execute("CREATE TABLE t (id BIGINT, day INT) PARTITIONED BY (day)")
    con.execute("INSERT INTO t SELECT range, range % 200 FROM range(2000)")
    con.execute("PREPARE q AS SELECT count(*), sum(id)::INT FROM t WHERE day >= $1 AND day < $2")
    for low, high in ((0, 200), (50, 126), (199, 200), (10, 10)):
        literal = con.execute(f"SELECT count(*), sum(id)::INT FROM t WHERE day >= {low} AND day < {high}").fetchall()
        assert literal[0][0] == 10 * (high - low)
        assert con.execute("SELECT count(*), sum(id)::INT FROM t WHERE day >= ? AND day < ?", [low, high]).fetchall() == literal
        assert con.execute(f"EXECUTE q({low}, {high})").fetchall() == literal
    assert con.execute("DELETE FROM t WHERE day = ?", [7]).fetchone() == (10,)
    assert con.execute("EXECUTE q(0, 200)").fetchone()[0] == 1990
