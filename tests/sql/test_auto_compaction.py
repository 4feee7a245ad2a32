# SPDX-License-Identifier: Apache-2.0
"""delta.autoOptimize: compaction that follows a commit by itself, and files of partitioned writes."""

import fcntl

import pytest

import delta_log
from judges import assert_all_see
from racing import commit_late

LOCK = "_braid/auto_compaction.lock"


def operations(lake, table="t"):
    return [line["commitInfo"]["operation"] for _, lines in sorted(delta_log.commits(lake / table).items()) for line in lines if "commitInfo" in line]


@pytest.fixture
def con(con):
    con.execute("SET braid_auto_compact_min_files = 4")
    return con


def make(con, value="true", columns="id BIGINT, v INT", more="", name="delta.autoOptimize.autoCompact"):
    con.execute(f"CREATE TABLE t ({columns}) {more} TBLPROPERTIES ('{name}' = '{value}')")


@pytest.mark.parametrize("value, name", [("true", "delta.autoOptimize.autoCompact"), ("auto", "delta.autoOptimize.autoCompact"),
                                         ("Legacy", "delta.autoOptimize.autoCompact"), ("true", "delta.autoOptimize")])  # fmt: skip
def test_the_commit_that_makes_it_a_crowd_is_followed_by_a_compaction(con, lake, value, name):
    make(con, value, name=name)
    for i in range(4):
        assert operations(lake)[1:] == ["WRITE"] * i
        con.execute(f"INSERT INTO t VALUES ({i}, 1)")
    assert operations(lake)[1:] == ["WRITE"] * 4 + ["OPTIMIZE"]
    info = delta_log.info(lake / "t")
    assert info["operationParameters"]["auto"] == "true" and info["operationMetrics"]["numRemovedFiles"] == "4"
    assert {action["dataChange"] for kind in ("add", "remove") for action in delta_log.actions(lake / "t", kind)} == {False}
    assert len(delta_log.active(lake / "t")) == 1
    assert con.execute("SELECT operation, version FROM braid_last_commit()").fetchall() == [("WRITE", 4)]
    con.execute("INSERT INTO t VALUES (5, 1)")
    assert operations(lake)[-1] == "WRITE"
    assert len(assert_all_see(con, lake / "t")) == 5
    con.execute("OPTIMIZE t")
    assert delta_log.info(lake / "t")["operationParameters"]["auto"] == "false"


def test_fifty_files_unless_said_otherwise(con, lake, connect):
    con = connect(lake)
    con.execute("SET braid_durability = 'none'")
    make(con)
    for i in range(49):
        con.execute(f"INSERT INTO t VALUES ({i}, 1)")
    assert "OPTIMIZE" not in operations(lake)
    con.execute("INSERT INTO t VALUES (50, 1)")
    assert operations(lake)[-1] == "OPTIMIZE"


@pytest.mark.parametrize("value", ["false", None])
def test_not_if_the_table_does_not_ask_for_it(con, lake, value):
    if value:
        make(con, value)
    else:
        con.execute("CREATE TABLE t (id BIGINT, v INT)")
    for i in range(5):
        con.execute(f"INSERT INTO t VALUES ({i}, 1)")
    assert "OPTIMIZE" not in operations(lake) and not (lake / "t" / LOCK).exists()


def test_only_the_partitions_that_the_commit_has_touched(con, lake):
    make(con, columns="id BIGINT, p VARCHAR", more="PARTITIONED BY (p)")
    con.execute("SET braid_auto_compact_min_files = 100")
    for i in range(5):
        con.execute(f"INSERT INTO t VALUES ({i}, 'a'), ({i}, NULL), ({i}, 'it''s')")
    con.execute("SET braid_auto_compact_min_files = 4")
    con.execute("INSERT INTO t VALUES (9, NULL), (9, 'new')")
    assert operations(lake)[-1] == "OPTIMIZE"
    files = [add["partitionValues"]["p"] for add in delta_log.active(lake / "t").values()]
    assert sorted(map(str, files)) == ["None"] + ["a"] * 5 + ["it's"] * 5 + ["new"]
    con.execute("UPDATE t SET id = 0 WHERE p = 'it''s' AND id = 3")
    files = [add["partitionValues"]["p"] for add in delta_log.active(lake / "t").values()]
    assert sorted(map(str, files)) == ["None"] + ["a"] * 5 + ["it's"] + ["new"]
    assert len(assert_all_see(con, lake / "t")) == 17


def test_large_files_do_not_count_and_stay(con, lake):
    make(con, columns="id BIGINT, s VARCHAR")
    con.execute("ALTER TABLE t SET TBLPROPERTIES ('delta.targetFileSize' = '20kb')")
    for i in range(5):
        con.execute(f"INSERT INTO t SELECT range, sha256(range::VARCHAR) FROM range({i * 200}, {i * 200 + 200})")  # 14 kB
    large = set(delta_log.active(lake / "t"))
    assert len(large) == 5 and "OPTIMIZE" not in operations(lake)
    for i in range(4):
        con.execute(f"INSERT INTO t VALUES ({i}, 'small')")
    assert operations(lake)[-1] == "OPTIMIZE"
    assert large < set(delta_log.active(lake / "t")) and len(delta_log.active(lake / "t")) == 6


@pytest.mark.parametrize("statements", [
    ["UPDATE t SET v = 2 WHERE id = 0"], ["MERGE INTO t USING (SELECT 0 AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (7, 7)"],
    ["BEGIN", "INSERT INTO t VALUES (8, 8)", "DELETE FROM t WHERE id = 1", "COMMIT"], ["DELETE FROM t WHERE id = 2"]])  # fmt: skip
@pytest.mark.parametrize("vectors", ["true", "false"])
def test_after_every_change_of_rows(con, lake, statements, vectors):
    make(con)
    con.execute(f"ALTER TABLE t SET TBLPROPERTIES ('delta.enableDeletionVectors' = '{vectors}')")
    con.execute("SET braid_auto_compact_min_files = 100")
    for i in range(5):
        con.execute(f"INSERT INTO t VALUES ({i}, 1), ({i + 10}, 1)")
    con.execute("SET braid_auto_compact_min_files = 4")
    for statement in statements:
        assert "OPTIMIZE" not in operations(lake)
        con.execute(statement)
    assert operations(lake)[-1] == "OPTIMIZE" and len(delta_log.active(lake / "t")) == 1
    assert_all_see(con, lake / "t")


def test_not_after_a_rollback_or_a_change_of_properties(con, lake):
    make(con)
    con.execute("SET braid_auto_compact_min_files = 100")
    for i in range(5):
        con.execute(f"INSERT INTO t VALUES ({i}, 1)")
    con.execute("SET braid_auto_compact_min_files = 4")
    con.execute("BEGIN")
    con.execute("INSERT INTO t VALUES (9, 9)")
    con.execute("ROLLBACK")
    con.execute("ALTER TABLE t SET TBLPROPERTIES ('a' = 'b')")
    con.execute("DELETE FROM t WHERE id = 99")
    assert "OPTIMIZE" not in operations(lake)


def test_who_finds_one_under_way_goes_on(con, lake):
    make(con)
    for i in range(3):
        con.execute(f"INSERT INTO t VALUES ({i}, 1)")
    (lake / "t/_braid").mkdir(exist_ok=True)
    with open(lake / "t" / LOCK, "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        con.execute("INSERT INTO t VALUES (3, 1)")
        assert operations(lake)[-1] == "WRITE"
    con.execute("INSERT INTO t VALUES (4, 1)")
    assert operations(lake)[-1] == "OPTIMIZE"


def test_an_error_of_it_is_a_warning_and_not_one_of_the_statement(con, lake):
    make(con)
    con.execute("CALL enable_logging(level = 'warning')")
    for i in range(3):
        con.execute(f"INSERT INTO t VALUES ({i}, 1)")
    lost = sorted(delta_log.active(lake / "t"))[0]
    (lake / "t" / lost).rename(lake / "elsewhere")
    con.execute("INSERT INTO t VALUES (3, 1)")
    assert operations(lake)[-1] == "WRITE"
    (message,) = con.execute("SELECT message FROM duckdb_logs WHERE message LIKE '%not compacted%'").fetchone()
    assert str(lake / "t") in message and "version 4" in message and lost in message
    assert len(list((lake / "t").glob("*.parquet"))) == 3  # nothing is left of it
    (lake / "elsewhere").rename(lake / "t" / lost)
    con.execute("INSERT INTO t VALUES (4, 1)")
    assert operations(lake)[-1] == "OPTIMIZE" and len(assert_all_see(con, lake / "t")) == 5


def test_a_table_whose_lock_cannot_be_had_is_left_alone(con, lake):
    make(con)
    (lake / "t/_braid").write_text("a file in the way")
    con.execute("CALL enable_logging(level = 'warning')")
    for i in range(5):
        con.execute(f"INSERT INTO t VALUES ({i}, 1)")
    assert "OPTIMIZE" not in operations(lake)
    assert con.execute("SELECT count(*) FROM duckdb_logs WHERE message LIKE '%not compacted%_braid%'").fetchone()[0] == 2


def test_beside_a_change_that_was_begun_before(con, connect, lake):
    make(con)
    for i in range(3):
        con.execute(f"INSERT INTO t VALUES ({i}, 1)")
    other = connect(lake)
    commit_late(other, "UPDATE t SET v = 2 WHERE id = 1", lambda: con.execute("INSERT INTO t VALUES (3, 1)"))
    assert operations(lake)[-2:] == ["OPTIMIZE", "UPDATE"]
    assert assert_all_see(con, lake / "t") == [(0, 1), (1, 2), (2, 1), (3, 1)]


def test_a_clustered_table_is_clustered(con, lake):
    make(con, more="CLUSTER BY (id)")
    for i in range(4):
        con.execute(f"INSERT INTO t VALUES ({i}, 1)")
    info = delta_log.info(lake / "t")
    assert (info["operation"], info["operationParameters"]["clusterBy"], info["operationParameters"]["auto"]) == ("OPTIMIZE", '["id"]', "true")
    assert {add["clusteringProvider"] for add in delta_log.active(lake / "t").values()} == {"liquid"}


def test_what_the_property_can_be(con):
    with pytest.raises(Exception, match="autoCompact.*true or false or auto or legacy"):
        make(con, "sometimes")


@pytest.mark.parametrize("properties", ["", "TBLPROPERTIES ('delta.autoOptimize.optimizeWrite' = 'true')"])
def test_a_partitioned_write_makes_one_file_for_each_partition(connect, lake, properties):
    con = connect(lake, threads=4)
    con.execute("CREATE TABLE source AS SELECT range AS id, range % 8 AS p FROM range(1000000)")
    con.execute(f"CREATE TABLE t (id BIGINT, p BIGINT) PARTITIONED BY (p) {properties}")
    con.execute("INSERT INTO t FROM source")
    assert sorted(add["partitionValues"]["p"] for add in delta_log.active(lake / "t").values()) == list("01234567")
    con.execute("MERGE INTO t USING (SELECT id + 500000 AS id, p FROM source) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *")
    assert sorted(add["partitionValues"]["p"] for add in delta_log.actions(lake / "t", "add")) == list("01234567")
    assert con.execute("SELECT count(*), count(DISTINCT id) FROM t").fetchone() == (1500000, 1500000)
