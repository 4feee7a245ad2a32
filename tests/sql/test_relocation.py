# SPDX-License-Identifier: Apache-2.0
"""Deletes and updates follow their rows through rearrangements that another engine commits between statement and COMMIT."""

import json

import duckdb
import pytest

from handmade import rearrange, write_commit


@pytest.fixture
def table(con, lake):
    con.execute(
        "CREATE TABLE t AS SELECT range::INT AS id, (range % 10)::DOUBLE AS v, 'row ' || range AS s, [range, NULL] AS l "
        "FROM range(100)"
    )
    return lake / "t"


SHUFFLED = "SELECT * FROM t ORDER BY hash(id)"


def test_delete_and_update_follow_shuffled_rows(con, connect, lake, table):
    eraser, updater = connect(lake), connect(lake)
    for session in (eraser, updater):
        session.execute("BEGIN")
    eraser.execute("DELETE FROM t WHERE v = 3")
    updater.execute("UPDATE t SET s = 'new' WHERE id = 50")
    rearrange(con, table, SHUFFLED, 1)
    eraser.execute("COMMIT")
    updater.execute("COMMIT")
    assert con.execute("SELECT count(*), count(*) FILTER (v = 3) FROM t").fetchone() == (90, 0)
    assert con.execute("SELECT id, v, l FROM t WHERE s = 'new'").fetchall() == [(50, 0.0, [50, None])]
    assert con.execute("SELECT count(DISTINCT id) FROM t").fetchone() == (90,)


def test_a_chain_with_a_delete_between(con, connect, lake, table):
    late = connect(lake)
    late.execute("BEGIN")
    late.execute("DELETE FROM t WHERE id IN (7, 8)")
    rearrange(con, table, SHUFFLED, 1)
    con.execute("DELETE FROM t WHERE id = 9")
    rearrange(con, table, "SELECT * FROM t ORDER BY id DESC", 3)
    late.execute("COMMIT")
    assert con.execute("SELECT count(*), count(*) FILTER (id IN (7, 8, 9)) FROM t").fetchone() == (97, 0)


def test_the_same_row_is_still_a_conflict(con, connect, lake, table):
    late = connect(lake)
    late.execute("BEGIN")
    late.execute("DELETE FROM t WHERE id = 9")
    rearrange(con, table, SHUFFLED, 1)
    con.execute("DELETE FROM t WHERE id = 9")
    with pytest.raises(duckdb.Error, match="DELTA_CONCURRENT_DELETE_DELETE.ROW_LEVEL_CHANGES.*id=9"):
        late.execute("COMMIT")


def test_signed_zeros_are_different_rows(con, connect, lake):
    con.execute("CREATE TABLE z AS SELECT * FROM (VALUES (1, 0.0::DOUBLE), (1, -0.0::DOUBLE), (2, 1.0)) AS r(id, v)")
    late = connect(lake)
    late.execute("BEGIN")
    late.execute("DELETE FROM z WHERE signbit(v)")
    rearrange(con, lake / "z", "SELECT * FROM z WHERE signbit(v) UNION ALL SELECT * FROM z WHERE NOT signbit(v)", 1)
    late.execute("COMMIT")
    assert sorted(str(v) for (v,) in con.execute("SELECT v FROM z").fetchall()) == ["0.0", "1.0"]


def test_a_rearrangement_that_loses_rows_is_not_followed(con, connect, lake, table):
    late = connect(lake)
    late.execute("BEGIN")
    late.execute("DELETE FROM t WHERE id = 9")
    rearrange(con, table, "SELECT * FROM t WHERE id <> 12", 1)
    with pytest.raises(duckdb.Error, match="DELTA_CONCURRENT"):
        late.execute("COMMIT")


def test_rows_of_many_row_groups_are_followed_by_content(con, connect, lake):
    """Such files are read by several threads."""
    con.execute("CREATE TABLE big AS SELECT range AS id, range % 7 AS v FROM range(400_000)")
    late = connect(lake)
    late.execute("BEGIN")
    late.execute("UPDATE big SET v = -1 WHERE id % 1000 = 7")
    rearrange(con, lake / "big", "SELECT * FROM big ORDER BY hash(id)", 1)
    late.execute("COMMIT")
    expected = "SELECT range AS id, if(range % 1000 = 7, -1, range % 7) AS v FROM range(400_000)"
    assert con.execute(f"({expected} EXCEPT ALL FROM big) UNION ALL (FROM big EXCEPT ALL {expected})").fetchall() == []


def test_copy_on_write_of_another_row(con, connect, lake, table):
    """Another engine rewrites the file to change one row; ours was copied."""
    late, clash = connect(lake), connect(lake)
    for session, key in ((late, 9), (clash, 12)):
        session.execute("BEGIN")
        session.execute(f"DELETE FROM t WHERE id = {key}")
    rearrange(con, table, "SELECT * REPLACE (CASE WHEN id = 12 THEN 'x' ELSE s END AS s) FROM t ORDER BY id", 1)
    log = table / "_delta_log" / f"{1:020}.json"
    log.write_text(log.read_text().replace('"dataChange": false', '"dataChange": true').replace("OPTIMIZE", "UPDATE"))
    late.execute("COMMIT")
    with pytest.raises(duckdb.Error, match="DELTA_CONCURRENT_APPEND.ROW_LEVEL_CHANGES.*s=x"):
        clash.execute("COMMIT")
    assert con.execute("SELECT count(*), count(*) FILTER (id = 9) FROM t").fetchone() == (99, 0)


@pytest.mark.parametrize("rows", [10, 400_000])  # the larger file is read by several threads
def test_stable_row_ids_lead_the_way(con, connect, lake, rows):
    """The hidden column alone tells where a row went: its text is not what it was."""
    table = lake / "tracked"
    (table / "_delta_log").mkdir(parents=True)
    con.execute(f"COPY (SELECT range::INT AS id FROM range({rows})) TO '{table / 'first.parquet'}' (FORMAT parquet)")
    schema = {"type": "struct", "fields": [{"name": "id", "type": "integer", "nullable": True, "metadata": {}}]}
    write_commit(
        table,
        0,
        {
            "protocol": {
                "minReaderVersion": 3,
                "minWriterVersion": 7,
                "readerFeatures": ["deletionVectors"],
                "writerFeatures": ["deletionVectors", "rowTracking", "domainMetadata"],
            }
        },
        {
            "metaData": {
                "id": "00000000-0000-4000-8000-000000000001",
                "format": {"provider": "parquet", "options": {}},
                "schemaString": json.dumps(schema),
                "partitionColumns": [],
                "configuration": {
                    "delta.enableDeletionVectors": "true",
                    "delta.enableRowTracking": "true",
                    "delta.rowTracking.materializedRowIdColumnName": "_row-id-col-1",
                    "delta.rowTracking.materializedRowCommitVersionColumnName": "_row-commit-version-col-1",
                },
            }
        },
        {"domainMetadata": {"domain": "delta.rowTracking", "configuration": json.dumps({"rowIdHighWaterMark": rows - 1}), "removed": False}},
        {
            "add": {
                "path": "first.parquet",
                "partitionValues": {},
                "size": (table / "first.parquet").stat().st_size,
                "modificationTime": 1,
                "dataChange": True,
                "stats": json.dumps({"numRecords": rows}),
                "baseRowId": 0,
                "defaultRowCommitVersion": 0,
            }
        },
    )
    late = connect(lake)
    late.execute("BEGIN")
    late.execute("DELETE FROM tracked WHERE id = 3")
    rearrange(
        con,
        table,
        'SELECT id + 100 AS id, id::BIGINT AS "_row-id-col-1" FROM tracked ORDER BY hash(id)',
        1,
        tags={"delta.rowTracking.preserved": "true"},
    )
    late.execute("COMMIT")
    assert con.execute("SELECT id FROM tracked ORDER BY id").fetchall() == [(100 + i,) for i in range(rows) if i != 3]
