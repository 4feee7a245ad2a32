# SPDX-License-Identifier: Apache-2.0
"""What we write, deltalake and DuckDB's delta extension read, row for row."""

import pytest

import delta_log
from judges import assert_all_see, last_checkpoint

EVERY_TYPE = """(b BOOLEAN, i1 TINYINT, i2 SMALLINT, i4 INTEGER, i8 BIGINT, f FLOAT, d DOUBLE, n DECIMAL(9,2), w DECIMAL(38,10), s VARCHAR,
    x BLOB, day DATE, ts TIMESTAMP, tz TIMESTAMPTZ, l INTEGER[], st STRUCT(a INTEGER, b VARCHAR))"""
EVERY_VALUE = """(true, -128, 32767, -2147483648, 9223372036854775807, 1.5, 2.25, -1234567.89, 1234567890123456789012345678.0123456789,
    'ä''', '\\x00\\xFF'::BLOB, '1969-12-31', '2024-02-29 12:34:56.789012', '2024-02-29 12:34:56.789012+02', [1, NULL, 3], {'a': 1, 'b': NULL})"""


def test_every_type(con, lake):
    con.execute(f"CREATE TABLE t {EVERY_TYPE}")
    con.execute(f"INSERT INTO t VALUES {EVERY_VALUE}")
    con.execute("INSERT INTO t (i8) VALUES (7), (NULL)")
    con.execute("UPDATE t SET s = 'changed' WHERE i8 = 7")
    assert len(assert_all_see(con, lake / "t")) == 3


def test_deletes_and_updates_with_vectors_inline_and_in_files(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id, 'v' || range AS s FROM range(50000)")
    con.execute("DELETE FROM t WHERE id = 5")
    con.execute("DELETE FROM t WHERE hash(id) % 7 = 1")
    con.execute("UPDATE t SET s = 'new' WHERE id BETWEEN 20000 AND 20099")
    con.execute("DELETE FROM t WHERE id BETWEEN 20050 AND 20059")
    kinds = {add["deletionVector"]["storageType"] for lines in delta_log.commits(lake / "t").values() for line in lines
             if "add" in line for add in [line["add"]] if "deletionVector" in add}
    assert kinds == {"i", "u"}
    assert_all_see(con, lake / "t")


def test_partitions_with_strange_names(con, lake):
    con.execute("CREATE TABLE t (id BIGINT, p VARCHAR, day DATE) PARTITIONED BY (p, day)")
    values = ["a/b", "a b", "50%", "x=y", "it''s", "ä", "a:b", "%41", "plain"]
    con.execute("INSERT INTO t VALUES " + ", ".join(f"({i}, '{v}', DATE '2024-02-29' + {i})" for i, v in enumerate(values)))
    con.execute("INSERT INTO t VALUES (100, NULL, NULL)")
    con.execute("DELETE FROM t WHERE p = 'a b'")
    con.execute("UPDATE t SET p = 'moved/here', id = id + 1000 WHERE p = '50%'")
    assert len(assert_all_see(con, lake / "t")) == len(values)


@pytest.mark.parametrize("mode", ["name", "id"])
def test_column_mapping(con, lake, mode):
    con.execute(f"""CREATE TABLE t (id BIGINT, "a b" VARCHAR, st STRUCT(x INTEGER, "y z" VARCHAR)) WITH ("delta.columnMapping.mode" = '{mode}')""")
    con.execute("INSERT INTO t SELECT range, 'v' || range, {'x': range, 'y z': 'n'} FROM range(100)")
    con.execute("DELETE FROM t WHERE id % 10 = 0")
    con.execute("""UPDATE t SET "a b" = 'u' WHERE id = 5""")
    assert len(assert_all_see(con, lake / "t")) == 90


def test_copy_on_write_and_replace(con, lake):
    con.execute('CREATE TABLE t WITH ("delta.enableDeletionVectors" = false) AS SELECT range AS id, range % 3 AS p FROM range(1000)')
    con.execute("DELETE FROM t WHERE id % 2 = 0")
    con.execute("UPDATE t SET p = 9 WHERE id < 10")
    assert_all_see(con, lake / "t")
    con.execute("CREATE OR REPLACE TABLE t AS SELECT 'x' AS s")
    assert assert_all_see(con, lake / "t") == [("x",)]


def test_beyond_a_checkpoint(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id, 'v' AS s FROM range(1000)")
    for i in range(12):
        con.execute(f"DELETE FROM t WHERE id = {i}")
        con.execute(f"INSERT INTO t VALUES ({i + 10000}, 'new')")
    assert last_checkpoint(lake / "t") >= 20
    assert len(assert_all_see(con, lake / "t")) == 1000


def test_one_transaction_of_many_statements(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id, 'v' AS s FROM range(1000)")
    con.execute("BEGIN")
    con.execute("INSERT INTO t SELECT range + 5000, 'mine' FROM range(100)")
    con.execute("DELETE FROM t WHERE id % 3 = 0")
    con.execute("UPDATE t SET s = 'twice' WHERE id % 5 = 1")
    con.execute("COMMIT")
    assert_all_see(con, lake / "t")


def test_statistics_let_others_prune_rightly(con, lake):
    """Bounds that are too narrow would make other engines lose rows."""
    con.execute("CREATE TABLE t (id BIGINT, s VARCHAR, ts TIMESTAMP, d DOUBLE)")
    long = "z" * 100
    con.execute(f"INSERT INTO t VALUES (1, '{long}', '2024-01-01 00:00:00.000999', 'nan'), (2, 'é{long}', '2024-01-01 00:00:00', 1)")
    from deltalake import DeltaTable, QueryBuilder
    import pyarrow as pa
    table = DeltaTable(str(lake / "t"))
    for condition in (f"s = '{long}'", f"s = 'é{long}'", "s > 'z'", "ts > '2024-01-01 00:00:00.0005'", "d > 5"):
        mine = con.execute(f"SELECT id FROM t WHERE {condition} ORDER BY id").fetchall()
        theirs = pa.table(QueryBuilder().register("t", table).execute(f"SELECT id FROM t WHERE {condition} ORDER BY id").read_all())
        assert mine and [(i,) for i in theirs.column(0).to_pylist()] == mine, condition


@pytest.mark.parametrize("layout", ["", "PARTITIONED BY (p)", 'WITH ("delta.enableDeletionVectors" = false)', 'WITH ("delta.columnMapping.mode" = \'name\')'])
def test_merges(con, lake, layout):
    con.execute(f"CREATE TABLE t (id BIGINT, p VARCHAR, st STRUCT(x INTEGER), v INTEGER) {layout}")
    for part in range(3):
        con.execute(f"INSERT INTO t SELECT range * 3 + {part}, 'p ' || range % 2, {{'x': range}}, 0 FROM range(300)")
    con.execute("DELETE FROM t WHERE id % 50 = 7")
    for step in (2, 5):
        con.execute(f"""MERGE INTO t USING (SELECT range * {step} AS id, 'p/é ' || range % 3 AS p FROM range(600)) src ON t.id = src.id
            WHEN MATCHED AND t.id % 4 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET v = v + 1, p = src.p
            WHEN NOT MATCHED THEN INSERT (id, p) VALUES (src.id, src.p)
            WHEN NOT MATCHED BY SOURCE AND t.id < 50 THEN UPDATE SET st = {{'x': -1}} WHEN NOT MATCHED BY SOURCE AND t.id > 850 THEN DELETE""")
    assert len(assert_all_see(con, lake / "t")) > 500
