# SPDX-License-Identifier: Apache-2.0
"""MERGE beside other writers: what a MERGE has read are the rows that its source's keys can match, fired or not; BY SOURCE clauses read by their own
condition. The same for UPDATE ... FROM, DELETE ... USING and IN (SELECT ...)."""

import random

import duckdb
import pyarrow as pa
import pytest

import delta_log
from conftest import connect_lake
from racing import PATIENCE, SPAWN, race

LEVELS = ["Serializable", "WriteSerializable"]


def rows(con, query):
    return con.execute(query).fetchall()


@pytest.fixture(params=LEVELS)
def level(request):
    return request.param


@pytest.fixture
def table(con, lake, level):
    """id 0..999 in one file, v = id % 10, s = 'old'."""
    con.execute(f"CREATE TABLE t (id BIGINT, v INT, s VARCHAR) WITH ('delta.isolationLevel' = '{level}')")
    con.execute("INSERT INTO t SELECT range, range % 10, 'old' FROM range(1000)")
    return lake / "t"


def upsert(source, on="t.id = src.id"):
    return f"""MERGE INTO t USING {source} AS src ON {on}
               WHEN MATCHED THEN UPDATE SET s = 'merged' WHEN NOT MATCHED THEN INSERT (id, s) VALUES (src.id, 'new')"""


def values(*keys):
    return f"(SELECT id FROM (VALUES {', '.join(f'({key})' for key in keys)}) AS v(id))"


class Clash:
    """One statement runs in an open transaction, the other commits, then the first one tries to."""

    def __init__(self, con, connect, lake):
        self.con, self.connect, self.lake = con, connect, lake

    def run(self, mine, theirs):
        other = self.connect(self.lake)
        self.con.execute("BEGIN")
        self.con.execute(mine)
        other.execute(theirs)
        self.con.execute("COMMIT")

    def refused(self, mine, theirs, error):
        with pytest.raises(duckdb.TransactionException, match=error):
            self.run(mine, theirs)

    def allowed(self, mine, theirs):
        self.run(mine, theirs)


@pytest.fixture
def clash(con, connect, lake):
    return Clash(con, connect, lake)


# Sources of every size: keys are kept in full, as extremes only, or come from a table.
SOURCES = {
    "few": (values(5, 1005), values(7, 1007)),
    "many, interleaved": (
        "(SELECT range * 4 AS id FROM range(500))",
        "(SELECT range * 4 + 1 AS id FROM range(500))",
    ),
    "more than the table": (
        "(SELECT range * 2 AS id FROM range(3000))",
        "(SELECT range * 2 + 1 AS id FROM range(3000))",
    ),
    "empty": ("(SELECT 5 AS id WHERE random() > 2)", values(7, 1007)),
    "text": ("(SELECT (range * 4)::VARCHAR::INT AS id FROM range(300))", "(SELECT range * 4 + 2 AS id FROM range(300))"),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_merges_of_other_keys_into_one_file_both_commit(clash, con, table, kind):
    mine, theirs = SOURCES[kind]
    clash.allowed(upsert(mine), upsert(theirs))
    keys = {key for source in (mine, theirs) for (key,) in rows(con, f"SELECT id FROM {source} s(id)")}
    assert rows(con, "SELECT count(*), count(DISTINCT id) FROM t") == [(len(keys | set(range(1000))),) * 2]
    assert rows(con, "SELECT count(*) FROM t WHERE s = 'merged'") == [(len(keys & set(range(1000))),)]


@pytest.mark.parametrize("mine, theirs", [(values(500, 2000), values(2000)), ("(SELECT range * 3 AS id FROM range(900))", values(2400))])
def test_two_merges_that_insert_one_key(clash, con, table, mine, theirs):
    clash.refused(upsert(mine), upsert(theirs), "CONCURRENT_APPEND")
    assert rows(con, "SELECT count(*) FROM t WHERE id >= 1000") == [(1,)]


@pytest.mark.parametrize("size", [1, 300])
def test_a_blind_insert_of_a_key_that_a_merge_inserts(clash, con, table, level, size):
    source = f"(SELECT 2000 + range AS id FROM range({size}))"
    theirs = "INSERT INTO t VALUES (2000, 0, 'blind')"
    if level == "Serializable":
        return clash.refused(upsert(source), theirs, "CONCURRENT_APPEND")
    clash.allowed(upsert(source), theirs)
    assert rows(con, "SELECT count(*) FROM t WHERE id = 2000") == [(2,)]


def test_merges_that_change_one_row(clash, con, table):
    clash.refused(upsert(values(5, 6)), upsert(values(6, 7)), "CONCURRENT_(APPEND|DELETE_DELETE)")
    assert rows(con, "SELECT id FROM t WHERE s = 'merged' ORDER BY id") == [(6,), (7,)]


# Key 5 is matched and nothing fires for it; 3000 is inserted.
CAUTIOUS = """MERGE INTO t USING (VALUES (5), (3000)) src(id) ON t.id = src.id
              WHEN MATCHED AND t.v > 1000 THEN UPDATE SET s = 'merged' WHEN NOT MATCHED THEN INSERT (id) VALUES (src.id)"""


@pytest.mark.parametrize(
    "theirs, error",
    [
        ("DELETE FROM t WHERE id = 5", "CONCURRENT_DELETE_READ"),  # 5 would be inserted
        ("UPDATE t SET v = 2000 WHERE id = 5", "CONCURRENT_(APPEND|DELETE_READ)"),  # the clause would fire
        ("UPDATE t SET id = 105 WHERE id = 5", "CONCURRENT_DELETE_READ"),
        ("UPDATE t SET id = 5 WHERE id = 7", "CONCURRENT_APPEND"),
        (None, None),
    ],
)
def test_a_row_that_was_matched_counts_even_if_no_clause_fired(clash, con, table, theirs, error):
    if theirs:
        return clash.refused(CAUTIOUS, theirs, error)
    clash.allowed(CAUTIOUS, "UPDATE t SET id = 106, v = 2000 WHERE id = 6")
    assert rows(con, "SELECT id FROM t WHERE id > 1000") == [(3000,)]


INSERT_ONLY = "MERGE INTO t USING (SELECT 990 + range AS id FROM range(300)) src ON t.id = src.id WHEN NOT MATCHED THEN INSERT (id) VALUES (src.id)"


def test_an_insert_only_merge_reads(clash, con, table):
    clash.refused(INSERT_ONLY, "DELETE FROM t WHERE id = 995", "CONCURRENT_DELETE_READ")
    clash.refused(INSERT_ONLY, upsert(values(1001)), "CONCURRENT_APPEND")
    clash.allowed(INSERT_ONLY, "DELETE FROM t WHERE id < 980")


UPDATE_ONLY = "MERGE INTO t USING (SELECT range * 2 AS id FROM range(800)) src ON t.id = src.id WHEN MATCHED THEN UPDATE SET s = 'even'"


def test_an_update_only_merge_reads_keys_that_found_nothing(clash, con, table):
    clash.refused(UPDATE_ONLY, upsert(values(1200)), "CONCURRENT_APPEND")
    clash.allowed(UPDATE_ONLY, upsert(values(1201, 3)))
    assert rows(con, "SELECT count(*) FROM t WHERE s = 'even'") == [(501,)]


def test_by_source_reads_by_its_own_condition(clash, con, table, level):
    sync = """MERGE INTO t USING (SELECT range AS id FROM range(500, 900)) src ON t.id = src.id
              WHEN MATCHED THEN UPDATE SET s = 'kept' WHEN NOT MATCHED THEN INSERT (id, v) VALUES (src.id, 3)
              WHEN NOT MATCHED BY SOURCE AND t.v = 3 THEN DELETE"""
    clash.refused(sync, "UPDATE t SET v = 3 WHERE id = 10", "CONCURRENT_APPEND")
    clash.refused(sync, "UPDATE t SET s = 'x' WHERE id = 600", "CONCURRENT_(APPEND|DELETE)")
    clash.refused(sync, "DELETE FROM t WHERE id = 13", "CONCURRENT_DELETE_DELETE")
    clash.allowed(sync, "UPDATE t SET s = 'x', v = 4 WHERE id = 11")
    assert rows(con, "SELECT count(*) FROM t WHERE v = 3 AND s = 'old'") == [(0,)]


def test_a_condition_on_the_table_beside_the_keys(clash, con, table):
    """Keeping rows of both sides, it makes the join one on any condition: the keys count all the same."""
    sync = """MERGE INTO t USING (SELECT range AS id FROM range(500, 900)) src ON t.v < 5 AND t.id = src.id
              WHEN MATCHED THEN UPDATE SET s = 'kept' WHEN NOT MATCHED THEN INSERT (id, v) VALUES (src.id, 7)
              WHEN NOT MATCHED BY SOURCE AND t.v = 3 THEN DELETE"""
    clash.refused(sync, "UPDATE t SET v = 3 WHERE id = 10", "CONCURRENT_APPEND")
    clash.refused(sync, "UPDATE t SET v = 8 WHERE id = 600", "CONCURRENT_(APPEND|DELETE)")
    clash.refused(sync, "INSERT INTO t SELECT 700, 1, 'x' FROM t WHERE id = 3", "CONCURRENT_APPEND")
    clash.allowed(sync, "UPDATE t SET s = 'x', v = 4 WHERE id = 11")
    assert rows(con, "SELECT count(*) FROM t WHERE s = 'kept'") == [(200,)]  # half of 400, less 600, with the second 700
    assert rows(con, "SELECT count(*) FROM t WHERE v = 3 AND s <> 'kept'") == [(0,)]


def test_by_source_without_a_condition_reads_everything(clash, con, table, level):
    sync = "MERGE INTO t USING (SELECT range AS id FROM range(990)) src ON t.id = src.id WHEN NOT MATCHED BY SOURCE THEN DELETE"
    clash.refused(sync, "INSERT INTO t SELECT 5000, 1, 'x' FROM t LIMIT 1", "CONCURRENT_APPEND")
    if level == "Serializable":
        return clash.refused(sync, "INSERT INTO t VALUES (5001, 1, 'x')", "CONCURRENT_APPEND")
    clash.allowed(sync, "INSERT INTO t VALUES (5001, 1, 'x')")
    assert rows(con, "SELECT id FROM t WHERE id > 980 ORDER BY id") == [(i,) for i in (*range(981, 990), 5001)]  # 5000 was there when it started


@pytest.mark.parametrize("condition", ["t.id = src.id AND t.v = 3", "t.id IS NOT DISTINCT FROM src.id AND t.v = 3", "t.id + 0 = src.id AND t.v < 4"])
def test_conditions_on_the_target_alone_narrow_the_read_set(clash, con, table, condition):
    mine = upsert("(SELECT range AS id FROM range(2000))", condition)
    clash.refused(mine, "UPDATE t SET v = 3 WHERE id = 14", "CONCURRENT_APPEND")
    clash.allowed(mine, "UPDATE t SET v = 8, s = 'x' WHERE id = 17")


@pytest.mark.parametrize("condition", ["t.id < src.id AND t.id > src.id - 2", "t.id = src.id OR t.v = src.id", "abs(t.id - src.id) < 1"])
def test_conditions_without_keys_read_more_never_less(clash, con, table, condition):
    clash.refused(upsert(values(1501), condition), "UPDATE t SET id = 1500 + (id % 2)  WHERE id IN (100, 101)", "CONCURRENT_APPEND")


def test_null_keys_match_only_by_is_not_distinct_from(clash, con, table):
    nulls = "(SELECT CASE WHEN range = 0 THEN NULL ELSE range * 2 END AS id FROM range(400))"
    into_null = "UPDATE t SET id = NULL WHERE id = 901"
    clash.allowed(upsert(nulls), into_null)
    con.execute("DELETE FROM t WHERE id IS NULL")
    clash.refused(upsert(nulls, "t.id IS NOT DISTINCT FROM src.id"), "UPDATE t SET id = NULL WHERE id = 903", "CONCURRENT_APPEND")


def test_several_key_columns_are_kept_together(clash, con, table):
    pairs = "(SELECT range AS id, range % 10 AS v FROM range(100, 200)) AS src ON t.id = src.id AND t.v = src.v"
    mine = f"MERGE INTO t USING {pairs} WHEN MATCHED THEN UPDATE SET s = 'pair'"
    clash.refused(mine, "UPDATE t SET id = 107 WHERE id = 7", "CONCURRENT_APPEND")
    clash.allowed(mine, "UPDATE t SET id = 108 WHERE id = 9")  # (108, 9) is not a pair of the source


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE t SET s = 'mine' FROM (SELECT range * 3 AS id FROM range(400)) src WHERE t.id = src.id",
        "DELETE FROM t USING (SELECT range * 3 AS id FROM range(400)) src WHERE t.id = src.id",
        "UPDATE t SET s = 'mine' WHERE id IN (SELECT range * 3 FROM range(400))",
        "DELETE FROM t WHERE id IN (SELECT range * 3 FROM range(400))",
    ],
)
def test_joins_of_update_and_delete_read_by_key_too(clash, con, table, statement):
    clash.refused(statement, "UPDATE t SET id = 1101 WHERE id = 1", "CONCURRENT_APPEND")
    clash.allowed(statement, "UPDATE t SET s = 'theirs' WHERE id = 4")
    assert rows(con, "SELECT count(*) FROM t WHERE s = 'theirs'") == [(1,)]


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM t WHERE id NOT IN (SELECT range FROM range(990))",
        "DELETE FROM t WHERE NOT EXISTS (FROM range(990) r(i) WHERE i = id)",
        "UPDATE t SET s = 'mine' WHERE v = 77 OR id IN (SELECT range FROM range(3))",
    ],
)
def test_what_keeps_rows_without_a_match_reads_more(clash, con, table, statement):
    clash.refused(statement, "UPDATE t SET id = 1101, v = 77 WHERE id = 4", "CONCURRENT_APPEND")


def test_a_source_that_the_join_never_had_to_read_reads_all(clash, con, level, lake):
    """The target is empty: the join finds out before it has seen a row of the source."""
    con.execute(f"CREATE TABLE t (id BIGINT, v INT, s VARCHAR) WITH ('delta.isolationLevel' = '{level}')")
    con.execute("BEGIN")
    con.execute(UPDATE_ONLY)
    con.execute("INSERT INTO t VALUES (9999, 0, 'mine')")
    theirs = clash.connect(lake)
    theirs.execute("INSERT INTO t SELECT 4, count(*), 'x' FROM t")
    with pytest.raises(duckdb.TransactionException, match="CONCURRENT_APPEND"):
        con.execute("COMMIT")


JOINED = {
    "merge": "MERGE INTO t USING src ON t.id = src.id WHEN MATCHED THEN UPDATE SET v = {value}",
    "update": "UPDATE t SET v = {value} FROM src WHERE t.id = src.id",
    "delete": "DELETE FROM t USING src WHERE t.id = src.id AND {value} >= 0",
    "insert": "INSERT INTO t SELECT t.id, {value}, 'copied' FROM t JOIN src ON t.id = src.id",
}


@pytest.mark.parametrize("statement", JOINED)
def test_trap_36_keys_that_match_nothing_today_count_in_a_transaction(con, connect, lake, statement, level):
    """The table is the smaller side: its keys could leave out rows of the source while they are scanned."""
    con.execute(f"CREATE TABLE t (id BIGINT, v INT, s VARCHAR) WITH ('delta.isolationLevel' = '{level}')")
    con.execute("INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c')")
    con.execute("CREATE TEMP TABLE src AS SELECT range AS id FROM range(20000)")
    con.execute("BEGIN")
    con.execute(JOINED[statement].format(value="t.v"))
    connect(lake).execute("INSERT INTO t SELECT 9000, 1, 'x' FROM t LIMIT 1")
    with pytest.raises(duckdb.TransactionException, match="CONCURRENT_APPEND"):
        con.execute("COMMIT")


@pytest.mark.parametrize("statement", JOINED)
@pytest.mark.parametrize("key, refused", [(5000, True), (4999, False)])
def test_trap_36_keys_that_match_nothing_today_count_without_a_transaction(con, connect, lake, table, statement, key, refused):
    """The other commits while the statement runs; statistics of the table could leave out rows of the source while it is planned."""
    other = connect(lake)
    happened = []

    def batches():
        other.execute(f"INSERT INTO t SELECT {key}, 1, 'x' FROM t LIMIT 1")
        happened.append(True)
        yield pa.record_batch({"n": [0]})

    con.register("meanwhile", pa.RecordBatchReader.from_batches(pa.schema({"n": pa.int64()}), batches()))
    con.execute("CREATE TEMP TABLE src AS SELECT * FROM (VALUES (5::BIGINT), (5000)) v(id)")
    sql = JOINED[statement].format(value="t.v + (SELECT max(n)::INT FROM meanwhile)")
    if not refused:
        con.execute(sql)
        assert delta_log.info(table)["operationMetrics"]["numConflictsResolved"] == "1"
    else:
        with pytest.raises(duckdb.TransactionException, match="CONCURRENT_APPEND"):
            con.execute(sql)
    assert happened


def test_more_keys_than_are_kept_leave_their_bounds(clash, con):
    con.execute("CREATE TABLE t AS SELECT range AS id, 0 AS v, 'old' AS s FROM range(100)")
    mine = "MERGE INTO t USING (SELECT range * 2 + 10000 AS id FROM range(5000000)) src ON t.id = src.id WHEN MATCHED THEN DELETE"
    keep_busy = "; INSERT INTO t VALUES (-1, 0, 'mine')"
    clash.allowed(mine + keep_busy, "INSERT INTO t SELECT 5000, 1, 'x' FROM t LIMIT 1")
    clash.refused(mine + keep_busy, "INSERT INTO t SELECT 10001, 1, 'x' FROM t LIMIT 1", "CONCURRENT_APPEND")  # no key, but who knows


def _upsert_until_done(lake, seed, rounds, pipe):
    rng = random.Random(seed)
    con = connect_lake(lake, threads=1)
    con.execute("SET braid_durability = 'none'")
    touched = 0
    for _ in range(rounds):
        keys = rng.sample(range(40), 8)
        while True:
            try:
                con.execute(
                    f"""MERGE INTO t USING (SELECT unnest({keys}) AS id) src ON t.id = src.id
                        WHEN MATCHED THEN UPDATE SET n = t.n + 1 WHEN NOT MATCHED THEN INSERT VALUES (src.id, 1)"""
                )
                break
            except duckdb.TransactionException:
                continue
        touched += len(keys)
    pipe.send(touched)
    pipe.close()


def test_no_upsert_of_many_processes_is_lost_or_doubled(con, lake, level):
    con.execute(f"CREATE TABLE t (id BIGINT, n BIGINT) WITH ('delta.isolationLevel' = '{level}')")
    runs = []
    for seed in range(4):
        receiving, sending = SPAWN.Pipe(duplex=False)
        process = SPAWN.Process(target=_upsert_until_done, args=(str(lake), seed, 12, sending))
        process.start()
        sending.close()
        runs.append((process, receiving))
    touched = sum(receiving.recv() for _, receiving in runs)
    for process, _ in runs:
        process.join(PATIENCE)
    assert rows(con, "SELECT count(*) - count(DISTINCT id), sum(n)::BIGINT FROM t") == [(0, touched)]


def test_merges_into_partitions_of_their_own(con, lake):
    con.execute("CREATE TABLE t (id BIGINT, p VARCHAR, v INT) PARTITIONED BY (p)")
    con.execute("INSERT INTO t SELECT range, 'p' || range % 4, 0 FROM range(400)")
    merge = """MERGE INTO t USING (SELECT range * 4 + {0} AS id, 'p{0}' AS p FROM range(120)) src ON t.id = src.id AND t.p = src.p
               WHEN MATCHED THEN UPDATE SET v = 1 WHEN NOT MATCHED THEN INSERT VALUES (src.id, src.p, 2)"""
    outcomes = race(lake, [[merge.format(partition)] for partition in range(4)])
    assert [outcome.error for outcome in outcomes] == [None] * 4
    assert rows(con, "SELECT count(*), count(*) FILTER (v = 1), count(*) FILTER (v = 2) FROM t") == [(480, 400, 80)]


def test_files_of_other_keys_are_not_read(con, lake):
    con.execute("CREATE TABLE t (id BIGINT, v INT)")
    for part in range(8):
        con.execute(f"INSERT INTO t SELECT range, 0 FROM range({part * 100}, {part * 100 + 100})")
    con.execute("CREATE TEMP TABLE src AS SELECT 250 + range AS id, 7 AS v FROM range(100)")
    for clauses, joined in (
        ("WHEN MATCHED THEN UPDATE SET v = src.v", "update only"),
        ("WHEN NOT MATCHED THEN INSERT VALUES (src.id, src.v)", "insert only"),
        ("WHEN MATCHED THEN UPDATE SET v = src.v WHEN NOT MATCHED THEN INSERT VALUES (src.id, src.v)", "both"),
    ):
        con.execute("BEGIN")
        plan = con.execute(f"EXPLAIN (ANALYZE, FORMAT json) MERGE INTO t USING src ON t.id = src.id {clauses}").fetchall()[0][1]
        con.execute("ROLLBACK")
        assert '"Total Files Read": "2"' in plan, joined


def test_eight_processes_merge_interleaved_keys_into_one_file(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id, 0 AS n FROM range(100000)")
    merge = """MERGE INTO t USING (SELECT range * 8 + {0} AS id FROM range(13000)) src ON t.id = src.id
               WHEN MATCHED AND src.id % 3 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET n = n + 1
               WHEN NOT MATCHED THEN INSERT VALUES (src.id, -1)"""
    outcomes = race(lake, [[merge.format(process)] for process in range(8)])
    assert [outcome.error for outcome in outcomes] == [None] * 8
    assert rows(con, "SELECT count(*), count(*) FILTER (n = 1), count(*) FILTER (n = -1) FROM t") == [
        (104000 - 33334, 100000 - 33334, 4000)
    ]
    infos = [delta_log.info(lake / "t", version) for version in range(1, 9)]
    assert {info["readVersion"] for info in infos} == {0}
    assert {info["operationMetrics"]["numSourceRows"] for info in infos} == {"13000"}
    assert sum(int(info["operationMetrics"]["numConflictsResolved"]) for info in infos) == 28
