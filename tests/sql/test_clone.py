# SPDX-License-Identifier: Apache-2.0
"""SHALLOW CLONE: a table that begins with the files of another one, and never touches them."""

import os
import shutil

import duckdb
import pytest

import delta_log
from conftest import connect_lake
from judges import plain, seen_by_braid, seen_by_deltalake, seen_by_duckdb_delta
from racing import commit_late
from refusal import refuse


def rows(con, query="FROM c ORDER BY ALL"):
    return con.execute(query).fetchall()


def clone(con, statement="CREATE TABLE c SHALLOW CLONE t"):
    answer = con.execute(statement)
    return dict(zip([column[0] for column in answer.description], answer.fetchone()))


def state(table):
    """Everything in a table's folder, with times, but the leases of open connections."""
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in sorted(table.rglob("*")) if path.is_file() and "leases" not in path.parts}


@pytest.fixture
def t(con, lake):
    """Two files, one of them with a vector in the log, and one with a vector in a file."""
    con.execute("CREATE TABLE t (id BIGINT, s VARCHAR) TBLPROPERTIES ('mine' = 'x')")
    con.execute("COMMENT ON TABLE t IS 'the source'")
    con.execute("INSERT INTO t SELECT range, 's' || range FROM range(10)")
    con.execute("INSERT INTO t SELECT range, 'many' FROM range(100, 20100)")
    con.execute("DELETE FROM t WHERE id IN (1, 2) OR (id >= 100 AND hash(id) % 2 = 0)")
    return lake / "t"


def test_the_clone_is_the_source_and_names_its_files(con, lake, t):
    before, files = state(t), delta_log.active(t)
    answer = clone(con)
    size = sum(add["size"] for add in files.values())
    assert answer == {"source_table_size": size, "source_num_of_files": 2, "num_removed_files": 0, "num_copied_files": 0, "removed_files_size": 0, "copied_files_size": 0}
    assert seen_by_braid(con, "c") == seen_by_braid(con, "t") == seen_by_deltalake(lake / "c")
    adds = delta_log.actions(lake / "c", "add")
    assert sorted(delta_log.active(lake / "c")) == sorted(f"file:{t}/{path}" for path in files)
    for add in adds:
        assert add["dataChange"] and delta_log.stats(add)["numRecords"]
    assert {add["deletionVector"]["storageType"] for add in adds} == {"i", "p"}
    metadata, source = delta_log.metadata(lake / "c"), delta_log.metadata(t)
    assert metadata["id"] != source["id"]
    assert all(metadata[key] == source[key] for key in ("schemaString", "partitionColumns", "configuration", "description"))
    info = delta_log.info(lake / "c")
    assert (info["operation"], info["operationParameters"]["sourceVersion"]) == ("CLONE", 4)
    assert info["operationParameters"]["source"] == f"delta.`{t}`"
    assert (info["operationMetrics"]["sourceNumOfFiles"], info["operationMetrics"]["sourceTableSize"]) == ("2", str(size))
    assert rows(con, "SELECT operation FROM braid_history('c')") == [("CLONE",)]
    assert state(t) == before and delta_log.files_on_disk(lake / "c") == set()


def test_duckdbs_delta_extension_finds_no_absolute_path(con, lake, t):
    """It puts the table's folder before every path. Once OPTIMIZE has rewritten the files it reads the clone as well."""
    clone(con)
    with pytest.raises(AssertionError, match="Cannot open file"):
        seen_by_duckdb_delta(lake / "c")
    con.execute("OPTIMIZE c")
    assert seen_by_duckdb_delta(lake / "c") == seen_by_braid(con, "t")


def test_changes_of_the_clone_stay_there(con, lake, t):
    clone(con)
    before, source = state(t), rows(con, "FROM t ORDER BY ALL")
    expected = [row for row in source if row[0] not in (0, 3, 5)] + [(0, "zero"), (5000000, "new")]
    con.execute("DELETE FROM c WHERE id = 3")
    con.execute("UPDATE c SET s = 'zero' WHERE id = 0")
    con.execute("INSERT INTO c VALUES (5000000, 'new')")
    con.execute("MERGE INTO c USING (VALUES (5)) k(id) ON c.id = k.id WHEN MATCHED THEN DELETE")
    assert rows(con) == sorted(expected)
    assert seen_by_deltalake(lake / "c") == seen_by_braid(con, "c")
    con.execute("OPTIMIZE c")
    con.execute("REORG TABLE c APPLY (PURGE)")
    assert rows(con) == sorted(expected)
    assert plain(con.execute("FROM c").to_arrow_table()) == seen_by_duckdb_delta(lake / "c") == seen_by_deltalake(lake / "c")
    assert state(t) == before and rows(con, "FROM t ORDER BY ALL") == source


def test_changes_of_the_source_stay_there(con, t):
    clone(con)
    before = rows(con)
    con.execute("UPDATE t SET s = 'other' WHERE id < 10")
    con.execute("ALTER TABLE t ADD COLUMN more INT")
    con.execute("OPTIMIZE t")
    assert rows(con) == before


def test_versions_of_the_past(con, t):
    con.execute("CREATE TABLE c SHALLOW CLONE t VERSION AS OF 2")
    assert len(rows(con)) == 10
    for version in range(5):
        os.utime(t / "_delta_log" / f"{version:020}.json", (1_700_000_000 + version * 60,) * 2)
    con.execute("CREATE TABLE c2 SHALLOW CLONE lake.main.t TIMESTAMP AS OF '2023-11-14 22:14:00+00'")
    assert rows(con, "SELECT count(*) FROM c2") == [(0,)]
    refuse(con, t, "CREATE TABLE c3 SHALLOW CLONE t VERSION AS OF 9", "version 9")


def test_spellings(con, lake, t):
    con.execute(f"CREATE TABLE `a b` USING DELTA SHALLOW CLONE delta.`{t}` TBLPROPERTIES ('mine' = 'y', 'delta.appendOnly' = 'true') LOCATION '{lake / 'a b'}'")
    configuration = delta_log.metadata(lake / "a b")["configuration"]
    assert (configuration["mine"], configuration["delta.appendOnly"]) == ("y", "true")
    refuse(con, lake / "a b", 'DELETE FROM "a b" WHERE id = 3', "append")
    assert con.execute("CREATE TABLE IF NOT EXISTS `a b` SHALLOW CLONE t").fetchall() == []
    assert delta_log.version(lake / "a b") == 0
    for statement, parts in {
        "CREATE TABLE t SHALLOW CLONE t": ["already exists"],
        "CREATE OR REPLACE TABLE t SHALLOW CLONE t VERSION AS OF 1": ["clone of itself", "RESTORE"],
        "REPLACE TABLE missing SHALLOW CLONE t": ["DELTA_CANNOT_REPLACE_MISSING_TABLE"],
        "CREATE TABLE d DEEP CLONE t": ["DEEP CLONE", "CREATE TABLE d AS SELECT * FROM t", "SHALLOW CLONE"],
        "CREATE TABLE d CLONE t": ["DEEP CLONE"],
        "CREATE TABLE d SHALLOW CLONE missing": ["missing"],
        "CREATE TABLE d SHALLOW CLONE t COPY": ["syntax error"],
        f"CREATE TABLE d SHALLOW CLONE t LOCATION '{lake / 'elsewhere'}'": ["LOCATION"],
    }.items():
        refuse(con, t, statement, *parts)
    assert not (lake / "d").exists()


def test_a_clone_replaces_a_table(con, lake, t):
    con.execute("CREATE TABLE c AS SELECT 1 AS other")
    identity, files = delta_log.metadata(lake / "c")["id"], delta_log.active(lake / "c")
    answer = clone(con, "CREATE OR REPLACE TABLE c SHALLOW CLONE t")
    assert (answer["num_removed_files"], answer["removed_files_size"]) == (1, sum(add["size"] for add in files.values()))
    assert rows(con) == rows(con, "FROM t ORDER BY ALL")
    assert delta_log.metadata(lake / "c")["id"] == identity
    con.execute("RESTORE c TO VERSION AS OF 0")
    assert rows(con) == [(1,)]


def test_a_clone_follows_its_source(con, lake, t):
    """Made anew of a newer version: what both have is neither added nor removed."""
    clone(con)
    con.execute("INSERT INTO t VALUES (7777777, 'more')")
    con.execute("DELETE FROM t WHERE id = 9")
    assert clone(con, "REPLACE TABLE c SHALLOW CLONE t")["num_removed_files"] == 1
    assert rows(con) == rows(con, "FROM t ORDER BY ALL")
    assert len(delta_log.actions(lake / "c", "add")) == 2 and len(delta_log.actions(lake / "c", "remove")) == 1
    assert seen_by_deltalake(lake / "c") == seen_by_braid(con, "t")


def test_a_clone_of_a_clone(con, lake, t):
    clone(con)
    con.execute("INSERT INTO c VALUES (-1, 'of the clone')")
    con.execute("CREATE TABLE c2 SHALLOW CLONE c")
    assert sorted(path.rsplit("/", 1)[0] for path in delta_log.active(lake / "c2")) == [f"file:{lake}/c", f"file:{t}", f"file:{t}"]
    assert seen_by_deltalake(lake / "c2") == seen_by_braid(con, "c") == seen_by_braid(con, "c2")


def test_names_that_need_quotes(lake, connect):
    """Blanks and letters beyond ASCII in the folders of the source, percent signs in its partitions: the URI is spelled as Spark does."""
    folder = lake / "a é b"
    folder.mkdir()
    con = connect(folder)
    con.execute("CREATE TABLE t (p VARCHAR, v INT) PARTITIONED BY (p)")
    con.execute("INSERT INTO t VALUES ('x y', 1), ('50%', 2), ('a/b', 3), (NULL, 4), ('é', 5)")
    con.execute("DELETE FROM t WHERE v = 9")
    clone(con)
    assert all("/a%20é%20b/t/" in add["path"] and " " not in add["path"] for add in delta_log.actions(folder / "c", "add"))
    con.execute("UPDATE c SET v = v + 10 WHERE p LIKE '%5%' OR p IS NULL")
    con.execute("DELETE FROM c WHERE p = 'x y'")
    assert rows(con, "FROM c ORDER BY v") == [("a/b", 3), ("é", 5), ("50%", 12), (None, 14)]
    assert seen_by_deltalake(folder / "c") == seen_by_braid(con, "c")


def test_row_ids_clustering_and_mapping_come_along(con, lake):
    con.execute("CREATE TABLE t (id BIGINT, k INT) CLUSTER BY (k) TBLPROPERTIES ('delta.enableRowTracking' = 'true', 'delta.columnMapping.mode' = 'name', 'delta.enableInCommitTimestamps' = 'true')")
    con.execute("INSERT INTO t SELECT range, range FROM range(10)")
    con.execute("ALTER TABLE t RENAME COLUMN id TO key")
    clone(con)
    con.execute("INSERT INTO c VALUES (99, 99)")
    first, second = delta_log.active(lake / "c").values()
    assert (first["baseRowId"], second["baseRowId"]) == (0, 10)
    assert rows(con, "SELECT clusteringColumns FROM braid_detail('c')") == [(["k"],)]
    assert seen_by_deltalake(lake / "c") == seen_by_braid(con, "c")
    assert "delta.inCommitTimestampEnablementVersion" not in delta_log.metadata(lake / "c")["configuration"]
    assert delta_log.info(lake / "c")["inCommitTimestamp"] > 0


def test_in_commit_timestamps_are_those_of_the_place(con, lake, t):
    """Whether commits have them says the clone; since when, the table in whose place it comes."""
    con.execute("CREATE TABLE c (id INT)")
    con.execute("ALTER TABLE c SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')")
    enabled = {key: value for key, value in delta_log.metadata(lake / "c")["configuration"].items() if "TimestampEnablement" in key}
    assert enabled["delta.inCommitTimestampEnablementVersion"] == "1"
    con.execute("CREATE OR REPLACE TABLE c (id INT) WITH ('delta.enableInCommitTimestamps' = 'true')")
    assert enabled.items() <= delta_log.metadata(lake / "c")["configuration"].items()
    clone(con, "REPLACE TABLE c SHALLOW CLONE t TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')")
    assert enabled.items() <= delta_log.metadata(lake / "c")["configuration"].items()
    assert delta_log.info(lake / "c")["inCommitTimestamp"] > int(enabled["delta.inCommitTimestampEnablementTimestamp"])
    clone(con, "REPLACE TABLE c SHALLOW CLONE t VERSION AS OF 2")
    assert "inCommitTimestamp" not in delta_log.info(lake / "c")
    assert not [key for key in delta_log.metadata(lake / "c")["configuration"] if "TimestampEnablement" in key]
    con.execute("ALTER TABLE c SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')")
    assert delta_log.metadata(lake / "c")["configuration"]["delta.inCommitTimestampEnablementVersion"] == "5"
    assert seen_by_deltalake(lake / "c") == seen_by_braid(con, "c")


def test_files_that_are_gone_are_named(con, lake, t):
    first, = delta_log.actions(t, "add", at=2)
    os.remove(t / first["path"])
    refuse(con, t, "CREATE TABLE c SHALLOW CLONE t VERSION AS OF 3", first["path"], "version 3", "1 of the 2 files", "VACUUM")
    assert not (lake / "c").exists()


def test_what_looks_after_the_clone_leaves_the_source_alone(con, lake, t):
    clone(con)
    con.execute("DELETE FROM c WHERE id > 5")
    con.execute("OPTIMIZE c")
    before = state(t)
    con.execute("SET braid_retention_check = false")
    con.execute("VACUUM c RETAIN 0 HOURS")
    assert state(t) == before and len(rows(con)) == 4
    con.execute("DROP TABLE c")
    assert state(t) == before


def test_a_source_that_is_gone(con, lake, t):
    clone(con)
    shutil.rmtree(t)
    with pytest.raises(duckdb.Error, match="part-"):
        rows(con)


def test_inside_a_transaction_it_is_refused(con, t):
    con.execute("BEGIN")
    with pytest.raises(duckdb.TransactionException, match="BEGIN ... COMMIT"):
        con.execute("CREATE TABLE c SHALLOW CLONE t")
    con.execute("ROLLBACK")


def test_one_of_two_wins(con, lake, t):
    other = connect_lake(lake)
    with pytest.raises(duckdb.TransactionException, match="DELTA_PROTOCOL_CHANGED.WRITE_TO_EMPTY_DIRECTORY"):
        commit_late(con, "CREATE TABLE c SHALLOW CLONE t", lambda: other.execute("CREATE TABLE c SHALLOW CLONE t VERSION AS OF 2"))
    assert len(rows(con)) == 10
    commit_late(con, "CREATE TABLE IF NOT EXISTS c2 SHALLOW CLONE t", lambda: other.execute("CREATE TABLE c2 AS SELECT 1 AS x"))
    assert rows(con, "FROM c2") == [(1,)] and delta_log.version(lake / "c2") == 0
    with pytest.raises(duckdb.TransactionException, match="2D521"):
        commit_late(con, "CREATE OR REPLACE TABLE c SHALLOW CLONE t", lambda: other.execute("INSERT INTO c VALUES (1, 'kept')"))
    assert len(rows(con)) == 11
