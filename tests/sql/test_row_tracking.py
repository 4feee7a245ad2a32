# SPDX-License-Identifier: Apache-2.0
"""Row tracking (PROTOCOL: Row Tracking): ids of rows survive UPDATE, MERGE and rearrangements, others read the same rows, and nobody sees the hidden columns."""

import duckdb
import pytest

import delta_log
from handmade import rearrange
from judges import assert_all_see

TRACKED = "TBLPROPERTIES ('delta.enableRowTracking' = 'true')"


def identities(con, lake):
    """By key: row id and commit version, derived as the protocol says from files and log. Which rows live is asked of Braid."""
    table = lake / "t"
    configuration = delta_log.metadata(table)["configuration"]
    names = [configuration[f"delta.rowTracking.materialized{what}ColumnName"] for what in ("RowId", "RowCommitVersion")]
    plain, found = duckdb.connect(), {}
    adds = {str(table / path): add for path, add in delta_log.active(table).items()}
    for file, add in adds.items():
        there = {row[0] for row in plain.execute("SELECT name FROM parquet_schema(?)", [file]).fetchall()}
        ids, versions = (f'"{name}"' if name in there else "NULL::BIGINT" for name in names)
        written = plain.execute(f"SELECT {ids}, {versions} FROM read_parquet(?, hive_partitioning = false)", [file]).fetchall()
        for key, number in con.execute("SELECT id, file_row_number FROM t WHERE filename = ?", [file]).fetchall():
            assert key not in found, "a row is there twice"
            row_id, version = written[number]
            found[key] = (add["baseRowId"] + number if row_id is None else row_id, add["defaultRowCommitVersion"] if version is None else version)
    assert len(found) == con.execute("SELECT count(*) FROM t").fetchone()[0]
    assert len({row_id for row_id, _ in found.values()}) == len(found), "an id is there twice"
    return found


def preserved(lake):
    return delta_log.info(lake / "t")["tags"]["delta.rowTracking.preserved"]


@pytest.fixture(params=["vectors", "copies", "partitioned", "mapped"])
def table(request, con, lake):
    properties = {
        "vectors": "",
        "copies": ", 'delta.enableDeletionVectors' = 'false'",
        "partitioned": "",
        "mapped": ", 'delta.columnMapping.mode' = 'id'",
    }[request.param]
    partitioned = "PARTITIONED BY (p)" if request.param == "partitioned" else ""
    con.execute(f"CREATE TABLE t (id BIGINT, p INT, v DOUBLE) {partitioned} {TRACKED[:-1]}{properties})")
    con.execute("INSERT INTO t SELECT range, range % 3, range FROM range(100)")
    con.execute("INSERT INTO t SELECT range, range % 3, range FROM range(100, 200)")
    return lake / "t"


def test_updates_keep_ids_and_get_a_new_version(con, lake, table):
    before = identities(con, lake)
    con.execute("UPDATE t SET v = -1 WHERE id % 10 = 3")
    version = delta_log.version(table)
    expected = {key: (row_id, version if key % 10 == 3 else old) for key, (row_id, old) in before.items()}
    assert identities(con, lake) == expected and preserved(lake) == "true"
    con.execute("UPDATE t SET v = v - 1 WHERE id % 10 = 3 OR id = 5")  # images of images
    expected = {key: (row_id, version + 1 if key % 10 == 3 or key == 5 else old) for key, (row_id, old) in expected.items()}
    assert identities(con, lake) == expected
    con.execute("DELETE FROM t WHERE id = 13")
    del expected[13]
    assert identities(con, lake) == expected and preserved(lake) == "true"
    assert len(assert_all_see(con, table)) == 199


def test_merges_keep_ids_and_give_new_ones(con, lake, table):
    before = identities(con, lake)
    con.execute("MERGE INTO t USING (SELECT range AS id FROM range(190, 210)) s ON t.id = s.id WHEN MATCHED AND t.id = 195 THEN DELETE"
                " WHEN MATCHED THEN UPDATE SET v = -5 WHEN NOT MATCHED THEN INSERT VALUES (s.id, 1, 0)")  # fmt: skip
    after, version = identities(con, lake), delta_log.version(table)
    assert {key: after[key] for key in before if key < 190} == {key: before[key] for key in before if key < 190}
    assert {key: after[key] for key in range(190, 200) if key != 195} == {key: (before[key][0], version) for key in range(190, 200) if key != 195}
    assert 195 not in after and preserved(lake) == "true"
    assert {after[key][1] for key in range(200, 210)} == {version}
    assert min(after[key][0] for key in range(200, 210)) > max(row_id for row_id, _ in before.values())
    assert_all_see(con, table)


@pytest.mark.parametrize("rearrangement", ["OPTIMIZE t", "OPTIMIZE t ZORDER BY (v, id)", "REORG TABLE t APPLY (PURGE)"])
def test_rearrangements_keep_ids_and_versions(con, lake, table, rearrangement):
    con.execute("UPDATE t SET v = -1 WHERE id % 10 = 3")
    con.execute("DELETE FROM t WHERE id = 44")
    before = identities(con, lake)
    con.execute(rearrangement)
    assert identities(con, lake) == before
    assert preserved(lake) == "true"
    con.execute("OPTIMIZE t ZORDER BY (id)")
    assert identities(con, lake) == before
    assert_all_see(con, table)


def test_nobody_sees_the_hidden_columns(con, lake, table):
    con.execute("UPDATE t SET v = -1 WHERE id = 3")
    con.execute("OPTIMIZE t")
    assert [column[0] for column in con.execute("SELECT * FROM t").description] == ["id", "p", "v"]
    assert [row[0] for row in con.execute("DESCRIBE t").fetchall()] == ["id", "p", "v"]
    for add in delta_log.active(table).values():
        stats = delta_log.stats(add)
        for kind in ("minValues", "maxValues", "nullCount"):
            assert not [name for name in stats.get(kind, {}) if name.startswith("_row-")]
    assert con.execute("UPDATE t SET v = -2 WHERE id = 4 RETURNING *").fetchall() == [(4, 1, -2.0)]


def test_two_statements_of_one_transaction(con, lake, table):
    before = identities(con, lake)
    con.execute("BEGIN")
    con.execute("UPDATE t SET v = -1 WHERE id < 10")
    con.execute("INSERT INTO t VALUES (1000, 1, 1)")
    con.execute("UPDATE t SET v = -2 WHERE id IN (3, 50, 1000)")
    con.execute("COMMIT")
    after, version = identities(con, lake), delta_log.version(table)
    changed = {*range(10), 50}
    assert {key: value for key, value in after.items() if key < 1000} == {key: (row_id, version if key in changed else old) for key, (row_id, old) in before.items()}
    assert after[1000][1] == version and after[1000][0] > max(row_id for row_id, _ in before.values())


@pytest.mark.parametrize("level", ["WriteSerializable", "Serializable"])
def test_18_an_update_that_changes_nothing(con, connect, lake, level):
    con.execute(f"CREATE TABLE t (id BIGINT, v BIGINT) {TRACKED[:-1]}, 'delta.isolationLevel' = '{level}')")
    con.execute("INSERT INTO t SELECT range, range FROM range(10)")
    before = identities(con, lake)
    late = connect(lake)
    late.execute("BEGIN")
    late.execute("UPDATE t SET v = 9 WHERE id = 1")
    con.execute("UPDATE t SET v = v WHERE id = 1")
    late.execute("COMMIT")
    assert con.execute("SELECT v FROM t WHERE id = 1").fetchall() == [(9,)]
    assert identities(con, lake)[1] == (before[1][0], delta_log.version(lake / "t"))


def test_94_updated_rows_are_found_by_their_ids(con, connect, lake):
    """Rearranged by another engine that keeps ids, which are written down for some of the rows only."""
    con.execute(f"CREATE TABLE t (id BIGINT, v BIGINT) {TRACKED}")
    con.execute("INSERT INTO t SELECT range, 0 FROM range(100)")
    con.execute("UPDATE t SET v = 1 WHERE id < 50")
    late = connect(lake)
    late.execute("BEGIN")
    late.execute("DELETE FROM t WHERE id IN (7, 77)")
    column = delta_log.metadata(lake / "t")["configuration"]["delta.rowTracking.materializedRowIdColumnName"]
    ids = identities(con, lake)
    pairs = ", ".join(f"({key}, {row_id})" for key, (row_id, _) in ids.items())
    rearrange(con, lake / "t", f'SELECT t.*, row_id AS "{column}" FROM t JOIN (VALUES {pairs}) AS ids(key, row_id) ON id = key ORDER BY hash(id)',
              delta_log.version(lake / "t") + 1, {"delta.rowTracking.preserved": "true"})  # fmt: skip
    late.execute("COMMIT")
    assert [row[0] for row in con.execute("SELECT id FROM t ORDER BY id").fetchall()] == [i for i in range(100) if i not in (7, 77)]
