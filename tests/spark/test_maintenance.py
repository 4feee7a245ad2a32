# SPDX-License-Identifier: Apache-2.0
"""Maintenance by both engines on one table: what one of them cleans up, restores, clones or clusters, the other reads as before and goes on with."""

import json
import os
import shutil

import pytest

import delta_log
from conftest import connect_lake

BY_PATH = "delta.`{}`".format


@pytest.fixture
def con(con):
    con.execute("SET braid_retention_check = false")
    return con


@pytest.fixture
def query(spark):
    """query(sql) with Spark; rows as tuples. VACUUM may be told to keep nothing."""
    spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    yield lambda sql: [tuple(row) for row in spark.sql(sql).collect()]
    spark.conf.unset("spark.databricks.delta.retentionDurationCheck.enabled")


def table_files(table):
    """What VACUUM may delete, and has not."""
    return {path for path in delta_log.files_on_disk(table) if not path.startswith("_braid/")}


def braid_files(table):
    return {path for path in delta_log.files_on_disk(table) if path.startswith("_braid/map")}


def needed(table):
    """Data files and files of vectors of the newest version."""
    files = set()
    for path, add in delta_log.active(table).items():
        files.add(path)
        vector = add.get("deletionVector")
        if vector and vector["storageType"] == "u":
            files.add("vector")
    return files


def data_and_vectors(table):
    """The same of what is on disk: the names of vectors are encoded in the log, so that they are only counted as there."""
    return {"vector" if path.endswith(".bin") else path for path in table_files(table)}


def make_ours(con):
    """Every thing that VACUUM could trip over: a vector in a file, row maps, ids in the files, partitions of difficult names, files of old versions."""
    con.execute("CREATE TABLE t (id BIGINT, p VARCHAR) PARTITIONED BY (p) WITH ('delta.enableRowTracking' = 'true')")
    for p in ("a b/c=%", "ü", "x"):
        con.execute("INSERT INTO t SELECT range, ? FROM range(6000)", [p])
    con.execute("UPDATE t SET id = id + 100000 WHERE id % 50 = 1")
    con.execute("OPTIMIZE t")
    con.execute("INSERT INTO t VALUES (7, NULL)")
    con.execute("OPTIMIZE t ZORDER BY (id)")
    con.execute("DELETE FROM t WHERE p = 'x'")
    con.execute("DELETE FROM t WHERE hash(id) % 2 = 0")


def row_ids(query, table):
    return query(f"SELECT _metadata.row_id, id, p FROM {BY_PATH(table)} ORDER BY ALL")


@pytest.mark.parametrize("kind", ["FULL", "LITE"])
def test_spark_vacuums_a_table_of_ours(kind, con, lake, query):
    make_ours(con)
    table = lake / "t"
    rows, ids, maps = con.execute("FROM t ORDER BY ALL").fetchall(), row_ids(query, table), braid_files(table)
    assert maps and len({row[0] for row in ids}) == len(ids) == len(rows)
    gone = {row[0].removeprefix("file:") for row in query(f"VACUUM {BY_PATH(table)} {kind} RETAIN 0 HOURS DRY RUN")}
    assert gone and not any("_braid" in path for path in gone)
    assert table_files(table) > needed(table) - {"vector"}
    query(f"VACUUM {BY_PATH(table)} {kind} RETAIN 0 HOURS")
    assert data_and_vectors(table) == needed(table)
    assert braid_files(table) == maps
    assert con.execute("FROM t ORDER BY ALL").fetchall() == rows
    fresh = connect_lake(lake)
    assert fresh.execute("FROM t ORDER BY ALL").fetchall() == rows
    fresh.execute("DELETE FROM t WHERE id < 10")
    fresh.close()
    assert con.execute("SELECT count(*) FROM t").fetchone()[0] == len(query(f"SELECT * FROM {BY_PATH(table)}")) < len(rows)
    assert {row[:2] for row in row_ids(query, table)} <= {row[:2] for row in ids}


def test_spark_vacuums_beside_a_transaction_of_ours(con, lake, query):
    """It does not know of leases. The row maps are left to us, so that rows are found again where OPTIMIZE has put them."""
    con.execute("CREATE TABLE t (id BIGINT, v INT)")
    for first in (0, 1000):
        con.execute(f"INSERT INTO t SELECT range, 0 FROM range({first}, {first + 1000})")
    other = connect_lake(lake)
    other.execute("BEGIN")
    other.execute("UPDATE t SET v = 1 WHERE id = 5")
    con.execute("OPTIMIZE t")
    staged = table_files(lake / "t")
    query(f"VACUUM {BY_PATH(lake / 't')} LITE RETAIN 0 HOURS")  # LITE knows nothing of files that are not committed yet
    assert len(table_files(lake / "t")) == len(staged) - 2
    other.execute("COMMIT")
    other.close()
    assert con.execute("SELECT count(*), sum(v), max(id) FILTER (v = 1) FROM t").fetchone() == (2000, 1, 5)
    assert query(f"SELECT count(*), sum(v) FROM {BY_PATH(lake / 't')}") == [(2000, 1)]


def test_spark_vacuums_a_clone_of_ours(con, lake, query):
    con.execute("CREATE TABLE s AS SELECT range AS id FROM range(5000)")
    con.execute("DELETE FROM s WHERE hash(id) % 2 = 0")
    con.execute("CREATE TABLE t SHALLOW CLONE s")
    source = delta_log.files_on_disk(lake / "s")
    rows = con.execute("FROM t ORDER BY ALL").fetchall()
    assert sorted(query(f"SELECT * FROM {BY_PATH(lake / 't')}")) == rows  # Spark reads a clone of ours, vectors of its source included
    con.execute("DELETE FROM t WHERE id < 100")
    con.execute("INSERT INTO t VALUES (-1)")
    con.execute("OPTIMIZE t")
    rows = con.execute("FROM t ORDER BY ALL").fetchall()
    for kind in ("LITE", "FULL"):
        query(f"VACUUM {BY_PATH(lake / 't')} {kind} RETAIN 0 HOURS")
        assert delta_log.files_on_disk(lake / "s") == source
        assert con.execute("FROM t ORDER BY ALL").fetchall() == rows
    assert sorted(query(f"SELECT * FROM {BY_PATH(lake / 't')}")) == rows
    assert len(table_files(lake / "t")) == 1


THEIRS = {
    # Properties and partitions of a table that Spark makes.
    "vectors": ("TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')", "id % 3 = 0"),
    "mapped columns": ("PARTITIONED BY (p) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')", "id % 3 = 0"),
    "partitions": ("PARTITIONED BY (p) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')", "p = 'a b%/=' OR id % 3 = 0"),
    "change data": ("TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'false')", "id % 3 = 0"),
    "random prefixes": ("TBLPROPERTIES ('delta.randomizeFilePrefixes' = 'true', 'delta.enableDeletionVectors' = 'true')", "id % 3 = 0"),
}


def make_theirs(query, table, more, condition):
    name = BY_PATH(table)
    query(f"CREATE TABLE {name} (id BIGINT, p STRING, s STRING) USING DELTA {more}")
    query(f"INSERT INTO {name} SELECT id, CASE id % 4 WHEN 0 THEN 'a b%/=' WHEN 1 THEN 'ü' WHEN 2 THEN '' ELSE 'x:y' END, 'old' FROM range(4000)")
    query(f"UPDATE {name} SET s = 'new' WHERE id % 10 = 1")
    query(f"DELETE FROM {name} WHERE {condition}")
    query(f"INSERT INTO {name} SELECT id, 'ü', 'more' FROM range(5000, 5010)")
    query(f"OPTIMIZE {name}")
    query(f"DELETE FROM {name} WHERE id IN (5, 5001)")


@pytest.mark.parametrize("kind", ["FULL", "LITE"])
@pytest.mark.parametrize("name", THEIRS)
def test_our_vacuum_of_a_table_of_theirs_is_theirs(name, kind, con, lake, query):
    """Two copies of a table: what Spark's VACUUM leaves of one is what ours leaves of the other, and Spark reads the same as before."""
    table, copy = lake / "t", lake / "copy"
    make_theirs(query, table, *THEIRS[name])
    for n, path in enumerate(("orphan", "_hidden/file", "p=zz/part-0.parquet", "a b%25.parquet")):
        (table / path).parent.mkdir(exist_ok=True)
        (table / path).write_text("x" * n)
        os.utime(table / path, (1, 1))
    os.utime(table / "p=zz", (1, 1))
    rows = sorted(query(f"SELECT * FROM {BY_PATH(table)}"), key=repr)
    assert sorted(con.execute("FROM t").fetchall(), key=repr) == rows
    shutil.copytree(table, copy)
    query(f"VACUUM {BY_PATH(copy)} {kind} RETAIN 0 HOURS")
    deleted = con.execute(f"VACUUM t {kind} RETAIN 0 HOURS").fetchone()[1]
    assert table_files(table) == {path for path in table_files(copy) if not path.endswith(".crc") or "/." not in f"/{path}"} | {
        path for path in table_files(table) if path.rsplit("/", 1)[-1].startswith(".")}  # check sums of Hadoop's file system
    assert deleted > 0
    assert sorted(query(f"SELECT * FROM {BY_PATH(table)}"), key=repr) == rows
    assert sorted(con.execute("FROM t").fetchall(), key=repr) == rows
    query(f"INSERT INTO {BY_PATH(table)} VALUES (-1, 'ü', 'after')")
    rows.append((-1, "ü", "after"))
    if name != "change data":  # only Spark may delete there
        con.execute("DELETE FROM t WHERE p = 'ü' AND id > 2000")
        rows = [row for row in rows if row[1] != "ü" or row[0] <= 2000]
    assert sorted(query(f"SELECT * FROM {BY_PATH(table)}"), key=repr) == sorted(rows, key=repr)
    assert sorted(con.execute("FROM t").fetchall(), key=repr) == sorted(rows, key=repr)


def vacuumed_to(table):
    return json.loads((table / "_delta_log" / "_last_vacuum_info").read_text())["latestCommitVersionOutsideOfRetentionWindow"]


@pytest.mark.parametrize("first", ["braid", "spark"])
def test_lite_in_turn(first, con, lake, query):
    con.execute("CREATE TABLE t (id BIGINT)")
    table, before = lake / "t", -1
    engines = {"braid": lambda sql: con.execute(sql.format("t")), "spark": lambda sql: query(sql.format(BY_PATH(table)))}
    turns = [first, *(name for name in engines if name != first)] * 2
    for n, name in enumerate(turns):
        for engine in engines.values():
            engine(f"INSERT INTO {{}} VALUES ({n})")
        con.execute("OPTIMIZE t")
        assert table_files(table) > needed(table)
        engines[name]("VACUUM {} LITE RETAIN 0 HOURS")
        assert {path for path in table_files(table) if not path.rsplit("/", 1)[-1].startswith(".")} == needed(table), (n, name)
        assert vacuumed_to(table) > before
        before = vacuumed_to(table)
    assert con.execute("SELECT count(*), sum(id) FROM t").fetchone() == (8, 12)
    assert query(f"SELECT count(*), sum(id) FROM {BY_PATH(table)}") == [(8, 12)]


def test_each_restores_a_version_of_the_other(con, lake, query):
    make_ours(con)
    table, name = lake / "t", BY_PATH(lake / "t")
    ours = {version: con.execute(f"FROM t AT (VERSION => {version}) ORDER BY ALL").fetchall() for version in range(delta_log.version(table) + 1)}
    for version in (3, 4, max(ours) - 1, max(ours)):  # before and after UPDATE and rearrangements, with vectors and without
        query(f"RESTORE {name} TO VERSION AS OF {version}")
        assert con.execute("FROM t ORDER BY ALL").fetchall() == ours[version], version
        assert con.execute("SELECT count(*) FROM t").fetchone() == (len(ours[version]),)
    con.execute("DELETE FROM t WHERE id < 3000")
    theirs = delta_log.version(table)
    query(f"UPDATE {name} SET id = -id WHERE id % 7 = 0")
    query(f"OPTIMIZE {name}")
    query(f"DELETE FROM {name} WHERE id % 11 = 0")
    wanted = {version: sorted(query(f"SELECT * FROM {name} VERSION AS OF {version}"), key=repr) for version in range(theirs, theirs + 4)}
    for version in (theirs + 1, theirs + 3, theirs, theirs + 2):
        con.execute(f"RESTORE t TO VERSION AS OF {version}")
        assert sorted(con.execute("FROM t").fetchall(), key=repr) == wanted[version]
        assert sorted(query(f"SELECT * FROM {name}"), key=repr) == wanted[version]


def test_each_reads_a_clone_of_the_other(con, lake, query):
    make_ours(con)
    rows = sorted(con.execute("FROM t").fetchall(), key=repr)
    con.execute("CREATE TABLE ours SHALLOW CLONE t")
    query(f"CREATE TABLE theirs SHALLOW CLONE {BY_PATH(lake / 't')} LOCATION '{lake / 'theirs'}'")
    for clone in ("ours", "theirs"):
        assert sorted(con.execute(f"FROM {clone}").fetchall(), key=repr) == rows, clone
        assert sorted(query(f"SELECT * FROM {BY_PATH(lake / clone)}"), key=repr) == rows, clone
        con.execute(f"DELETE FROM {clone} WHERE id % 5 = 0")
        query(f"UPDATE {BY_PATH(lake / clone)} SET id = -id WHERE id % 7 = 0")
        con.execute(f"OPTIMIZE {clone}")
        con.execute(f"VACUUM {clone} RETAIN 0 HOURS")
        query(f"VACUUM {BY_PATH(lake / clone)} RETAIN 0 HOURS")
        expected = sorted(((-id if id % 7 == 0 else id, p) for id, p in rows if id % 5), key=repr)
        assert sorted(con.execute(f"FROM {clone}").fetchall(), key=repr) == expected, clone
        assert sorted(query(f"SELECT * FROM {BY_PATH(lake / clone)}"), key=repr) == expected, clone
    assert sorted(con.execute("FROM t").fetchall(), key=repr) == rows
    assert sorted(query(f"SELECT * FROM {BY_PATH(lake / 't')}"), key=repr) == rows


ROWS = "SELECT count(*), sum(a), sum(b) FROM {}"


def test_clustering_in_turn(con, lake, spark, query):
    """Each goes on from what the other has clustered: the files of the other stay, if they are large enough for it."""
    spark.conf.set("spark.databricks.delta.optimize.clustering.mergeStrategy.minCubeSize.threshold", "1")
    con.execute("CREATE TABLE t (a BIGINT, b BIGINT) CLUSTER BY (a, b) WITH ('delta.targetFileSize' = '16kb')")
    table, name = lake / "t", BY_PATH(lake / "t")
    assert query(f"DESCRIBE DETAIL {name}")[0] and spark.sql(f"DESCRIBE DETAIL {name}").select("clusteringColumns").first()[0] == ["a", "b"]
    for n in range(2):
        con.execute(f"INSERT INTO t SELECT range, hash(range) % 1000 FROM range({n * 5000}, {n * 5000 + 5000})")
    con.execute("OPTIMIZE t")
    ours = set(delta_log.active(table))
    assert len(ours) > 2 and all(add["clusteringProvider"] == "liquid" for add in delta_log.active(table).values())
    query(f"INSERT INTO {name} SELECT id, id % 1000 FROM range(10000, 30000)")
    theirs = set(delta_log.active(table)) - ours
    answer = con.execute(ROWS.format("t")).fetchall()
    con.execute("OPTIMIZE t")
    large = {path for path in ours if os.path.getsize(table / path) >= 8 << 10}
    assert large and large <= set(delta_log.active(table)) and not theirs & set(delta_log.active(table))
    clustered = delta_log.active(table)
    query(f"INSERT INTO {name} SELECT id, id % 1000 FROM range(30000, 50000)")
    fresh = set(delta_log.active(table)) - set(clustered)
    query(f"OPTIMIZE {name}")
    after = delta_log.active(table)
    assert not fresh & set(after) and {add.get("clusteringProvider") for add in after.values()} == {"liquid"}
    assert query(ROWS.format(name)) == con.execute(ROWS.format("t")).fetchall() != answer
    at = delta_log.version(table)
    con.execute("OPTIMIZE t FULL")
    con.execute("OPTIMIZE t")
    assert query(ROWS.format(name)) == con.execute(ROWS.format("t")).fetchall() and delta_log.version(table) <= at + 1
    query(f"ALTER TABLE {name} CLUSTER BY (b)")
    assert con.execute("SELECT clusteringColumns FROM braid_detail('t')").fetchall() == [(["b"],)]
    con.execute("OPTIMIZE t FULL")
    query(f"OPTIMIZE {name} FULL")
    assert query(ROWS.format(name)) == con.execute(ROWS.format("t")).fetchall()


def test_history_shows_our_metrics(con, lake, spark):
    con.execute("CREATE TABLE t (id BIGINT)")
    for n in range(3):
        con.execute(f"INSERT INTO t SELECT range FROM range({n * 10}, {n * 10 + 10})")
    con.execute("OPTIMIZE t")
    con.execute("DELETE FROM t WHERE id = 3")
    con.execute("REORG TABLE t APPLY (PURGE)")
    con.execute("RESTORE t TO VERSION AS OF 4")
    con.execute("VACUUM t RETAIN 0 HOURS")
    con.execute("CREATE TABLE c SHALLOW CLONE t")
    rows = spark.sql(f"DESCRIBE HISTORY {BY_PATH(lake / 't')}").select("operation", "operationParameters", "operationMetrics").collect()
    history = {row[0]: (row[1], row[2]) for row in rows}
    assert [row[0] for row in rows] == ["VACUUM END", "VACUUM START", "RESTORE", "REORG", "DELETE", "OPTIMIZE", "WRITE", "WRITE", "WRITE", "CREATE TABLE"]
    assert history["OPTIMIZE"][1].items() >= {"numRemovedFiles": "3", "numAddedFiles": "1"}.items()
    assert history["DELETE"][1]["numDeletedRows"] == "1"
    assert history["REORG"][1]["numRemovedFiles"] == "1"
    assert history["RESTORE"][0]["version"] == "4" and history["RESTORE"][1].items() >= {"numRestoredFiles": "1", "numRemovedFiles": "1"}.items()
    assert history["VACUUM START"][1]["numFilesToDelete"] == history["VACUUM END"][1]["numDeletedFiles"] == "4"
    assert history["VACUUM START"][0]["specifiedRetentionMillis"] == "0" and history["VACUUM END"][0]["status"] == "COMPLETED"
    (clone,) = spark.sql(f"DESCRIBE HISTORY {BY_PATH(lake / 'c')}").select("operation", "operationParameters", "operationMetrics").collect()
    assert clone[0] == "CLONE" and clone[1]["isShallow"] == "true" and clone[2]["sourceNumOfFiles"] == "1"
