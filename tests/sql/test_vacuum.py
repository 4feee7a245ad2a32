# SPDX-License-Identifier: Apache-2.0
"""VACUUM: what goes, what stays, for whom it stays, and what the log says of it. Also the clean-up of logs."""

import concurrent.futures
import fcntl
import json
import os
import pathlib
import shutil
import time

import duckdb
import pytest
from deltalake import DeltaTable

import delta_log
from conftest import connect_lake
from judges import assert_all_see
from racing import PATIENCE, SPAWN, commit_late

NO_CHECK = "SET braid_retention_check = false"
NOW = "VACUUM t RETAIN 0 HOURS"


def data_files(table):
    """What VACUUM may look at."""
    return {path for path in delta_log.files_on_disk(table) if not path.startswith("_braid/")}


def needed(table):
    """Data files of the newest version; vectors here are small enough to stand in the log."""
    return {path for path in delta_log.active(table)}


def make_old(table, hours=1000):
    """Files and removals look as if they had been there for long."""
    old = time.time() - hours * 3600
    for path in pathlib.Path(table).rglob("*"):
        if not {"_delta_log", "_braid"} & set(path.parts) and path.is_file() and not path.is_symlink():
            os.utime(path, (old, old))


@pytest.fixture
def table(con, lake):
    """Three versions with rows; every file but that of the newest one is not needed any more."""
    con.execute("CREATE TABLE t (id BIGINT, s VARCHAR)")
    for i in range(3):
        con.execute(f"INSERT INTO t SELECT range, 's' || range FROM range({i * 10}, {i * 10 + 10})")
    con.execute("OPTIMIZE t")
    con.execute(NO_CHECK)
    shutil.rmtree(lake / "t" / "_braid" / "map", ignore_errors=True)  # row maps have a test of their own
    return lake / "t"


def test_deletes_what_no_version_needs(con, table):
    rows = con.execute("FROM t ORDER BY ALL").fetchall()
    size = sum((table / path).stat().st_size for path in data_files(table) - needed(table))
    assert con.execute(NOW).fetchall() == [(str(table), 3, size)]
    assert data_files(table) == needed(table)
    assert con.execute("FROM t ORDER BY ALL").fetchall() == rows
    assert len(assert_all_see(con, table)) == 30


def test_dry_run_tells_and_leaves_everything(con, table):
    before, version = data_files(table), delta_log.version(table)
    answer = con.execute(NOW + " DRY RUN")
    assert [column[0] for column in answer.description] == ["path", "bytes", "reason"]
    rows = answer.fetchall()
    assert {row[0] for row in rows} == {str(table / path) for path in before - needed(table)}
    assert all(os.path.getsize(path) == size and reason == "removed" for path, size, reason in rows)
    assert data_files(table) == before and delta_log.version(table) == version


def test_the_log_tells_as_spark_does(con, table):
    con.execute(NOW)
    start, end = (delta_log.info(table, at=delta_log.version(table) - back) for back in (1, 0))
    assert (start["operation"], end["operation"]) == ("VACUUM START", "VACUUM END")
    assert start["operationParameters"] == {"retentionCheckEnabled": False, "defaultRetentionMillis": 604800000, "specifiedRetentionMillis": 0}
    assert start["operationMetrics"]["numFilesToDelete"] == "3" and int(start["operationMetrics"]["sizeOfDataToDelete"]) > 0
    assert end["operationParameters"] == {"status": "COMPLETED"}
    assert (end["operationMetrics"]["numDeletedFiles"], end["operationMetrics"]["numVacuumedDirectories"]) == ("3", "1")
    for version in (delta_log.version(table) - 1, delta_log.version(table)):
        assert [list(action) for action in delta_log.commits(table)[version]] == [["commitInfo"]]
    history = con.execute("SELECT operation FROM braid_history('t')").fetchall()
    assert history[:2] == [("VACUUM END",), ("VACUUM START",)]


def test_nothing_to_do_is_no_commit(con, table):
    con.execute(NOW)
    version = delta_log.version(table)
    assert con.execute(NOW).fetchall() == [(str(table), 0, 0)]
    assert delta_log.version(table) == version


def test_the_retention_keeps(con, table):
    con.execute("SET braid_retention_check = true")
    before = data_files(table)
    assert con.execute("VACUUM t").fetchone()[1] == 0
    make_old(table)
    assert con.execute("VACUUM t").fetchone()[1] == 0  # the files are old, but were needed until just now
    assert data_files(table) == before
    con.execute("ALTER TABLE t SET TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval 0 hours')")
    assert con.execute("VACUUM t").fetchone()[1] == 3


@pytest.mark.parametrize("setting", ["braid_retention_check", '"spark.databricks.delta.retentionDurationCheck.enabled"'])
def test_the_safety_check(con, table, setting):
    con.execute("SET braid_retention_check = true")
    before = data_files(table)
    for statement in (NOW, "VACUUM t RETAIN 167 HOURS", "VACUUM t LITE RETAIN 1 HOURS", NOW + " DRY RUN"):
        with pytest.raises(duckdb.InvalidInputException, match="braid_retention_check = false"):
            con.execute(statement)
    con.execute("VACUUM t RETAIN 168 HOURS")
    assert data_files(table) == before
    con.execute(f"SET {setting} = false")
    assert con.execute(NOW).fetchone()[1] == 3


def test_modifiers_in_any_order_and_every_name(con, table):
    (table / "orphan").write_text("x")
    make_old(table, hours=0.1)  # a file of this very millisecond is not older than no time
    path = str(table)
    for name in ("t", "lake.t", "lake.main.t", f"delta.`{path}`", f"'{path}'", "T"):
        for rest in ("RETAIN 0 HOURS DRY RUN", "DRY RUN RETAIN 0 HOURS", "FULL DRY RUN RETAIN 0.0 HOURS", "dry run full retain 0 hours"):
            assert len(con.execute(f"VACUUM {name} {rest}").fetchall()) == 4, (name, rest)
    for name in ("t", f"delta.`{path}`", f"'{path}'"):
        assert con.execute(f"VACUUM {name}").fetchone()[1] == 0
    assert con.execute("EXPLAIN VACUUM t").fetchall()


@pytest.mark.parametrize(
    "statement, message",
    [
        ("VACUUM t USING INVENTORY other", "INVENTORY"),
        ("VACUUM t RETAIN HOURS", "number of hours"),
        ("VACUUM t RETAIN 200", "HOUR"),
        ("VACUUM t RETAIN 200 DAYS", "HOUR"),
        ("VACUUM t RETAIN -1 HOURS", "not negative"),
        ("VACUUM t FULL LITE", "at most once"),
        ("VACUUM t DRY", "at most once"),
        ("VACUUM t DRY RUN DRY RUN", "at most once"),
        ("VACUUM t WHERE id = 1", "at most once"),
        ("VACUUM nope", "nope"),
        ("VACUUM nope DRY RUN", "nope"),
        ("VACUUM delta.`/nowhere/t`", "nowhere"),
    ],
)
def test_bad_input_changes_nothing(con, table, statement, message):
    before, version = data_files(table), delta_log.version(table)
    with pytest.raises(duckdb.Error, match=message):
        con.execute(statement)
    assert data_files(table) == before and delta_log.version(table) == version


def test_duckdbs_own_vacuum_is_left_alone(con):
    con.execute("CREATE TABLE memory.main.mine (i INT)")
    con.execute("VACUUM")
    con.execute("VACUUM memory.main.mine")
    con.execute("VACUUM ANALYZE memory.main.mine")


def test_not_inside_a_transaction(con, table):
    con.execute("BEGIN")
    with pytest.raises(duckdb.Error, match="outside of BEGIN"):
        con.execute(NOW)
    con.execute("ROLLBACK")
    assert len(data_files(table)) == 4


def test_not_through_a_read_only_attachment(table, lake, connect):
    reader = connect(lake, read_only=True)
    reader.execute(NO_CHECK)
    assert len(reader.execute(NOW + " DRY RUN").fetchall()) == 3
    with pytest.raises(duckdb.Error, match="read-only"):
        reader.execute(NOW)
    assert len(data_files(table)) == 4


# What lies beside the table's files.


def test_other_files(con, table, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("x")
    kept = ["_hidden/file", ".hidden/file", "_SUCCESS", ".part.crc", "inner/_delta_log/0.json", "inner/file.parquet", "_braid_not/file"]
    gone = ["README", "sub/deep/file.parquet", "a b%20c.parquet", "ä.parquet", "_change_data/cdc-1.parquet"]
    for name in kept + gone:
        (table / name).parent.mkdir(parents=True, exist_ok=True)
        (table / name).write_text("x")
    (table / "empty" / "inside").mkdir(parents=True)
    (table / "link").symlink_to(outside / "precious")
    (table / "directory_link").symlink_to(outside)
    make_old(table)
    told = {os.path.relpath(row[0], table) for row in con.execute(NOW + " DRY RUN").fetchall()}
    assert set(gone) | {"empty", "empty/inside", "sub", "sub/deep", "_change_data"} <= told and not told & set(kept)
    con.execute(NOW)
    assert not any((table / name).exists() for name in gone + ["empty", "sub", "_change_data"])
    assert all((table / name).exists() for name in kept)
    assert (table / "link").is_symlink() and (outside / "precious").exists() and (table / "directory_link").is_symlink()
    assert con.execute("SELECT count(*) FROM t").fetchone() == (30,)


VALUES = ["A/A", "B B", "R&D", "ID$", "x:y", "a%20b", "a~b", "a?", "aé", "(beta)", "=", "#", "'", "2023-11-05 00:00:00", "/x/", "_p", ".p"]


@pytest.mark.parametrize("kind", ["FULL", "LITE"])
def test_partition_values_of_every_kind(con, lake, kind):
    con.execute(NO_CHECK)
    con.execute("CREATE TABLE t (id INT, _p VARCHAR) PARTITIONED BY (_p)")
    for i in range(2):
        con.executemany("INSERT INTO t VALUES (?, ?)", [(i, value) for value in VALUES + [None]])
    con.execute("UPDATE t SET id = id + 10 WHERE id = 0")
    con.execute("OPTIMIZE t")
    rows = con.execute("FROM t ORDER BY ALL").fetchall()
    assert con.execute(f"VACUUM t {kind} RETAIN 0 HOURS").fetchone()[1] > 0
    assert data_files(lake / "t") == needed(lake / "t")
    assert con.execute("FROM t ORDER BY ALL").fetchall() == rows
    con.execute("DELETE FROM t WHERE _p = 'B B'")
    con.execute(f"VACUUM t {kind} RETAIN 0 HOURS")
    assert not (lake / "t" / "_p=B B").exists()
    assert_all_see(con, lake / "t")


def test_files_of_vectors(con, lake):
    """C90: two vectors in one file; it stays while one of them is needed."""
    con.execute(NO_CHECK)
    con.execute("CREATE TABLE t (id BIGINT)")
    for i in range(2):
        con.execute(f"INSERT INTO t SELECT range FROM range({i * 10000}, {i * 10000 + 10000})")
    con.execute("DELETE FROM t WHERE hash(id) % 2 = 0")
    vectors = {path for path in data_files(lake / "t") if path.endswith(".bin")}
    assert len(vectors) == 1
    con.execute("DELETE FROM t WHERE id < 10000")
    con.execute(NOW)
    assert vectors <= data_files(lake / "t")
    assert con.execute("SELECT count(*) FROM t").fetchone() == con.execute(
        "SELECT count(*) FROM range(10000, 20000) r(id) WHERE hash(id) % 2 <> 0").fetchone()  # fmt: skip
    con.execute("DELETE FROM t WHERE hash(id) % 3 = 0")
    con.execute(NOW)
    left = {path for path in data_files(lake / "t") if path.endswith(".bin")}
    assert len(left) == 1 and not left & vectors
    assert_all_see(con, lake / "t")


def test_reading_a_version_whose_files_are_gone(con, table):
    con.execute(NOW)
    with pytest.raises(duckdb.IOException) as error:
        con.execute("SELECT sum(id) FROM t AT (VERSION => 2)").fetchall()
    assert all(part in str(error.value) for part in ("version 2", ".parquet", "VACUUM", str(table)))


# LITE.


def test_lite_finds_in_the_log_what_was_removed(con, table):
    (table / "orphan").write_text("x")
    make_old(table)
    assert con.execute("VACUUM t LITE RETAIN 0 HOURS").fetchone()[1] == 3
    assert data_files(table) == needed(table) | {"orphan"}
    watermark = json.loads((table / "_delta_log" / "_last_vacuum_info").read_text())
    assert watermark == {"latestCommitVersionOutsideOfRetentionWindow": 4}
    con.execute("DELETE FROM t WHERE id < 5")
    con.execute("OPTIMIZE t")
    con.execute("REORG TABLE t APPLY (PURGE)")
    assert con.execute("VACUUM t LITE RETAIN 0 HOURS").fetchone()[1] >= 1
    assert data_files(table) == needed(table) | {"orphan"}
    con.execute(NOW)
    assert data_files(table) == needed(table)
    assert_all_see(con, table)


def test_lite_needs_the_log(con, table):
    con.execute("ALTER TABLE t SET TBLPROPERTIES ('delta.checkpointInterval' = '1')")
    con.execute("INSERT INTO t VALUES (100, 'x')")
    os.remove(table / "_delta_log" / "00000000000000000000.json")
    with pytest.raises(duckdb.Error, match="DELTA_CANNOT_VACUUM_LITE.*VACUUM FULL"):
        con.execute("VACUUM t LITE RETAIN 0 HOURS")
    assert con.execute("VACUUM t FULL RETAIN 0 HOURS").fetchone()[1] == 3
    con.execute("DELETE FROM t WHERE id = 100")
    assert con.execute("VACUUM t LITE RETAIN 0 HOURS").fetchone()[1] == 1  # FULL has recorded how far it came


def test_lite_respects_the_retention(con, table):
    assert con.execute("VACUUM t LITE RETAIN 200 HOURS").fetchone()[1] == 0
    assert len(data_files(table)) == 4 and not (table / "_delta_log" / "_last_vacuum_info").exists()


# Leases.


def reader(lake, ready, go_on, answer):
    con = connect_lake(lake)
    con.execute("BEGIN")
    first = con.execute("SELECT count(*) FROM t").fetchone()
    ready.set()
    go_on.wait(PATIENCE)
    answer.send((first, con.execute("SELECT count(*), sum(id) FROM t").fetchone()))


def writer(lake, ready, go_on, answer):
    con = connect_lake(lake)
    con.execute("BEGIN")
    con.execute("INSERT INTO t SELECT range, 'staged' FROM range(1000, 1100)")
    con.execute("UPDATE t SET s = 'changed' WHERE id < 20")
    ready.set()
    go_on.wait(PATIENCE)
    con.execute("COMMIT")
    answer.send(None)


class Other:
    """A transaction in another process, open until finish()."""

    def __init__(self, body, lake):
        self.ready, self.go_on = SPAWN.Event(), SPAWN.Event()
        self.answer, sending = SPAWN.Pipe(duplex=False)
        self.process = SPAWN.Process(target=body, args=(str(lake), self.ready, self.go_on, sending))
        self.process.start()
        sending.close()
        assert self.ready.wait(PATIENCE)

    def finish(self):
        self.go_on.set()
        answer = self.answer.recv()
        self.process.join(PATIENCE)
        return answer

    def kill(self):
        self.process.kill()
        self.process.join(PATIENCE)


@pytest.mark.parametrize("kind", ["FULL", "LITE"])
def test_a_reader_in_another_process_keeps_its_version(con, table, lake, kind):
    other = Other(reader, lake)
    con.execute("DELETE FROM t WHERE id >= 10")
    con.execute("INSERT INTO t VALUES (7, 'new')")
    con.execute("REORG TABLE t APPLY (PURGE)")
    con.execute("OPTIMIZE t")
    con.execute(f"VACUUM t {kind} RETAIN 0 HOURS")
    assert other.finish() == ((30,), (30, sum(range(30))))
    assert len(data_files(table)) > len(needed(table))
    con.execute(f"VACUUM t {kind} RETAIN 0 HOURS")  # now it goes, also by LITE
    assert data_files(table) == needed(table)
    assert_all_see(con, table)


def test_a_writer_in_another_process_keeps_what_it_has_staged(con, table, lake):
    """C154."""
    before = data_files(table)
    other = Other(writer, lake)
    staged = data_files(table) - before
    assert len(staged) >= 2
    make_old(table, hours=0.1)
    con.execute("OPTIMIZE t")
    con.execute("DELETE FROM t WHERE id = 25")
    con.execute(NOW)
    assert staged <= data_files(table)
    assert other.finish() is None
    assert con.execute("SELECT count(*), count(*) FILTER (s = 'changed') FROM t").fetchone() == (129, 20)
    con.execute(NOW)
    assert data_files(table) == needed(table)
    assert_all_see(con, table)


def test_a_dead_writer_keeps_nothing(con, table, lake):
    before = data_files(table)
    other = Other(writer, lake)
    assert data_files(table) > before
    other.kill()
    assert len(list((table / "_braid" / "leases").iterdir())) == 2
    con.execute(NOW)
    assert data_files(table) == needed(table)
    assert len(list((table / "_braid" / "leases").iterdir())) == 1


def test_connections_of_one_process(con, connect, table, lake):
    """The same lease holds for all connections of a database, another one for another database."""
    for other in (con.cursor(), connect(lake)):
        other.execute("USE lake")
        other.execute("BEGIN")
        count = other.execute("SELECT count(*) FROM t").fetchone()
        con.execute("UPDATE t SET s = 'x'")
        con.execute("OPTIMIZE t")
        con.execute("REORG TABLE t APPLY (PURGE)")
        con.execute(NOW)
        assert other.execute("SELECT count(*), sum(id) FROM t").fetchone() == (*count, 435)
        other.execute("ROLLBACK")
        con.execute(NOW)
        assert data_files(table) == needed(table)


def test_a_statement_that_is_about_to_commit(con, connect, table, lake):
    def meanwhile():
        vacuum = connect(lake)
        vacuum.execute(NO_CHECK)
        vacuum.execute("OPTIMIZE t")
        vacuum.execute(NOW)

    con.execute("INSERT INTO t VALUES (50, 'small file')")
    commit_late(con, "UPDATE t SET s = 'late' WHERE id IN (3, 50)", meanwhile)
    assert con.execute("SELECT count(*), count(*) FILTER (s = 'late') FROM t").fetchone() == (31, 2)
    assert_all_see(con, table)


def test_an_old_version_that_is_being_read(con, connect, table, lake):
    other = connect(lake, threads=1)
    result = other.execute("SELECT id, s FROM t AT (VERSION => 2) ORDER BY id")
    assert len(result.fetchall()) == 20
    con.execute(NOW)
    assert data_files(table) == needed(table)  # the query is over, so is its lease


def test_leases_leave_nothing_behind(con, table, lake):
    other = connect_lake(lake)
    other.execute("FROM t").fetchall()
    assert len(list((table / "_braid" / "leases").iterdir())) == 2
    other.close()
    assert len(list((table / "_braid" / "leases").iterdir())) == 1
    con.execute("USE memory; DETACH lake")
    assert not (table / "_braid").exists()


def test_no_lease_can_be_had(table, lake, con, connect):
    con.execute("USE memory; DETACH lake")
    (table / "_braid").write_text("in the way")
    other = connect(lake)
    assert other.execute("SELECT count(*) FROM t").fetchone() == (30,)
    other.execute("DELETE FROM t WHERE id = 1")
    other.execute(NO_CHECK)
    assert other.execute(NOW).fetchone()[1] == 3
    assert (table / "_braid").read_text() == "in the way"


def test_row_maps_go_when_they_are_old(con, table):
    maps = table / "_braid" / "map"
    maps.mkdir(parents=True, exist_ok=True)
    for name in ("old.map", "new.map"):
        (maps / name).write_text("x")
    os.utime(maps / "old.map", (1, 1))
    con.execute("VACUUM t RETAIN 168 HOURS")
    assert {path.name for path in maps.iterdir()} == {"new.map"}


# With others.


def test_deltalake_and_braid_clean_up_after_each_other(con, table):
    con.execute("DELETE FROM t WHERE id % 7 = 0")
    con.execute("UPDATE t SET s = 'x' WHERE id % 5 = 0")
    before = con.execute("FROM t ORDER BY ALL").fetchall()
    assert DeltaTable(str(table)).vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False, full=True)
    assert con.execute("FROM t ORDER BY ALL").fetchall() == before
    assert con.execute(NOW).fetchone()[1] == 0
    con.execute("OPTIMIZE t")
    con.execute("INSERT INTO t VALUES (-1, 'y')")
    con.execute(NOW)
    told = DeltaTable(str(table)).vacuum(retention_hours=0, dry_run=True, enforce_retention_duration=False, full=True)
    assert not [path for path in told if (table / path).exists()]  # it names what the log says, there or not
    assert con.execute("SELECT count(*) FROM t").fetchone() == (len(before) + 1,)
    assert_all_see(con, table)


def test_absolute_paths_are_never_deleted(con, lake, tmp_path):
    """A shallow clone names files of its source by absolute paths."""
    con.execute(NO_CHECK)
    con.execute("CREATE TABLE source (id INT)")
    con.execute("INSERT INTO source SELECT range FROM range(10)")
    con.execute("CREATE TABLE t (id INT)")
    (path, add), = delta_log.active(lake / "source").items()
    log = lake / "t" / "_delta_log"
    add["path"] = f"file://{lake}/source/{path}"
    (log / "00000000000000000001.json").write_text(json.dumps({"add": add}) + "\n")
    remove = {"path": add["path"], "deletionTimestamp": 1, "dataChange": True}
    (log / "00000000000000000002.json").write_text(json.dumps({"remove": remove}) + "\n")
    make_old(lake / "source")
    con.execute(NOW)
    assert (lake / "source" / path).exists()
    assert con.execute("SELECT count(*) FROM source").fetchone() == (10,)


# The log.


def test_expired_log_goes_after_a_checkpoint(con, lake):
    con.execute("CREATE TABLE t (id INT) TBLPROPERTIES ('delta.checkpointInterval' = '5', 'delta.logRetentionDuration' = 'interval 2 days')")
    for i in range(9):
        con.execute(f"INSERT INTO t VALUES ({i})")
    log = lake / "t" / "_delta_log"
    for days, version in enumerate(range(6, -1, -1), start=4):
        for path in log.glob(f"{version:020}.json"):
            os.utime(path, (time.time() - days * 86400,) * 2)
    con.execute("INSERT INTO t VALUES (9)")
    left = sorted(int(path.stem.split(".")[0]) for path in log.glob("0*"))
    assert left[0] == 5
    fresh = connect_lake(lake)
    for version in range(5, 11):
        assert fresh.execute(f"SELECT count(*) FROM t AT (VERSION => {version})").fetchone() == (version,)
    with pytest.raises(duckdb.Error, match="cleaned up"):
        fresh.execute("FROM t AT (VERSION => 4)")
    fresh.close()
    assert_all_see(con, lake / "t")


# The lock between VACUUM and those who bring files back.


def test_a_restore_that_has_not_committed_keeps_its_files(con, table, lake):
    """It has pinned its version until COMMIT; there it learns that VACUUM came in between, and can be run again."""
    other = connect_lake(lake)
    other.execute("BEGIN")
    other.execute("RESTORE t TO VERSION AS OF 2")
    con.execute("DELETE FROM t WHERE id = 29")
    con.execute("REORG TABLE t APPLY (PURGE)")
    con.execute(NOW)
    with pytest.raises(duckdb.TransactionException, match="2D521"):
        other.execute("COMMIT")
    other.execute("RESTORE t TO VERSION AS OF 2")
    other.close()
    con.execute(NOW)
    assert len(assert_all_see(con, table)) == 20


def test_vacuum_waits_for_who_brings_files_back(con, connect, table, lake):
    def meanwhile():
        vacuum = connect(lake)
        vacuum.execute(NO_CHECK)
        vacuum.execute("SET braid_commit_timeout_ms = 1")
        with pytest.raises(duckdb.TransactionException, match="VACUUM of table .* has waited 1 ms .* RESTORE"):
            vacuum.execute(NOW)
        assert len(vacuum.execute(NOW + " DRY RUN").fetchall()) == 0  # which waits for nobody; the pin is seen

    commit_late(con, "RESTORE t TO VERSION AS OF 2", meanwhile)
    assert len(assert_all_see(con, table)) == 20


def test_who_waits_can_be_interrupted(con, connect, table, lake):
    con.execute("FROM t").fetchall()
    with open(table / "_braid" / "leases" / "vacuum.lock", "w") as held, concurrent.futures.ThreadPoolExecutor(1) as pool:
        fcntl.flock(held, fcntl.LOCK_EX)
        for statement in ("RESTORE t TO VERSION AS OF 2", "REPLACE TABLE t SHALLOW CLONE t", NOW):
            waiting = pool.submit(con.execute, statement)
            while not concurrent.futures.wait([waiting], 0.01).done:
                con.interrupt()
            assert isinstance(waiting.exception(), duckdb.InterruptException), statement
        before = con.execute("SELECT count(*) FROM t AT (VERSION => 2)").fetchone()  # readers wait for nobody
        assert before == (20,) and con.execute(NOW + " DRY RUN").fetchall()
    con.execute("RESTORE t TO VERSION AS OF 2")
    assert not (table / "_braid" / "leases" / "vacuum.lock").exists()
    assert len(assert_all_see(con, table)) == 20


def test_a_prepared_restore_holds_nothing(con, table, lake):
    con.execute("PREPARE back AS FROM braid_restore('t', version => 2)")
    con.execute("DELETE FROM t WHERE id = 29")
    con.execute(NOW)
    with pytest.raises(duckdb.IOException, match="are gone"):
        con.execute("EXECUTE back")
    assert len(assert_all_see(con, table)) == 29
