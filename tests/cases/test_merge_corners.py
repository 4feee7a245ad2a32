# SPDX-License-Identifier: Apache-2.0
"""Public cases C94 to C115, C163 and C166: row identity, keys that are NULL, NaN or -0.0, names, structs, and what a MERGE reads and writes."""

import json

import duckdb
import pytest

import delta_log

VECTORS = ["true", "false"]


def rows(con, query="FROM t ORDER BY ALL"):
    return con.execute(query).fetchall()


@pytest.mark.parametrize("count", [2048, 2049, 8193, 122880, 122881])
@pytest.mark.parametrize("files", [1, 3])
def test_c94_unique_keys_whatever_the_size_of_a_batch(con, count, files):
    con.execute("CREATE TABLE t (id BIGINT, v BIGINT)")
    for part in range(files):
        con.execute(f"INSERT INTO t SELECT range * {files} + {part}, 0 FROM range({-(-(count - part) // files)})")
    merge = "MERGE INTO t USING {} AS src ON t.id = src.id WHEN MATCHED THEN UPDATE SET v = t.v + src.n WHEN NOT MATCHED THEN INSERT VALUES (src.id, -1)"
    assert con.execute(merge.format(f"(SELECT range AS id, 1 AS n FROM range({count}))")).fetchone() == (count,)
    assert con.execute(merge.format("(SELECT id, v AS n FROM t)")).fetchone() == (count,)  # the source is the table itself
    assert rows(con, "SELECT count(*), count(DISTINCT id), min(v), max(v) FROM t") == [(count, count, 2, 2)]


@pytest.mark.parametrize("vectors", VECTORS)
def test_c99_null_keys(con, lake, vectors):
    """With = they never match and come again with each run; null-safe they are found, also in a file that holds nothing but NULL."""
    con.execute(f"CREATE TABLE t (id BIGINT, v INT) WITH ('delta.enableDeletionVectors' = '{vectors}')")
    con.execute("INSERT INTO t SELECT range, 0 FROM range(10)")
    con.execute("INSERT INTO t VALUES (NULL, 0)")
    con.execute("INSERT INTO t SELECT range, 0 FROM range(100, 110)")
    merge = """MERGE INTO t USING (SELECT unnest([NULL, 5]) AS id) src ON t.id {} src.id
               WHEN MATCHED THEN UPDATE SET v = v + 1 WHEN NOT MATCHED THEN INSERT VALUES (src.id, -1)"""
    for run in (1, 2):
        con.execute(merge.format("IS NOT DISTINCT FROM"))
        assert rows(con, "FROM t WHERE id IS NULL OR id = 5 ORDER BY id") == [(5, run), (None, run)]
    for run in (1, 2):
        con.execute(merge.format("="))
        assert rows(con, "SELECT count(*) FROM t WHERE id IS NULL") == [(1 + run,)]
    assert rows(con, "SELECT v FROM t WHERE id = 5") == [(4,)]


EVOLVE = "MERGE WITH SCHEMA EVOLUTION INTO t USING ({}) src ON t.id = src.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"


def test_c107_null_structs_and_schema_evolution(con, lake):
    con.execute("CREATE TABLE t (id BIGINT, st STRUCT(x INT, own VARCHAR))")
    con.execute("INSERT INTO t VALUES (1, {'x': 1, 'own': 'kept'}), (2, NULL), (3, {'x': 3, 'own': 'kept'})")
    con.execute(EVOLVE.format("SELECT 1 AS id, NULL::STRUCT(x INT, own VARCHAR) AS st, 7 AS extra UNION ALL SELECT 4, NULL, 8"))
    assert rows(con) == [(1, None, 7), (2, None, None), (3, {"x": 3, "own": "kept"}, None), (4, None, 8)]
    assert rows(con, "SELECT id FROM t WHERE st IS NULL ORDER BY id") == [(1,), (2,), (4,)]
    con.execute("INSERT INTO t BY NAME SELECT 5 AS id, NULL AS st")
    assert rows(con, "SELECT st IS NULL FROM t WHERE id = 5") == [(True,)]


def test_c107_a_null_struct_does_not_violate_what_its_fields_demand(con, connect, lake):
    con.execute("CREATE TABLE t (id BIGINT, st STRUCT(x INT))")
    con.execute("ALTER TABLE t ADD CONSTRAINT c CHECK (id > 0)")
    commit = lake / "t" / "_delta_log" / f"{0:020}.json"
    demanding = commit.read_text().replace(r'\"name\":\"x\",\"type\":\"integer\",\"nullable\":true', r'\"name\":\"x\",\"type\":\"integer\",\"nullable\":false')
    assert demanding != commit.read_text()
    commit.write_text(demanding)
    alter = lake / "t" / "_delta_log" / f"{1:020}.json"
    alter.write_text(alter.read_text().replace(r'\"name\":\"x\",\"type\":\"integer\",\"nullable\":true', r'\"name\":\"x\",\"type\":\"integer\",\"nullable\":false'))
    for checksum in (lake / "t" / "_delta_log").glob("*.crc"):
        checksum.unlink()
    con = connect(lake)
    con.execute("INSERT INTO t VALUES (1, NULL), (2, {'x': 1})")
    con.execute("MERGE INTO t USING (SELECT 3 AS id, NULL::STRUCT(x INT) AS st) src ON t.id = src.id WHEN NOT MATCHED THEN INSERT VALUES (src.id, src.st)")
    with pytest.raises(duckdb.ConstraintException, match="x"):
        con.execute("MERGE INTO t USING (SELECT 4 AS id, {'x': NULL::INT} AS st) src ON t.id = src.id WHEN NOT MATCHED THEN INSERT VALUES (src.id, src.st)")
    assert rows(con, "SELECT id, st FROM t ORDER BY id") == [(1, None), (2, {"x": 1}), (3, None)]


@pytest.mark.parametrize("vectors", VECTORS)
def test_c110_not_matched_by_source_beside_a_condition_on_the_target(con, vectors):
    con.execute(f"CREATE TABLE t (id BIGINT, p VARCHAR, v INT) PARTITIONED BY (p) WITH ('delta.enableDeletionVectors' = '{vectors}')")
    con.execute("INSERT INTO t SELECT range, CASE WHEN range < 5 THEN 'a' ELSE 'b' END, 0 FROM range(10)")
    merge = "MERGE INTO t USING (VALUES (1), (2)) src(id) ON t.id = src.id AND t.p = 'a' WHEN MATCHED THEN UPDATE SET v = 1 WHEN NOT MATCHED BY SOURCE{} THEN UPDATE SET v = -1"
    con.execute(merge.format(" AND t.p = 'a'"))  # common to both: partition b is left alone
    assert rows(con, "SELECT id, v FROM t WHERE v <> 0 ORDER BY id") == [(0, -1), (1, 1), (2, 1), (3, -1), (4, -1)]
    con.execute("UPDATE t SET v = 0")
    con.execute(merge.format(""))  # ON alone does not limit what is not matched
    assert rows(con, "SELECT id, v FROM t ORDER BY id") == [(i, 1 if i in (1, 2) else -1) for i in range(10)]


SPECIAL = "(VALUES ('nan'::{0}, 'nan'), ('0.0'::{0}, 'zero'), ('-0.0'::{0}, 'minus zero'), ('inf'::{0}, 'inf'), ('-inf'::{0}, '-inf'), (1.5::{0}, '1.5'))"


@pytest.mark.parametrize("kind", ["DOUBLE", "FLOAT"])
@pytest.mark.parametrize("rows_of_source", [1, 4000])
def test_c114_zeros_and_nan_as_keys(con, lake, connect, kind, rows_of_source):
    """-0.0 = 0.0 and NaN = NaN, in a join of any size, in pruning and between transactions alike. One file for each key."""
    con.execute(f"CREATE TABLE t (k {kind}, name VARCHAR, v INT)")
    for key in ("nan", "0.0", "-0.0", "inf", "-inf", "1.5"):
        con.execute(f"INSERT INTO t VALUES ('{key}', '{key}', 0)")
    filler = f"UNION ALL SELECT (1000 + range)::{kind}, 0 FROM range({rows_of_source - 1})"
    merge = f"MERGE INTO t USING (SELECT '{{}}'::{kind} AS k, 1 AS n {filler}) src ON t.k = src.k WHEN MATCHED THEN UPDATE SET v = v + 1"
    for key, hit in [("nan", ["nan"]), ("-0.0", ["-0.0", "0.0"]), ("0.0", ["-0.0", "0.0"]), ("inf", ["inf"])]:
        con.execute("UPDATE t SET v = 0")
        con.execute(merge.format(key))
        assert [name for (name,) in rows(con, "SELECT name FROM t WHERE v = 1 ORDER BY name")] == hit, key
        con.execute("BEGIN")
        con.execute(merge.format(key))
        connect(lake).execute(f"DELETE FROM t WHERE k = '{key.removeprefix('-') if '0' in key else key}'::{kind} AND name = '{hit[-1]}'")
        with pytest.raises(duckdb.TransactionException, match="DELTA_CONCURRENT"):
            con.execute("COMMIT")
        con.execute(f"INSERT INTO t VALUES ('{hit[-1]}', '{hit[-1]}', 0)")


@pytest.mark.parametrize("vectors", VECTORS)
def test_c115_an_unknown_condition_keeps_the_row(con, vectors):
    con.execute(f"CREATE TABLE t (id INT, x INT) WITH ('delta.enableDeletionVectors' = '{vectors}')")
    con.execute("INSERT INTO t VALUES (1, 1), (2, NULL), (3, 3)")
    assert con.execute("UPDATE t SET x = x + 10 WHERE x > 2").fetchone() == (1,)
    assert con.execute("DELETE FROM t WHERE x = 1").fetchone() == (1,)
    assert con.execute("DELETE FROM t WHERE NOT (x = 13)").fetchone() == (0,)
    assert con.execute("MERGE INTO t USING (SELECT 1) ON true WHEN MATCHED AND x < 0 THEN DELETE").fetchone() == (0,)
    assert rows(con) == [(2, None), (3, 13)]


NAMES = ["a.b", "a a", "y--1", "1inch", "b`t", 'd"q', "-", "60b5-4a", "select", "ä ö"]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


@pytest.mark.parametrize("mapping", ["none", "name"])
def test_c163_any_name_in_every_clause(con, lake, mapping):
    columns = ", ".join(f"{quoted(name)} INT" for name in NAMES)
    con.execute(f"""CREATE TABLE t (id INT, {columns}, st STRUCT({columns})) WITH ('delta.columnMapping.mode' = '{mapping}',
                    'delta.dataSkippingStatsColumns' = {quoted_list(NAMES)})""")
    con.execute(f"INSERT INTO t SELECT range, {', '.join('range' for _ in NAMES)}, NULL FROM range(20)")
    for number, name in enumerate(NAMES):
        column = quoted(name)
        con.execute(f"DELETE FROM t WHERE {column} = {number}")
        con.execute(f"UPDATE t SET {column} = {column} + 100, st = {{{', '.join(quoted(n) + ': 1' for n in NAMES)}}} WHERE {column} = 19")
        con.execute(f"""MERGE INTO t USING (SELECT {number + 1000} AS {column}, 18 AS k) src ON t.{column} = src.k
                        WHEN MATCHED AND t.{column} < 50 THEN UPDATE SET {column} = src.{column}
                        WHEN NOT MATCHED THEN INSERT (id, {column}) VALUES (-1, src.k)
                        WHEN NOT MATCHED BY SOURCE AND t.{column} = 10 + {number} AND t.st.{column} = 5 THEN DELETE""")
        assert rows(con, f"SELECT {column} FROM t WHERE {column} >= 1000") == [(number + 1000,)]
        assert rows(con, f"SELECT count(*) FROM t WHERE t.st.{column} = 1 AND {column} = 119") == [(1,)]
        con.execute(f"ALTER TABLE t ADD CONSTRAINT c{number} CHECK ({column} < 5000)")
        with pytest.raises(duckdb.ConstraintException, match="5000"):
            con.execute(f"UPDATE t SET {column} = 6000")
    assert rows(con, "SELECT id FROM t ORDER BY id") == [(i,) for i in range(len(NAMES), 20)]


def quoted_list(names):
    return "'" + ",".join("`" + name.replace("`", "``") + "`" for name in names).replace("'", "''") + "'"


@pytest.mark.parametrize("partitioned", ["", "PARTITIONED BY (day)"])
def test_c166_a_small_merge_writes_little_and_reads_one_file(con, lake, partitioned):
    """889 rows of 40 000, in a table of 31 files: one vector and one file of 889 rows; the other files are not opened."""
    con.execute(f"CREATE TABLE t (id BIGINT, day INT, text VARCHAR) {partitioned}")
    for day in range(31):
        con.execute(f"INSERT INTO t SELECT {day} * 40000 + range, {day}, 'text ' || range FROM range({40000 if day == 7 else 400})")
    plan = con.execute("""EXPLAIN ANALYZE MERGE INTO t USING (SELECT 7 * 40000 + range * 45 AS id, 7 AS day FROM range(889)) src
                          ON t.id = src.id AND t.day = src.day WHEN MATCHED THEN UPDATE SET text = 'new'""").fetchone()[1]
    version = delta_log.version(lake / "t")
    adds = delta_log.actions(lake / "t", "add", version)
    vector, images = sorted(adds, key=lambda add: "deletionVector" not in add)
    assert vector["deletionVector"]["cardinality"] == 889 and json.loads(images["stats"])["numRecords"] == 889 and len(adds) == 2
    assert "Total Files Read: 1" in " ".join(plan.split())
    assert rows(con, "SELECT count(*) FROM t WHERE text = 'new'") == [(889,)]
