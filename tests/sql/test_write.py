# SPDX-License-Identifier: Apache-2.0
"""INSERT, DELETE and UPDATE on one table: contents, what the log says, and that failures leave nothing behind."""

import json
import shutil

import duckdb
import pytest

import delta_log


def rows(con, query):
    return con.execute(query).fetchall()


def test_insert_values_with_column_list_and_null(con, lake):
    con.execute("CREATE TABLE t (id BIGINT NOT NULL, s VARCHAR, d DOUBLE)")
    con.execute("INSERT INTO t VALUES (1, 'a', 1.5), (2, NULL, NULL)")
    con.execute("INSERT INTO t (s, id) VALUES ('c', 3)")
    assert rows(con, "FROM t ORDER BY id") == [(1, "a", 1.5), (2, None, None), (3, "c", None)]
    assert delta_log.version(lake / "t") == 2
    commit = delta_log.info(lake / "t")
    assert commit["operation"] == "WRITE"
    assert commit["operationParameters"] == {"mode": "Append", "partitionBy": "[]"}
    assert commit["isBlindAppend"] is True
    assert commit["readVersion"] == 1
    assert commit["operationMetrics"]["numOutputRows"] == "1"
    assert commit["operationMetrics"]["numFiles"] == "1"
    assert commit["engineInfo"].startswith("Braid/")


def test_a_small_insert_writes_one_file(connect, lake):
    con = connect(lake, threads=4)
    con.execute("CREATE TABLE t (id BIGINT)")
    con.execute("INSERT INTO t SELECT * FROM range(500000)")
    assert len(delta_log.actions(lake / "t", "add")) == 1
    assert rows(con, "SELECT count(*), sum(id) FROM t") == [(500000, 499999 * 250000)]


def test_delete_marks_rows_in_a_vector(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id, 'v' || range AS s FROM range(1000)")
    assert con.execute("DELETE FROM t WHERE id % 10 = 3").fetchall() == [(100,)]
    assert rows(con, "SELECT count(*), sum(id) FROM t") == [(900, 499500 - sum(range(3, 1000, 10)))]
    (add,) = delta_log.actions(lake / "t", "add")
    (remove,) = delta_log.actions(lake / "t", "remove")
    assert add["path"] == remove["path"]
    assert add["deletionVector"]["cardinality"] == 100
    assert delta_log.stats(add)["numRecords"] == 1000
    assert delta_log.stats(add)["tightBounds"] is False
    commit = delta_log.info(lake / "t")
    assert commit["operation"] == "DELETE"
    assert commit["isBlindAppend"] is False
    assert commit["operationMetrics"]["numDeletedRows"] == "100"
    assert commit["operationMetrics"]["numDeletionVectorsAdded"] == "1"


def test_delete_of_all_rows_removes_the_file(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(1000)")
    con.execute("DELETE FROM t")
    assert delta_log.active(lake / "t") == {}
    assert rows(con, "SELECT count(*) FROM t") == [(0,)]


def test_delete_twice_unites_the_vectors(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(1000)")
    con.execute("DELETE FROM t WHERE id < 10")
    con.execute("DELETE FROM t WHERE id BETWEEN 5 AND 19")
    assert rows(con, "SELECT count(*), min(id) FROM t") == [(980, 20)]
    (add,) = delta_log.active(lake / "t").values()
    assert add["deletionVector"]["cardinality"] == 20


def test_a_statement_that_touches_nothing_commits_nothing(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(10)")
    before = delta_log.version(lake / "t")
    assert con.execute("DELETE FROM t WHERE id = 77").fetchall() == [(0,)]
    assert con.execute("UPDATE t SET id = 0 WHERE id = 77").fetchall() == [(0,)]
    con.execute("INSERT INTO t SELECT 1 WHERE false")
    assert delta_log.version(lake / "t") == before
    assert delta_log.files_on_disk(lake / "t") == set(delta_log.active(lake / "t"))


def test_update_rewrites_matched_rows_only(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id, 'v' || range AS s, range * 1.5 AS x FROM range(1000)")
    assert con.execute("UPDATE t SET s = 'new', x = x + 1 WHERE id IN (5, 500)").fetchall() == [(2,)]
    assert rows(con, "FROM t WHERE s = 'new' ORDER BY id") == [(5, "new", 8.5), (500, "new", 751.0)]
    assert rows(con, "SELECT count(*), count(DISTINCT id) FROM t") == [(1000, 1000)]
    sizes = sorted(delta_log.stats(add)["numRecords"] for add in delta_log.active(lake / "t").values())
    assert sizes == [2, 1000]
    assert delta_log.info(lake / "t")["operationMetrics"]["numUpdatedRows"] == "2"


def test_update_sets_default_and_swaps_columns(con):
    con.execute("CREATE TABLE t AS SELECT 1 AS a, 2 AS b, 'x' AS s")
    con.execute("UPDATE t SET b = a, a = b, s = DEFAULT")
    assert rows(con, "FROM t") == [(2, 1, None)]


def test_delete_using_and_update_from(con):
    con.execute("CREATE TABLE t AS SELECT range AS id, 'old' AS s FROM range(100)")
    con.execute("CREATE TEMP TABLE keys AS SELECT unnest([7, 8, 7]) AS k")
    assert con.execute("DELETE FROM t USING keys WHERE t.id = keys.k").fetchall() == [(2,)]
    con.execute("CREATE TEMP TABLE news AS SELECT unnest([1, 2]) AS k, unnest(['one', 'two']) AS v")
    assert con.execute("UPDATE t SET s = news.v FROM news WHERE t.id = news.k").fetchall() == [(2,)]
    assert rows(con, "SELECT id, s FROM t WHERE s <> 'old' ORDER BY id") == [(1, "one"), (2, "two")]
    assert rows(con, "SELECT count(*) FROM t") == [(98,)]


def test_update_from_refuses_two_sources_for_one_row(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id, 'old' AS s FROM range(100)")
    before = delta_log.files_on_disk(lake / "t")
    with pytest.raises(duckdb.InvalidInputException, match="id=7, s=old.*more than one"):
        con.execute("UPDATE t SET s = v.s FROM (VALUES (7, 'a'), (7, 'b')) v(k, s) WHERE t.id = v.k")
    assert delta_log.files_on_disk(lake / "t") == before
    assert rows(con, "SELECT DISTINCT s FROM t") == [("old",)]


def test_subquery_on_the_same_table(con):
    con.execute("CREATE TABLE t AS SELECT range AS id, range % 5 AS g FROM range(100)")
    con.execute("DELETE FROM t WHERE id IN (SELECT id FROM t WHERE g = 4)")
    con.execute("INSERT INTO t SELECT id + 1000, g FROM t WHERE g = 0")
    assert rows(con, "SELECT count(*), count(*) FILTER (g = 4), count(*) FILTER (id >= 1000) FROM t") == [(100, 0, 20)]


def test_a_row_that_meets_several_sources_is_returned_once(con):
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(10000)")
    con.execute("CREATE TEMP TABLE keys AS SELECT range % 5000 AS k FROM range(20000)")
    returned = rows(con, "DELETE FROM t USING keys WHERE id = k RETURNING id")
    assert sorted(returned) == [(i,) for i in range(5000)]
    assert rows(con, "SELECT count(*) FROM t") == [(5000,)]


def test_returning(con):
    con.execute("CREATE TABLE t (id BIGINT, s VARCHAR)")
    assert rows(con, "INSERT INTO t VALUES (1, 'a'), (2, 'b') RETURNING *") == [(1, "a"), (2, "b")]
    assert rows(con, "UPDATE t SET s = s || '!' WHERE id = 2 RETURNING id, s") == [(2, "b!")]
    assert rows(con, "DELETE FROM t WHERE id = 1 RETURNING s, id") == [("a", 1)]
    assert rows(con, "DELETE FROM t USING (VALUES (2)) v(k) WHERE t.id = v.k RETURNING *") == [(2, "b!")]
    assert rows(con, "SELECT count(*) FROM t") == [(0,)]


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO t VALUES (4, 'x'), (NULL, 'y')",
        "INSERT INTO t (s) VALUES ('y')",
        "UPDATE t SET id = NULL WHERE id = 2",
        "INSERT INTO t SELECT CASE WHEN range = 250000 THEN NULL ELSE range END, 'y' FROM range(300000)",
    ],
)
def test_not_null_is_enforced_and_leaves_no_file(con, lake, statement):
    con.execute("CREATE TABLE t (id BIGINT NOT NULL, s VARCHAR)")
    con.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    before = delta_log.files_on_disk(lake / "t"), delta_log.version(lake / "t")
    with pytest.raises(duckdb.ConstraintException, match=r"t\.id.*id=NULL"):
        con.execute(statement)
    assert (delta_log.files_on_disk(lake / "t"), delta_log.version(lake / "t")) == before
    assert rows(con, "FROM t ORDER BY id") == [(1, "a"), (2, "b")]


def test_a_failing_statement_leaves_no_file(connect, lake):
    con = connect(lake, threads=4)
    con.execute("CREATE TABLE t (id BIGINT, p INTEGER) PARTITIONED BY (p)")
    con.execute("INSERT INTO t VALUES (0, 0)")
    before = delta_log.files_on_disk(lake / "t")
    with pytest.raises(duckdb.ConversionException):
        con.execute("INSERT INTO t SELECT CASE WHEN range = 990000 THEN 'x' ELSE range::VARCHAR END::BIGINT, range % 3 FROM range(1000000)")
    assert delta_log.files_on_disk(lake / "t") == before


def test_every_type_keeps_its_value(con):
    con.execute(
        """CREATE TABLE t (b BOOLEAN, i1 TINYINT, i2 SMALLINT, i4 INTEGER, i8 BIGINT, f FLOAT, d DOUBLE, n DECIMAL(9,2), w DECIMAL(38,10),
           s VARCHAR, x BLOB, day DATE, ts TIMESTAMP, tz TIMESTAMPTZ, l INTEGER[], st STRUCT(a INTEGER, b VARCHAR), m MAP(VARCHAR, DOUBLE))"""
    )
    values = """(true, -128, 32767, -2147483648, 9223372036854775807, 1.5, 'nan', -1234567.89, 1234567890123456789012345678.0123456789,
                'ä''', '\\x00\\xFF'::BLOB, '1969-12-31', '2024-02-29 12:34:56.789012', '2024-02-29 12:34:56.789012+02',
                [1, NULL, 3], {'a': 1, 'b': NULL}, MAP {'k': 2.5})"""
    con.execute(f"INSERT INTO t VALUES {values}")
    con.execute("INSERT INTO t (i8) VALUES (NULL)")
    expected = con.execute(
        f"SELECT b, i1::TINYINT, i2::SMALLINT, i4::INTEGER, i8::BIGINT, f::FLOAT, d::DOUBLE, n::DECIMAL(9,2), w::DECIMAL(38,10), s, x, day::DATE,"
        f" ts::TIMESTAMP, epoch_us(tz::TIMESTAMPTZ), l, st, m::MAP(VARCHAR, DOUBLE) FROM (VALUES {values}) v(b, i1, i2, i4, i8, f, d, n, w, s, x, day, ts, tz, l, st, m)"
    ).fetchall()
    read = rows(con, "SELECT * REPLACE (epoch_us(tz) AS tz) FROM t WHERE b")
    assert repr(read) == repr(expected)  # NaN is not equal to itself
    assert rows(con, "SELECT * REPLACE (epoch_us(tz) AS tz) FROM t WHERE b IS NULL") == [(None,) * 17]


def test_statistics_hold_what_the_file_holds(con, lake):
    con.execute("CREATE TABLE t (id BIGINT, s VARCHAR, d DOUBLE, day DATE, ts TIMESTAMP, n DECIMAL(9,2), st STRUCT(a INTEGER))")
    con.execute(
        """INSERT INTO t VALUES (5, 'b', 1.5, '2024-01-02', '2024-01-02 03:04:05.678901', 1.25, {'a': 7}),
           (-3, 'a', 2.5, '2023-12-31', '2024-01-01 00:00:00', -7.5, {'a': 9}), (NULL, NULL, NULL, NULL, NULL, NULL, NULL)"""
    )
    (add,) = delta_log.actions(lake / "t", "add")
    stats = delta_log.stats(add)
    assert stats["numRecords"] == 3
    assert (stats["minValues"]["id"], stats["maxValues"]["id"], stats["nullCount"]["id"]) == (-3, 5, 1)
    assert (stats["minValues"]["s"], stats["maxValues"]["s"]) == ("a", "b")
    assert (stats["minValues"]["d"], stats["maxValues"]["d"]) == (1.5, 2.5)
    assert (stats["minValues"]["day"], stats["maxValues"]["day"]) == ("2023-12-31", "2024-01-02")
    assert (stats["minValues"]["n"], stats["maxValues"]["n"]) == (-7.5, 1.25)
    assert (stats["minValues"]["st"]["a"], stats["maxValues"]["st"]["a"], stats["nullCount"]["st"]["a"]) == (7, 9, 1)
    assert stats["minValues"]["ts"].startswith("2024-01-01T00:00:00")
    assert stats["maxValues"]["ts"].startswith("2024-01-02T03:04:05.679")


def test_statistics_of_nan_have_no_max_even_across_row_groups(con, lake):
    con.execute("CREATE TABLE t (id BIGINT, d DOUBLE)")
    con.execute("INSERT INTO t SELECT range, CASE WHEN range = 5 THEN 'nan'::DOUBLE ELSE range END FROM range(300000)")
    for add in delta_log.actions(lake / "t", "add"):
        assert "d" not in delta_log.stats(add).get("maxValues", {})
    assert rows(con, "SELECT count(*) FROM t WHERE d > 1e300") == [(1,)]


def test_only_the_first_columns_have_statistics(con, lake):
    con.execute('CREATE TABLE t (a BIGINT, b BIGINT, c BIGINT) WITH ("delta.dataSkippingNumIndexedCols" = 2)')
    con.execute("INSERT INTO t VALUES (1, 2, 3)")
    (add,) = delta_log.actions(lake / "t", "add")
    assert delta_log.stats(add)["minValues"] == {"a": 1, "b": 2}


def test_append_only_tables_refuse_changes(con, lake):
    con.execute('CREATE TABLE t (id BIGINT) WITH ("delta.appendOnly" = true)')
    con.execute("INSERT INTO t VALUES (1)")
    with pytest.raises(duckdb.Error, match="DELTA_CANNOT_MODIFY_APPEND_ONLY"):
        con.execute("DELETE FROM t")
    with pytest.raises(duckdb.Error, match="DELTA_CANNOT_MODIFY_APPEND_ONLY"):
        con.execute("UPDATE t SET id = 2")
    assert rows(con, "FROM t") == [(1,)]


def test_on_conflict_is_refused(con):
    con.execute("CREATE TABLE t (id BIGINT)")
    with pytest.raises(duckdb.Error):
        con.execute("INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING")


def test_large_insert_rotates_files(con, lake):
    con.execute('CREATE TABLE t (id BIGINT, s VARCHAR) WITH ("delta.targetFileSize" = \'1mb\')')
    con.execute("INSERT INTO t SELECT range, md5(range::VARCHAR) FROM range(1000000)")
    adds = delta_log.actions(lake / "t", "add")
    assert len(adds) > 3
    assert sum(delta_log.stats(add)["numRecords"] for add in adds) == 1000000
    assert rows(con, "SELECT count(*), sum(id) FROM t") == [(1000000, 999999 * 500000)]
    assert delta_log.files_on_disk(lake / "t") == set(delta_log.active(lake / "t"))


def test_codec_follows_the_property(con, lake):
    con.execute('CREATE TABLE t (id BIGINT) WITH ("delta.parquet.compression.codec" = \'zstd\')')
    con.execute("INSERT INTO t VALUES (1)")
    (path,) = delta_log.active(lake / "t")
    assert path.endswith(".zstd.parquet")
    assert rows(con, f"SELECT DISTINCT compression FROM parquet_metadata('{lake}/t/{path}')") == [("ZSTD",)]


def test_column_mapping_writes_physical_names_and_ids(con, lake):
    con.execute('CREATE TABLE t (id BIGINT, st STRUCT(a INTEGER, b VARCHAR)) WITH ("delta.columnMapping.mode" = \'name\')')
    con.execute("INSERT INTO t VALUES (1, {'a': 2, 'b': 'x'}), (2, NULL)")
    con.execute("UPDATE t SET st = {'a': 3, 'b': 'y'} WHERE id = 2")
    assert rows(con, "FROM t ORDER BY id") == [(1, {"a": 2, "b": "x"}), (2, {"a": 3, "b": "y"})]
    path = sorted(delta_log.active(lake / "t"))[0]
    names = rows(con, f"SELECT name, field_id FROM parquet_schema('{lake}/t/{path}') WHERE name <> 'duckdb_schema'")
    assert all(name.startswith("col-") for name, _ in names)
    assert sorted(number for _, number in names) == [1, 2, 3, 4]
    for add in delta_log.active(lake / "t").values():
        assert "id" not in delta_log.stats(add)["minValues"]


def test_copy_from_a_file(con, lake, tmp_path):
    (tmp_path / "rows.csv").write_text("id,s\n1,a\n2,b\n")
    con.execute("CREATE TABLE t (id BIGINT, s VARCHAR)")
    con.execute(f"COPY t FROM '{tmp_path}/rows.csv' (HEADER)")
    assert rows(con, "FROM t ORDER BY id") == [(1, "a"), (2, "b")]
    assert delta_log.info(lake / "t")["isBlindAppend"] is True


def test_little_memory_is_enough(connect, lake):
    con = connect(lake, memory_limit="200MB", threads=2, temp_directory=str(lake.parent / "spill"))
    con.execute("CREATE TABLE t (id BIGINT, s VARCHAR)")
    con.execute("INSERT INTO t SELECT range, repeat(md5(range::VARCHAR), 4) FROM range(4000000)")  # 600 MB of rows
    con.execute("CREATE TABLE p (id BIGINT, k INTEGER) PARTITIONED BY (k)")
    con.execute("INSERT INTO p SELECT id, id % 50 FROM t")
    con.execute("DELETE FROM t WHERE id % 3 = 0")
    con.execute("UPDATE t SET s = 'x' WHERE id % 1000 = 1")
    assert rows(con, "SELECT count(*), count(*) FILTER (s = 'x') FROM t") == [(2666666, 2667)]
    assert rows(con, "SELECT count(*), sum(id) FROM p") == [(4000000, 3999999 * 2000000)]


def test_a_table_whose_files_were_lost_says_which(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(10)")
    (path,) = delta_log.active(lake / "t")
    (lake / "t" / path).unlink()
    with pytest.raises(duckdb.Error, match=path):
        con.execute("UPDATE t SET id = 1 WHERE id = 3")
    assert delta_log.version(lake / "t") == 0


@pytest.mark.parametrize("vectors", ["true", "false"])
def test_files_outside_of_the_directory_can_be_changed(con, lake, vectors):
    """A shallow clone: its log names another table's files by URI."""
    con.execute(f'CREATE TABLE t WITH ("delta.enableDeletionVectors" = {vectors}) AS SELECT range AS id, \'old\' AS s FROM range(100)')
    shutil.copytree(lake / "t" / "_delta_log", lake / "clone" / "_delta_log")
    log = lake / "clone" / "_delta_log" / "00000000000000000000.json"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        if "add" in line:
            line["add"]["path"] = (lake / "t" / line["add"]["path"]).as_uri()
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    con.execute("DELETE FROM clone WHERE id < 10")
    con.execute("UPDATE clone SET s = 'new' WHERE id = 50")
    assert rows(con, "SELECT count(*), count(*) FILTER (s = 'new') FROM clone") == [(90, 1)]
    assert rows(con, "SELECT count(*), count(*) FILTER (s = 'new') FROM t") == [(100, 0)]


def test_a_field_of_no_type_inside_a_struct_is_refused(con, connect, lake):
    con.execute("CREATE TABLE t (i INT, s STRUCT(a INT, b INT))")
    commit = lake / "t/_delta_log/00000000000000000000.json"
    log = commit.read_text()
    before, name, after = log.partition('\\"name\\":\\"b\\",\\"type\\":\\"integer\\"')
    assert name
    commit.write_text(before + name.replace("integer", "void") + after)
    con = connect(lake)
    with pytest.raises(duckdb.NotImplementedException, match='column "s" holds a field of type void'):
        con.execute("INSERT INTO t VALUES (1, {'a': 1, 'b': NULL})")
    assert con.execute("SELECT count(*) FROM t").fetchall() == [(0,)]
