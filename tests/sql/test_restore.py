# SPDX-License-Identifier: Apache-2.0
"""RESTORE: the table holds again what an older version held, and what may only grow does not go back."""

import os

import duckdb
import pytest

import delta_log
from conftest import connect_lake
from judges import assert_all_see, seen_by_deltalake
from racing import overlapped
from refusal import refuse


def rows(con, query="FROM t ORDER BY ALL"):
    return con.execute(query).fetchall()


def restore(con, to="VERSION AS OF 1"):
    answer = con.execute(f"RESTORE t TO {to}")
    return dict(zip([column[0] for column in answer.description], answer.fetchone()))


@pytest.fixture
def t(con, lake):
    """0: empty, 1: ten rows, 2: three deleted, 3: two updated, 4: ten more."""
    con.execute("CREATE TABLE t (id BIGINT, s VARCHAR)")
    con.execute("INSERT INTO t SELECT range, 's' || range FROM range(10)")
    con.execute("DELETE FROM t WHERE id < 3")
    con.execute("UPDATE t SET s = 'new' WHERE id IN (4, 7)")
    con.execute("INSERT INTO t SELECT range, 'later' FROM range(10, 20)")
    return lake / "t"


def test_every_version_comes_back(con, t):
    versions = {version: seen_by_deltalake(t, version) for version in range(5)}
    for version in (1, 4, 2, 0, 3):
        con.execute(f"RESTORE TABLE t TO VERSION AS OF {version}")
        assert assert_all_see(con, t) == versions[version]
        assert seen_by_deltalake(t, version) == versions[version]  # time travel still works
        con.execute("INSERT INTO t VALUES (100, 'x')")
        con.execute("DELETE FROM t WHERE id = 100 OR id % 2 = 0")
        assert rows(con) == sorted(row for row in versions[version] if row[0] % 2)


def test_spellings(con, t):
    for spelling in ("RESTORE t VERSION AS OF 1", "restore table lake.t to version as of 1", f"RESTORE delta.`{t}` TO VERSION AS OF 1",
                     "RESTORE t TO FOR SYSTEM_VERSION AS OF (2 - 1)", "FROM braid_restore('t', version => 1)"):
        con.execute("DELETE FROM t WHERE id = 5")
        con.execute(spelling).fetchall()
        assert rows(con, "SELECT count(*) FROM t") == [(10,)], spelling
    for wrong in ("RESTORE t", "RESTORE t TO 1", "RESTORE t TO VERSION AS OF", "RESTORE t TO VERSION AS OF 1 DRY RUN"):
        refuse(con, t, wrong, "syntax error")


def test_what_it_answers_and_records(con, t):
    sizes = {path: add["size"] for path, add in delta_log.active(t).items()}
    first, = (add for add in delta_log.actions(t, "add", at=1))
    answer = restore(con)
    assert answer == {
        "table_size_after_restore": first["size"], "num_of_files_after_restore": 1, "num_removed_files": 3, "num_restored_files": 1,
        "removed_files_size": sum(sizes.values()), "restored_files_size": first["size"],
    }  # fmt: skip
    info = delta_log.info(t)
    assert (info["operation"], info["operationParameters"]) == ("RESTORE", {"version": 1, "timestamp": None})
    assert (info["readVersion"], info["isBlindAppend"]) == (4, False)
    metrics = info["operationMetrics"]
    assert (metrics["numRestoredFiles"], metrics["numRemovedFiles"], metrics["numOfFilesAfterRestore"]) == ("1", "3", "1")
    assert metrics["tableSizeAfterRestore"] == metrics["restoredFilesSize"] == str(first["size"])
    assert metrics["removedFilesSize"] == str(sum(sizes.values()))
    for kind in ("add", "remove"):
        assert {action["dataChange"] for action in delta_log.actions(t, kind)} == {True}
    assert rows(con, "SELECT operation, operationParameters['version'] FROM braid_history('t') LIMIT 1") == [("RESTORE", "1")]


def test_to_a_point_in_time(con, t):
    for version in range(5):
        os.utime(t / "_delta_log" / f"{version:020}.json", (1_700_000_000 + version * 60,) * 2)
    con.execute("SET TimeZone = 'UTC'")
    restore(con, "TIMESTAMP AS OF '2023-11-14 22:15:59'")  # version 2 is of 22:15:20
    assert len(rows(con)) == 7
    assert delta_log.info(t)["operationParameters"] == {"version": None, "timestamp": "2023-11-14 22:15:59"}
    refuse(con, t, "RESTORE t TO TIMESTAMP AS OF '2023-11-14 22:00:00'", "no version at or before")


def test_nothing_to_restore_is_no_commit(con, t):
    assert restore(con, "VERSION AS OF 4")["num_restored_files"] == 0
    assert delta_log.version(t) == 4
    restore(con)
    assert restore(con)["num_of_files_after_restore"] == 1  # holds it already
    assert delta_log.version(t) == 5


def test_versions_that_are_not_there(con, t):
    refuse(con, t, "RESTORE t TO VERSION AS OF 5", "version 5", "0", "4")
    refuse(con, t, "RESTORE t TO VERSION AS OF -1", "-1")
    refuse(con, t, "RESTORE t TO VERSION AS OF 'one'", "whole number")
    con.execute("ALTER TABLE t SET TBLPROPERTIES ('delta.checkpointInterval' = '2')")
    con.execute("INSERT INTO t VALUES (1, 'a')")
    for version in range(4):
        os.remove(t / "_delta_log" / f"{version:020}.json")
    refuse(con, t, "RESTORE t TO VERSION AS OF 1", "version 1", "6")
    with pytest.raises(duckdb.Error, match="not exist"):
        con.execute("RESTORE nothing TO VERSION AS OF 0")


def test_files_that_are_gone_are_named(con, t):
    first, = delta_log.actions(t, "add", at=1)
    con.execute("DELETE FROM t")
    con.execute("INSERT INTO t VALUES (1, 'kept')")
    os.remove(t / first["path"])
    refuse(con, t, "RESTORE t TO VERSION AS OF 4", first["path"], "1 of the 3 files", "VACUUM", "braid_restore_ignore_missing_files")
    con.execute("SET braid_restore_ignore_missing_files = true")
    assert restore(con, "VERSION AS OF 4")["num_restored_files"] == 2
    assert sorted(row[0] for row in assert_all_see(con, t)) == [4, 7, *range(10, 20)]


def test_a_vector_that_is_gone_does_not_bring_rows_back(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(100000)")
    con.execute("DELETE FROM t WHERE hash(id) % 2 = 0")  # too many for the log
    older, = [file for file in delta_log.files_on_disk(lake / "t") if file.startswith("deletion_vector")]
    con.execute("DELETE FROM t WHERE hash(id) % 3 = 0")
    os.remove(lake / "t" / older)
    refuse(con, lake / "t", "RESTORE t TO VERSION AS OF 1", older, "deletion vector")
    con.execute("RESTORE t TO VERSION AS OF 0")
    assert rows(con, "SELECT count(*) FROM t") == [(100000,)]


def test_schema_properties_and_constraints_go_back(con, t):
    con.execute("ALTER TABLE t ADD COLUMN more INT")
    con.execute("ALTER TABLE t SET TBLPROPERTIES ('delta.appendOnly' = 'false', 'mine' = 'x')")
    con.execute("ALTER TABLE t ADD CONSTRAINT small CHECK (id < 1000)")
    con.execute("INSERT INTO t VALUES (50, 'x', 1)")
    restore(con)
    assert rows(con, "SELECT column_name FROM (DESCRIBE t)") == [("id",), ("s",)]
    con.execute("INSERT INTO t VALUES (5000, 'no constraint')")
    assert "mine" not in delta_log.metadata(t)["configuration"]
    features = [feature for line in delta_log.actions(t, "protocol", at=7) for feature in line["writerFeatures"]]
    assert "checkConstraints" in features and not delta_log.actions(t, "protocol", at=9)  # older versions still need it
    assert len(assert_all_see(con, t)) == 11


def test_column_ids_and_names_do_not_come_twice(con, lake):
    con.execute("CREATE TABLE t (a INT, b INT) WITH ('delta.columnMapping.mode' = 'name')")
    con.execute("INSERT INTO t VALUES (1, 2)")
    con.execute("ALTER TABLE t ADD COLUMN c INT")
    restore(con)
    con.execute("ALTER TABLE t ADD COLUMN d INT")
    assert delta_log.metadata(lake / "t")["configuration"]["delta.columnMapping.maxColumnId"] == "4"
    assert assert_all_see(con, lake / "t") == [(1, 2, None)]


def test_identity_values_are_not_given_twice(con, lake):
    con.execute("CREATE TABLE t (id BIGINT GENERATED ALWAYS AS IDENTITY, s VARCHAR)")
    con.execute("INSERT INTO t (s) VALUES ('a'), ('b')")
    con.execute("INSERT INTO t (s) VALUES ('c')")
    restore(con)
    con.execute("INSERT INTO t (s) VALUES ('d')")
    assert rows(con) == [(1, "a"), (2, "b"), (4, "d")]


def test_row_ids_come_back_and_are_not_given_twice(con, lake):
    con.execute("CREATE TABLE t (id BIGINT) WITH ('delta.enableRowTracking' = 'true')")
    con.execute("INSERT INTO t SELECT range FROM range(10)")
    con.execute("DELETE FROM t WHERE id = 3")
    con.execute("INSERT INTO t SELECT range FROM range(10, 15)")
    restore(con)
    add, = delta_log.actions(lake / "t", "add")
    assert (add["baseRowId"], add["defaultRowCommitVersion"]) == (0, 1)
    assert delta_log.info(lake / "t")["tags"]["delta.rowTracking.preserved"] == "true"
    con.execute("INSERT INTO t VALUES (99)")
    assert delta_log.actions(lake / "t", "add")[0]["baseRowId"] == 15


def test_clustering_goes_back(con, lake):
    con.execute("CREATE TABLE t (id BIGINT, k INT)")
    con.execute("INSERT INTO t VALUES (1, 1)")
    con.execute("ALTER TABLE t CLUSTER BY (k)")
    restore(con)
    domain, = delta_log.actions(lake / "t", "domainMetadata")
    assert (domain["domain"], domain["removed"]) == ("delta.clustering", True)
    assert rows(con, "SELECT clusteringColumns FROM braid_detail('t')") == [([],)]


def test_after_a_replacement_the_old_columns_and_partitions_are_back(con, lake):
    con.execute("CREATE TABLE t (p VARCHAR, v INT) PARTITIONED BY (p)")
    con.execute("INSERT INTO t VALUES ('a b', 1), (NULL, 2)")
    con.execute("CREATE OR REPLACE TABLE t AS SELECT range AS id FROM range(5)")
    restore(con)
    assert assert_all_see(con, lake / "t") == [("a b", 1), (None, 2)]
    con.execute("INSERT INTO t VALUES ('c', 3)")
    assert rows(con, "SELECT v FROM t WHERE p = 'c'") == [(3,)]


def test_in_commit_timestamps(con, lake):
    con.execute("CREATE TABLE t (id INT) WITH ('delta.enableInCommitTimestamps' = 'true')")
    con.execute("INSERT INTO t VALUES (1)")
    con.execute("ALTER TABLE t SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'false')")
    con.execute("INSERT INTO t VALUES (2)")
    restore(con)
    configuration = delta_log.metadata(lake / "t")["configuration"]
    assert configuration["delta.inCommitTimestampEnablementVersion"] == "4"
    assert int(configuration["delta.inCommitTimestampEnablementTimestamp"]) == delta_log.info(lake / "t")["inCommitTimestamp"]
    assert assert_all_see(con, lake / "t") == [(1,)]


def test_an_append_only_table_loses_nothing(con, t):
    con.execute("ALTER TABLE t SET TBLPROPERTIES ('delta.appendOnly' = 'true')")
    refuse(con, t, "RESTORE t TO VERSION AS OF 4 - 3", "DELTA_CANNOT_MODIFY_APPEND_ONLY")


def test_a_read_only_lake(con, t, connect):
    con.close()
    refuse(connect(t.parent, read_only=True), t, "RESTORE t TO VERSION AS OF 1", "read-only")


def test_it_is_a_transaction_of_its_own(con, t):
    con.execute("BEGIN")
    con.execute("DELETE FROM t WHERE id = 4")
    for statement in ("RESTORE t TO VERSION AS OF 1", "FSCK REPAIR TABLE t", "OPTIMIZE t", "REORG TABLE t APPLY (PURGE)"):
        with pytest.raises(duckdb.BinderException, match="COMMIT first"):
            con.execute(statement)
    con.execute("COMMIT")  # which it has left possible
    assert len(rows(con)) == 16
    con.execute("BEGIN")
    con.execute("RESTORE t TO VERSION AS OF 1")
    assert len(rows(con)) == 10
    with pytest.raises(duckdb.TransactionException, match="RESTORE, which is a commit of its own"):
        con.execute("INSERT INTO t VALUES (1, 'a')")
    con.execute("ROLLBACK")
    assert len(rows(con)) == 16


@pytest.mark.parametrize("winner", ["INSERT INTO t VALUES (77, 'blind')", "DELETE FROM t WHERE id = 9", "ALTER TABLE t SET TBLPROPERTIES ('mine' = 'x')", "OPTIMIZE t", "RESTORE t TO VERSION AS OF 2"])
def test_nothing_may_come_between(con, t, winner):
    """Not even a blind append: RESTORE would remove rows that it has not seen, or leave them in a table that claims to be version 1."""
    con.execute("DELETE FROM t WHERE id = 12")
    said = overlapped(t.parent, winner, "RESTORE t TO VERSION AS OF 1")
    assert said[0] is None and "2D521" in said[1]
    assert "DELTA_CONCURRENT_WRITE" in said[1] or "DELTA_METADATA_CHANGED" in said[1]
    assert delta_log.version(t) == 6
    restore(con)
    assert len(assert_all_see(con, t)) == 10


@pytest.mark.parametrize("winner, error", [("INSERT INTO t VALUES (77, 'blind')", "DELTA_METADATA_CHANGED"), ("DELETE FROM t WHERE id = 9", "DELTA_CONCURRENT_DELETE_READ")])
def test_nothing_may_come_between_in_strict(t, winner, error, monkeypatch):
    first, second = connect_lake(t.parent), connect_lake(t.parent)
    second.execute("SET braid_concurrency_mode = 'strict'")
    second.execute("BEGIN")
    second.execute("RESTORE t TO VERSION AS OF 1")
    first.execute(winner)
    with pytest.raises(duckdb.TransactionException, match=error):
        second.execute("COMMIT")


@pytest.mark.parametrize("loser, said, left", [
    ("INSERT INTO t VALUES (77, 'blind')", None, [*range(10), 77]),
    ("DELETE FROM t WHERE id IN (1, 9)", "DELTA_CONCURRENT_APPEND", [*range(10)]),  # the row is back: it should have been seen
    ("DELETE FROM t WHERE id = 15", "DELTA_CONCURRENT_DELETE", [*range(10)]),
    ("DELETE FROM t WHERE id = 9", None, [*range(9)]),
    ("UPDATE t SET s = 'u' WHERE id = 500", None, [*range(10)]),
])  # fmt: skip
def test_writers_that_lose_to_it(con, t, loser, said, left):
    """Rows that come back count as added, and are never lost under the vector that the loser has read."""
    assert (overlapped(t.parent, "RESTORE t TO VERSION AS OF 1", loser)[1] or "").count(said or "\0") == (said is not None)
    assert sorted(row[0] for row in assert_all_see(con, t)) == left
