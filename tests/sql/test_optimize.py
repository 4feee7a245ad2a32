# SPDX-License-Identifier: Apache-2.0
"""OPTIMIZE, ZORDER BY and REORG .. APPLY (PURGE): what is rewritten, what stays, and what happens beside other writers."""

import json
import threading

import duckdb
import pytest

import delta_log
from judges import assert_all_see

CONTENTS = "SELECT * FROM {} ORDER BY ALL"


def rows(con, table="t"):
    return con.execute(CONTENTS.format(table)).fetchall()


def metrics(con, statement):
    return con.execute(statement).fetchone()[1]


def version(lake):
    return delta_log.version(lake / "t")


@pytest.fixture
def ten_files(con):
    con.execute("CREATE TABLE t (id BIGINT, k INT, s VARCHAR)")
    for i in range(10):
        con.execute(f"INSERT INTO t SELECT range, range * 7919 % 1000, 's' || range FROM range({i * 100}, {i * 100 + 100})")


def test_small_files_become_one(con, lake, ten_files):
    before = rows(con)
    con.execute("DELETE FROM t WHERE id % 10 = 3")
    before = [row for row in before if row[0] % 10 != 3]
    answer = metrics(con, "OPTIMIZE t")
    assert (answer["numFilesRemoved"], answer["numFilesAdded"]) == (10, 1)
    assert (answer["numDeletionVectorsRemoved"], answer["numDeletedRowsPurged"]) == (10, 100)
    assert rows(con) == before
    assert len(assert_all_see(con, lake / "t")) == 900
    for kind in ("add", "remove"):
        assert {action["dataChange"] for action in delta_log.actions(lake / "t", kind)} == {False}
    info = delta_log.info(lake / "t")
    assert info["operation"] == "OPTIMIZE" and info["operationMetrics"]["numRemovedFiles"] == "10"
    assert info["isolationLevel"] == "SnapshotIsolation" and info["isBlindAppend"] is False


def test_rows_stay_beside_their_neighbours(con, lake):
    # Each file: a whole row group and a remainder. Threads read them by turns; what they read together, nobody looked for together.
    con.execute("CREATE TABLE t (id BIGINT)")
    for i in range(8):
        con.execute(f"INSERT INTO t SELECT range FROM range({i * 130_000}, {i * 130_000 + 130_000})")
    con.execute("SET threads = 4")
    con.execute("OPTIMIZE t")
    file, = delta_log.active(lake / "t")
    groups = "SELECT row_group_num_rows, stats_max::BIGINT - stats_min::BIGINT + 1 FROM parquet_metadata(?)"
    groups = con.execute(groups, [str(lake / "t" / file)]).fetchall()
    assert sum(count for count, _ in groups) == 8 * 130_000
    assert sum(width == 122_880 for _, width in groups) == 8, groups


def test_nothing_to_do_is_no_commit(con, lake, ten_files):
    con.execute("OPTIMIZE t")
    at = version(lake)
    answer = metrics(con, "OPTIMIZE t")
    assert (answer["numFilesRemoved"], answer["totalFilesSkipped"], version(lake)) == (0, 1, at)


def test_large_clean_files_are_left_alone_and_bins_keep_to_the_target_size(con, lake):
    con.execute("CREATE TABLE t (id BIGINT, h VARCHAR)")
    con.execute("INSERT INTO t SELECT range, sha256(range::VARCHAR) FROM range(5000)")
    large, = delta_log.active(lake / "t")
    for i in range(6):
        con.execute(f"INSERT INTO t SELECT range, sha256(range::VARCHAR) FROM range({i * 1000}, {i * 1000 + 1000})")
    con.execute("ALTER TABLE t SET TBLPROPERTIES ('delta.targetFileSize' = '200kb')")
    con.execute("OPTIMIZE t")
    files = delta_log.active(lake / "t")
    assert large in files and len(files) == 4  # 69 kB each: pairs fit
    assert metrics(con, "OPTIMIZE t")["numFilesRemoved"] == 0


def test_a_file_with_many_deleted_rows_is_rewritten_alone(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(1000)")
    con.execute("DELETE FROM t WHERE id < 50")
    assert metrics(con, "OPTIMIZE t")["numFilesRemoved"] == 0
    con.execute("DELETE FROM t WHERE id < 51")
    assert metrics(con, "OPTIMIZE t")["numDeletedRowsPurged"] == 51


def test_purge_rewrites_every_file_with_deleted_rows(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(1000)")
    con.execute("INSERT INTO t SELECT range FROM range(1000, 2000)")
    con.execute("DELETE FROM t WHERE id = 5")
    answer = metrics(con, "REORG TABLE t APPLY (PURGE)")
    assert (answer["numFilesRemoved"], answer["numDeletedRowsPurged"]) == (1, 1)
    assert len(rows(con)) == 1999
    assert not any("deletionVector" in add for add in delta_log.active(lake / "t").values())
    assert delta_log.info(lake / "t")["operation"] == "REORG"


def test_partitions_are_packed_apart_and_chosen_by_condition(con, lake):
    con.execute("CREATE TABLE t (id INT, p VARCHAR) PARTITIONED BY (p)")
    for i in range(3):
        con.execute(f"INSERT INTO t SELECT range, ['a', 'b', NULL][1 + range % 3] FROM range({i * 30}, {i * 30 + 30})")
    before = rows(con)
    answer = metrics(con, "OPTIMIZE t WHERE p = 'a'")
    assert (answer["numFilesRemoved"], answer["numFilesAdded"], answer["totalConsideredFiles"]) == (3, 1, 3)
    answer = metrics(con, "OPTIMIZE t WHERE p IS NULL OR p > 'a'")
    assert (answer["numFilesRemoved"], answer["numFilesAdded"], answer["partitionsOptimized"]) == (6, 2, 2)
    assert rows(con) == before


def holding(lake, column, value):
    """Share of files whose bounds leave room for a value."""
    def bound(stats, kind):
        values = stats[kind]
        for name in [column] if isinstance(column, str) else column:
            values = values[name]
        return values

    every = [json.loads(add["stats"]) for add in delta_log.active(lake / "t").values()]
    return sum(bound(stats, "minValues") <= value <= bound(stats, "maxValues") for stats in every) / len(every)


@pytest.mark.parametrize("curve", ["k, d", "d, k", "k, d, s"])
def test_zorder_clusters_every_column(con, lake, curve):
    con.execute("CREATE TABLE t (k BIGINT, d DOUBLE, s VARCHAR)")
    con.execute("ALTER TABLE t SET TBLPROPERTIES ('delta.targetFileSize' = '64kb')")
    con.execute(
        "INSERT INTO t SELECT CASE WHEN range % 50 = 0 THEN NULL ELSE hash(range) % 1000 END,"
        " pow(hash(range, 1) % 1000 / 1000, 9), sha256(range::VARCHAR) FROM range(20000)"
    )
    before = rows(con)
    con.execute(f"OPTIMIZE t ZORDER BY ({curve})")
    assert rows(con) == before
    columns = curve.split(", ")
    limit = 0.5 if len(columns) == 2 else 0.7  # of n files, n^(1-1/columns) hold a value at best
    assert len(delta_log.active(lake / "t")) >= 10
    for column in columns:
        values = [row[0] for row in con.execute(f"SELECT {column} FROM t WHERE {column} IS NOT NULL USING SAMPLE 50 ROWS (reservoir, 7)").fetchall()]
        assert sum(holding(lake, column, value) for value in values) / len(values) < limit, column


def test_zorder_of_partitions(con, lake):
    con.execute("CREATE TABLE t (id INT, p INT, d DATE) PARTITIONED BY (p)")
    for i in range(3):
        con.execute(f"INSERT INTO t SELECT range, range % 2, DATE '2020-01-01' + range::INT FROM range({i * 30}, {i * 30 + 30})")
    before = rows(con)
    answer = metrics(con, "OPTIMIZE t ZORDER BY (id, d)")
    assert (answer["numFilesRemoved"], answer["numFilesAdded"]) == (6, 2)
    assert rows(con) == before


def test_clustered_tables(con, lake):
    con.execute("CREATE TABLE t (k BIGINT, st STRUCT(d DOUBLE), s VARCHAR) CLUSTER BY (k, st.d)")
    con.execute("ALTER TABLE t SET TBLPROPERTIES ('delta.targetFileSize' = '64kb')")
    fill = "INSERT INTO t SELECT hash(range) %% 1000, {'d': hash(range, 1) %% 1000 / 7}, sha256(range::VARCHAR) FROM range(%d, %d)"
    con.execute(fill % (0, 20000))
    before = rows(con)
    assert metrics(con, "OPTIMIZE t")["numFilesRemoved"] > 0
    clustered = delta_log.active(lake / "t")
    assert {add["clusteringProvider"] for add in clustered.values()} == {"liquid"}
    assert sum(holding(lake, "k", value) for value in range(0, 1000, 50)) / 20 < 0.5
    assert sum(holding(lake, ("st", "d"), value / 7) for value in range(0, 1000, 50)) / 20 < 0.5
    info = delta_log.info(lake / "t")["operationParameters"]
    assert (info["clusterBy"], info["zOrderBy"], info["isFull"]) == ('["k","st.d"]', "[]", "false")
    con.execute(fill % (20000, 25000))
    con.execute("OPTIMIZE t")
    after = delta_log.active(lake / "t")
    large = {path for path, add in clustered.items() if add["size"] >= 32 * 1024}
    assert large and large <= set(after)  # what was clustered stays
    assert metrics(con, "OPTIMIZE t")["numFilesRemoved"] <= 1
    count = len(delta_log.active(lake / "t"))
    assert metrics(con, "OPTIMIZE t FULL")["numFilesRemoved"] == count
    now = rows(con)
    assert len(now) == 25000 and {repr(row) for row in before} <= {repr(row) for row in now}
    with pytest.raises(duckdb.Error, match="CLUSTER BY"):
        con.execute("OPTIMIZE t ZORDER BY (k)")
    assert_all_see(con, lake / "t")


def by_id(con):
    """Not in the order of all columns: DuckDB answers 0.0 for a -0.0 that it has sorted by."""
    return repr(con.execute("SELECT * FROM t ORDER BY id").fetchall())


@pytest.mark.parametrize("column", ["f", "d", "f, d"])
def test_floating_point_columns_keep_their_zeros(con, lake, column):
    con.execute("CREATE TABLE t (id INT, f FLOAT, d DOUBLE)")
    con.execute("INSERT INTO t SELECT range, f::FLOAT, d::DOUBLE FROM range(5) POSITIONAL JOIN (VALUES ('-0.0', '-0.0'), ('0', '0'), ('nan', '-inf'), (NULL, 'nan'), ('-1', '-1')) AS v(f, d)")
    before = by_id(con)
    con.execute(f"OPTIMIZE t ZORDER BY ({column})")
    assert by_id(con) == before and before.count("-0.0") == 2


def test_partitions_of_both_zeros_stay_apart(con, lake):
    con.execute("CREATE TABLE t (id INT, f DOUBLE) PARTITIONED BY (f)")
    for i in range(3):
        con.execute(f"INSERT INTO t VALUES ({i}, '-0.0'), ({i + 10}, 0), ({i + 20}, NULL)")
    before = by_id(con)
    con.execute("OPTIMIZE t ZORDER BY (id)")
    assert by_id(con) == before
    assert sorted(str(add["partitionValues"]["f"]) for add in delta_log.active(lake / "t").values()) == ["-0.0", "0.0", "None"]


@pytest.mark.parametrize("curve", ["st.a, st.b", "st.b", "`st`.\"in\".x, id", 'ID, "a.b"', "st.b, st.b"])
def test_zorder_by_fields_of_structs(con, lake, curve):
    con.execute('CREATE TABLE t (id INT, "a.b" INT, st STRUCT(a INT, b VARCHAR, "in" STRUCT(x INT)))')
    con.execute("INSERT INTO t SELECT range, -range, {'a': range % 7, 'b': sha256(range::VARCHAR), 'in': {'x': range % 11}} FROM range(5000)")
    before = rows(con)
    assert metrics(con, f"OPTIMIZE t ZORDER BY ({curve})")["numRowsMoved"] == 5000
    assert rows(con) == before
    assert_all_see(con, lake / "t")


def test_fields_of_one_struct_cluster_a_table(con, lake):
    con.execute("CREATE TABLE t (st STRUCT(a INT, b VARCHAR)) CLUSTER BY (st.a, st.b)")
    con.execute("INSERT INTO t SELECT {'a': range % 70, 'b': sha256(range::VARCHAR)} FROM range(5000)")
    before = rows(con)
    con.execute("OPTIMIZE t")
    assert rows(con) == before


@pytest.mark.parametrize(
    "condition, files",
    [("`p q` = 'a'", 2), ("zorder > 0", 2), ("zorder >= 0 ZORDER BY (id)", 4), ("day <= current_date", 4), ("day > current_timestamp", 0)],
)
def test_what_a_condition_may_say(con, lake, condition, files):
    con.execute('CREATE TABLE t (id INT, "p q" VARCHAR, "zorder" INT, day DATE) PARTITIONED BY ("p q", "zorder", day)')
    for i in range(2):
        con.execute(f"INSERT INTO t VALUES ({i}, 'a', 0, DATE '2020-01-01'), ({i}, 'b', 1, DATE '2020-01-02')")
    assert metrics(con, f"OPTIMIZE t WHERE {condition}")["numFilesRemoved"] == files
    con.execute("DELETE FROM t WHERE id = 0")
    con.execute("REORG TABLE t WHERE `p q` = 'b' APPLY (PURGE)")


def test_full_may_stand_at_the_end(con, lake):
    con.execute("CREATE TABLE t (id INT) CLUSTER BY (id)")
    con.execute("INSERT INTO t VALUES (1)")
    con.execute("OPTIMIZE t")
    assert metrics(con, "OPTIMIZE t FULL")["numFilesRemoved"] == 1
    assert metrics(con, "OPTIMIZE t WHERE true FULL")["numFilesRemoved"] == 1


@pytest.mark.parametrize("condition", ["nope = 1", "id = (SELECT 1)", "id = ", "random() < 1"])
def test_a_condition_that_cannot_be_names_the_table(con, lake, condition):
    con.execute("CREATE TABLE t (id INT, v INT) PARTITIONED BY (id)")
    with pytest.raises(duckdb.Error, match=r"OPTIMIZE of table .*/t: WHERE"):
        con.execute(f"OPTIMIZE t WHERE {condition}")


# Beside other writers. Both sides begin on the same version.


def race(connect, lake, first, second, count=1):
    """The first statement commits, then the second, both begun on the same version; answers the error of the second."""
    winner, loser = connect(lake), connect(lake)
    loser.execute("BEGIN")
    loser.execute(second)
    for statement in [first] if isinstance(first, str) else first:
        winner.execute(statement)
    try:
        loser.execute("COMMIT")
    except duckdb.Error as error:
        return str(error)
    return None


REARRANGEMENTS = ["OPTIMIZE t", "OPTIMIZE t ZORDER BY (k, id)", "REORG TABLE t APPLY (PURGE)"]
CHANGES = {
    "DELETE FROM t WHERE id % 2 = 0": lambda rows: [r for r in rows if r[0] % 2],
    "UPDATE t SET s = 'x' WHERE id = 777": lambda rows: [(*r[:2], "x") if r[0] == 777 else r for r in rows],
    "INSERT INTO t VALUES (-1, -1, 'new')": lambda rows: sorted([*rows, (-1, -1, "new")]),
    "MERGE INTO t USING (SELECT 5 AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE": lambda rows: [r for r in rows if r[0] != 5],
}


@pytest.mark.parametrize("partitioned", [False, True])
@pytest.mark.parametrize("level", ["WriteSerializable", "Serializable"])
@pytest.mark.parametrize("rearrangement", REARRANGEMENTS)
def test_neither_side_fails(con, connect, lake, rearrangement, level, partitioned):
    con.execute("CREATE TABLE t (id BIGINT, k INT, s VARCHAR)" + (" PARTITIONED BY (k)" if partitioned else ""))
    con.execute(f"ALTER TABLE t SET TBLPROPERTIES ('delta.isolationLevel' = '{level}')")
    if partitioned:
        rearrangement = rearrangement.replace("(k, id)", "(id, s)")
    for i in range(4):
        con.execute(f"INSERT INTO t SELECT range, range % 3, 's' || range FROM range({i * 250}, {i * 250 + 250})")
    for change, expect in CHANGES.items():
        con.execute("DELETE FROM t WHERE id = (SELECT max(id) FROM t)")  # something to do for each of them
        con.execute("INSERT INTO t VALUES (9999, 1, 'small file'), (9998, 2, 'and its vector')")
        expected = expect(rows(con))
        assert race(connect, lake, rearrangement, change) is None
        assert rows(con) == expected
    # The other way round: the rearrangement loses.
    assert race(connect, lake, ["UPDATE t SET k = k WHERE id = 9", "DELETE FROM t WHERE id = 7"], rearrangement) is None
    assert rows(con) == [row for row in expected if row[0] != 7]
    assert_all_see(con, lake / "t")


def test_a_chain_of_rearrangements_is_followed(con, connect, lake, ten_files):
    before = rows(con)
    chain = ["OPTIMIZE t", "DELETE FROM t WHERE id = 500", "OPTIMIZE t ZORDER BY (k, s)", "REORG TABLE t APPLY (PURGE)", "OPTIMIZE t ZORDER BY (id)"]
    assert race(connect, lake, chain, "UPDATE t SET s = 'followed' WHERE id IN (3, 333, 999)") is None
    assert rows(con) == [(*r[:2], "followed") if r[0] in (3, 333, 999) else r for r in before if r[0] != 500]


def test_the_same_row_is_still_a_conflict_behind_a_rearrangement(con, connect, lake, ten_files):
    error = race(connect, lake, ["DELETE FROM t WHERE id = 5", "OPTIMIZE t"], "DELETE FROM t WHERE id = 5")
    assert "DELTA_CONCURRENT_DELETE_DELETE" in error
    assert len(rows(con)) == 999


@pytest.mark.parametrize("other", REARRANGEMENTS)
@pytest.mark.parametrize("one", REARRANGEMENTS)
def test_two_rearrangements_never_fail(con, connect, lake, ten_files, one, other):
    con.execute("DELETE FROM t WHERE id % 10 = 3")
    before = rows(con)
    assert race(connect, lake, one, other) is None
    assert rows(con) == before


def test_tables_without_vectors_leave_out_what_others_touched(con, connect, lake):
    con.execute("CREATE TABLE t (id BIGINT) TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')")
    for i in range(4):
        con.execute(f"INSERT INTO t SELECT range FROM range({i * 10}, {i * 10 + 10})")
    assert race(connect, lake, "DELETE FROM t WHERE id = 5", "OPTIMIZE t") is None
    assert [row[0] for row in rows(con)] == [i for i in range(40) if i != 5]
    error = race(connect, lake, "OPTIMIZE t", "DELETE FROM t WHERE id = 6")
    assert error is None or "DELTA_CONCURRENT_DELETE" in error


# What is refused.


@pytest.mark.parametrize(
    "statement, message",
    [
        ("OPTIMIZE t WHERE id > 5", "partition columns only"),
        ("OPTIMIZE t WHERE nope = 5", "nope"),
        ("OPTIMIZE t FULL", "clustered tables"),
        ("OPTIMIZE t ZORDER BY (nope)", "no column"),
        ("OPTIMIZE t ZORDER BY (id, s, k, id, s)", "at most 4"),
        ("OPTIMIZE t ZORDER BY (p)", "partition column"),
        ("OPTIMIZE t WHERE", "condition"),
        ("OPTIMIZE nope", "nope"),
        ("REORG TABLE t APPLY (SHRED)", "PURGE"),
    ],
)
def test_bad_input_changes_nothing(con, lake, statement, message):
    con.execute("CREATE TABLE t (id INT, k INT, s VARCHAR, p INT) PARTITIONED BY (p)")
    con.execute("INSERT INTO t VALUES (1, 1, 'a', 1)")
    at = version(lake)
    with pytest.raises(duckdb.Error, match=message):
        con.execute(statement)
    assert version(lake) == at


def test_a_rearrangement_is_a_commit_of_its_own(con, lake, ten_files):
    con.execute("BEGIN")
    con.execute("DELETE FROM t WHERE id = 1")
    with pytest.raises(duckdb.Error, match="commit of its own"):
        con.execute("OPTIMIZE t")
    con.execute("ROLLBACK")
    con.execute("BEGIN")
    con.execute("OPTIMIZE t")
    assert len(rows(con)) == 1000
    with pytest.raises(duckdb.Error, match="commit of its own"):
        con.execute("DELETE FROM t WHERE id = 1")
    con.execute("ROLLBACK")
    assert len(delta_log.active(lake / "t")) == 10
    assert len(list((lake / "t").glob("*.parquet"))) == 10


def test_append_only_tables_may_be_optimized(con, lake):
    con.execute("CREATE TABLE t (id INT) TBLPROPERTIES ('delta.appendOnly' = 'true')")
    for i in range(3):
        con.execute(f"INSERT INTO t VALUES ({i})")
    assert metrics(con, "OPTIMIZE t")["numFilesRemoved"] == 3


def test_a_table_attached_for_reading_is_refused(con, connect, lake, ten_files):
    reader = connect(lake, read_only=True)
    for statement in REARRANGEMENTS:
        with pytest.raises(duckdb.Error, match="read-only"):
            reader.execute(statement)
    assert version(lake) == 10


@pytest.mark.parametrize("level", ["WriteSerializable", "Serializable"])
def test_append_only_tables_beside_appends(con, connect, lake, level):
    con.execute(f"CREATE TABLE t (id INT) TBLPROPERTIES ('delta.appendOnly' = 'true', 'delta.isolationLevel' = '{level}')")
    for i in range(3):
        con.execute(f"INSERT INTO t VALUES ({i})")
    assert race(connect, lake, "INSERT INTO t VALUES (3)", "OPTIMIZE t ZORDER BY (id)") is None
    assert race(connect, lake, "OPTIMIZE t", "INSERT INTO t VALUES (4)") is None
    for kind in ("add", "remove"):
        assert {action["dataChange"] for action in delta_log.actions(lake / "t", kind, version(lake) - 1)} == {False}
    assert len(assert_all_see(con, lake / "t")) == 5
    with pytest.raises(duckdb.Error, match="appendOnly"):
        con.execute("DELETE FROM t WHERE id = 1")


def test_spellings_of_one_partition_come_together(con, connect, lake):
    con.execute("CREATE TABLE t (id INT, moment TIMESTAMP WITH TIME ZONE) PARTITIONED BY (moment)")
    for i in range(2):
        con.execute(f"INSERT INTO t VALUES ({i}, TIMESTAMPTZ '2000-01-01 12:00:00+00')")
    path = lake / "t/_delta_log/00000000000000000002.json"
    spelled = delta_log.actions(lake / "t", "add", 2)[0]["partitionValues"]["moment"]
    other = "2000-01-01 12:00:00" if "T" in spelled else "2000-01-01T12:00:00.000000Z"
    path.write_text(path.read_text().replace(f'"{spelled}"', f'"{other}"'))
    con = connect(lake)
    answer = metrics(con, "OPTIMIZE t WHERE moment = TIMESTAMPTZ '2000-01-01 12:00:00+00'")
    assert (answer["numFilesRemoved"], answer["numFilesAdded"], answer["partitionsOptimized"]) == (2, 1, 1)
    assert len(assert_all_see(con, lake / "t")) == 2


def test_a_plan_that_is_only_made_reads_no_data(con, lake, ten_files):
    for path in (lake / "t").glob("*.parquet"):
        path.rename(path.with_suffix(".gone"))
    con.execute("EXPLAIN OPTIMIZE t ZORDER BY (k, id)")
    con.execute("PREPARE later AS OPTIMIZE t ZORDER BY (k, id)")
    with pytest.raises(duckdb.Error, match="parquet"):
        con.execute("EXECUTE later")
    for path in (lake / "t").glob("*.gone"):
        path.rename(path.with_suffix(".parquet"))
    con.execute("EXECUTE later")
    assert len(delta_log.active(lake / "t")) == 1 and len(rows(con)) == 1000


@pytest.fixture
def large(con):
    con.execute("CREATE TABLE t (id BIGINT, k BIGINT, s VARCHAR)")
    for i in range(4):
        con.execute(f"INSERT INTO t SELECT range, hash(range) % 100000, sha256(range::VARCHAR) FROM range({i * 200_000}, {i * 200_000 + 200_000})")


@pytest.mark.parametrize("statement", ["OPTIMIZE t", "OPTIMIZE t ZORDER BY (k, s)"])
def test_an_interrupt_leaves_nothing_behind(con, lake, large, statement):
    before, at = delta_log.files_on_disk(lake / "t"), version(lake)
    caught = []

    def run():
        try:
            con.execute(statement)
        except duckdb.Error as error:
            caught.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    while thread.is_alive() and delta_log.files_on_disk(lake / "t") == before:
        pass  # it writes its first file
    while thread.is_alive():
        con.interrupt()
        thread.join(0.02)
    assert [type(error) for error in caught] == [duckdb.InterruptException]
    assert delta_log.files_on_disk(lake / "t") == before and version(lake) == at
    con.execute(statement)
    assert len(rows(con)) == 800_000


@pytest.mark.parametrize("statement", ["OPTIMIZE t", "OPTIMIZE t ZORDER BY (k, s)"])
def test_a_progress_bar_moves(con, lake, large, statement):
    con.execute("SET enable_progress_bar = true")
    con.execute("SET enable_progress_bar_print = false")
    thread = threading.Thread(target=con.execute, args=(statement,))
    seen = set()
    thread.start()
    while thread.is_alive():
        seen.add(con.query_progress())
    assert any(0 < progress < 100 for progress in seen), seen


def test_memory_does_not_grow_with_partitions(con, lake, connect):
    """Rows of a thousand partitions wait for their row groups, more bytes than there is memory for: they spill."""
    con.execute("CREATE TABLE t (p INT, k BIGINT, s VARCHAR) PARTITIONED BY (p)")
    for i in range(2):
        con.execute(f"INSERT INTO t SELECT range // 250, (hash(range) >> 1)::BIGINT, repeat(md5((range * 2 + {i})::VARCHAR), 8) FROM range(250000)")
    everything = "SELECT count(*), sum(k::HUGEINT), count(DISTINCT p), bit_xor(hash(s)) FROM t"
    rows = con.execute(everything).fetchone()
    (_, metrics), = connect(lake, memory_limit="100MB", threads=2).execute("OPTIMIZE t ZORDER BY (k, s)").fetchall()
    assert (metrics["numFilesAdded"], metrics["numFilesRemoved"], metrics["numRowsMoved"]) == (1000, 2000, 500_000)
    assert con.execute(everything).fetchone() == rows
