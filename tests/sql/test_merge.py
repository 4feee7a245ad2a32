# SPDX-License-Identifier: Apache-2.0
"""MERGE INTO: every clause, what the log says of it, and the corners: keys that are NULL, double or spelt oddly, sources of every kind."""

import json
import re

import duckdb
import pytest

import delta_log


def rows(con, query="FROM t ORDER BY ALL"):
    return con.execute(query).fetchall()


@pytest.fixture(params=["vectors", "copy on write"])
def table(con, request):
    """t: ids 0..9, v = 10 id, s = 'old'."""
    vectors = "true" if request.param == "vectors" else "false"
    con.execute(f"CREATE TABLE t (id BIGINT, v INT, s VARCHAR) WITH ('delta.enableDeletionVectors' = '{vectors}')")
    con.execute("INSERT INTO t SELECT range, range * 10, 'old' FROM range(10)")
    return con


def test_upsert(table, lake):
    done = table.execute(
        """MERGE INTO t USING (VALUES (3, 33, 'a'), (4, 44, 'b'), (100, 1, 'c')) AS src(id, v, s) ON t.id = src.id
           WHEN MATCHED THEN UPDATE SET v = src.v, s = src.s
           WHEN NOT MATCHED THEN INSERT VALUES (src.id, src.v, src.s)"""
    ).fetchall()
    assert done == [(3,)]
    expected = [(i, i * 10, "old") for i in range(10) if i not in (3, 4)] + [(3, 33, "a"), (4, 44, "b"), (100, 1, "c")]
    assert rows(table) == sorted(expected)
    assert delta_log.version(lake / "t") == 2  # one commit


def test_every_clause_in_one_statement(table, lake):
    done = table.execute(
        """MERGE INTO t AS target USING (SELECT range * 2 AS id, range AS n FROM range(7)) AS source ON target.id = source.id
           WHEN MATCHED AND source.n = 1 THEN DELETE
           WHEN MATCHED AND source.n = 2 THEN UPDATE SET s = 'second', v = target.v + source.n
           WHEN MATCHED AND source.n < 4 THEN UPDATE SET s = 'third'
           WHEN NOT MATCHED BY TARGET AND source.n = 6 THEN INSERT (id, s) VALUES (source.id, 'new')
           WHEN NOT MATCHED BY TARGET THEN INSERT (id) VALUES (-source.id)
           WHEN NOT MATCHED BY SOURCE AND target.id = 7 THEN DELETE
           WHEN NOT MATCHED BY SOURCE AND target.id < 5 THEN UPDATE SET s = 'alone'"""
    ).fetchall()
    assert done == [(1 + 1 + 2 + 2 + 1 + 2,)]
    assert rows(table) == [
        (-10, None, None),
        (0, 0, "third"),
        (1, 10, "alone"),
        (3, 30, "alone"),
        (4, 42, "second"),
        (5, 50, "old"),
        (6, 60, "third"),
        (8, 80, "old"),
        (9, 90, "old"),
        (12, None, "new"),
    ]
    commit = delta_log.info(lake / "t")
    assert commit["operation"] == "MERGE"
    assert commit["isBlindAppend"] is False
    metrics = {name: commit["operationMetrics"][name] for name in commit["operationMetrics"] if name.startswith("numTargetRows")}
    expected = {
        "numTargetRowsInserted": "2",
        "numTargetRowsUpdated": "5",
        "numTargetRowsMatchedUpdated": "3",
        "numTargetRowsNotMatchedBySourceUpdated": "2",
        "numTargetRowsDeleted": "2",
        "numTargetRowsMatchedDeleted": "1",
        "numTargetRowsNotMatchedBySourceDeleted": "1",
    }
    assert {name: metrics[name] for name in expected} == expected


def test_returning_with_the_action(table):
    done = table.execute(
        """MERGE INTO t USING (VALUES (3, 33), (4, 44), (100, 1)) AS src(id, v) ON t.id = src.id
           WHEN MATCHED AND src.id = 3 THEN DELETE
           WHEN MATCHED THEN UPDATE SET v = src.v
           WHEN NOT MATCHED THEN INSERT (id, v) VALUES (src.id, src.v)
           RETURNING merge_action, id, v, s, id + v"""
    ).fetchall()
    assert sorted(done) == [("DELETE", 3, 30, "old", 33), ("INSERT", 100, 1, None, 101), ("UPDATE", 4, 44, "old", 48)]


def test_trap_26_returning_of_an_update_by_source_shows_the_whole_row(table):
    done = table.execute(
        """MERGE INTO t USING (VALUES (3)) AS src(id) ON t.id = src.id
           WHEN NOT MATCHED BY SOURCE AND t.id < 5 THEN UPDATE SET v = -1
           RETURNING merge_action, *"""
    ).fetchall()
    assert sorted(done) == [("UPDATE", i, -1, "old") for i in (0, 1, 2, 4)]
    assert rows(table, "FROM t WHERE id < 5 ORDER BY id") == [(i, 30 if i == 3 else -1, "old") for i in range(5)]


@pytest.mark.parametrize(
    "clause",
    [
        "WHEN MATCHED AND EXISTS (SELECT 1 FROM memory.z WHERE z.a = src.id) THEN UPDATE SET v = 1",
        "WHEN MATCHED THEN UPDATE SET v = (SELECT b FROM memory.z WHERE z.a = src.id)",
        "WHEN MATCHED AND t.id IN (SELECT a FROM memory.z WHERE z.b >= src.n) THEN DELETE",
    ],
)
def test_trap_27_subqueries_about_the_source_beside_by_source_clauses(table, clause):
    """DuckDB itself ends in an INTERNAL error here; the answer is that of the same clauses without BY SOURCE, and BY SOURCE after."""
    table.execute("CREATE TABLE memory.z AS SELECT range AS a, range * 2 AS b FROM range(8)")
    table.execute("CREATE TABLE memory.model AS FROM t")
    source = "(SELECT range * 2 AS id, range AS n FROM range(6)) AS src"
    table.execute(f"MERGE INTO t USING {source} ON t.id = src.id {clause} WHEN NOT MATCHED BY SOURCE THEN UPDATE SET s = 'alone'")
    model = table.cursor()
    model.execute("USE memory")
    model.execute(f"MERGE INTO model t USING {source} ON t.id = src.id {clause}")
    model.execute("UPDATE model SET s = 'alone' WHERE id % 2 = 1")
    assert rows(table) == rows(model, "FROM memory.model ORDER BY ALL")


def test_two_source_rows_for_one_row_are_refused_and_named(table, lake):
    before = rows(table)
    for clauses in (
        "WHEN MATCHED THEN UPDATE SET v = src.v",
        "WHEN MATCHED AND src.v = 1 THEN DELETE WHEN MATCHED THEN UPDATE SET v = src.v",
        "WHEN MATCHED AND src.v > 0 THEN DELETE",
    ):
        with pytest.raises(duckdb.InvalidInputException, match="DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE.*id=3"):
            table.execute(f"MERGE INTO t USING (VALUES (3, 1), (3, 2), (4, 3)) src(id, v) ON t.id = src.id {clauses}")
    assert rows(table) == before
    assert delta_log.version(lake / "t") == 1
    assert delta_log.files_on_disk(lake / "t") == set(delta_log.active(lake / "t"))


def test_the_row_in_a_message_is_cut_between_characters(table):
    for padding in range(4):
        table.execute(f"UPDATE t SET s = repeat('x', {padding}) || repeat(chr(128512), 30) WHERE id = 3")
        with pytest.raises(duckdb.InvalidInputException, match="id=3"):
            table.execute("MERGE INTO t USING (VALUES (3, 1), (3, 2)) src(id, v) ON t.id = src.id WHEN MATCHED THEN UPDATE SET v = src.v")


def test_two_source_rows_of_which_one_acts_are_fine(table):
    done = table.execute(
        """MERGE INTO t USING (VALUES (3, 1), (3, 2)) src(id, v) ON t.id = src.id
           WHEN MATCHED AND src.v = 2 THEN UPDATE SET v = src.v"""
    ).fetchall()
    assert done == [(1,)]
    assert rows(table, "SELECT v FROM t WHERE id = 3") == [(2,)]


def test_a_lone_unconditional_delete_may_match_twice(table, lake):
    done = table.execute("MERGE INTO t USING (VALUES (3), (3), (4)) src(id) ON t.id = src.id WHEN MATCHED THEN DELETE").fetchall()
    assert done == [(2,)]
    assert rows(table, "SELECT count(*) FROM t") == [(8,)]
    assert delta_log.info(lake / "t")["operationMetrics"]["numTargetRowsMatchedDeleted"] == "2"


def test_values_are_computed_only_for_rows_that_an_arm_takes(table):
    table.execute(
        """MERGE INTO t USING (VALUES (3, '33'), (4, 'not a number'), (100, '7'), (101, 'neither')) src(id, text) ON t.id = src.id
           WHEN MATCHED AND src.text <> 'not a number' THEN UPDATE SET v = src.text::INT
           WHEN NOT MATCHED AND src.id = 100 THEN INSERT VALUES (src.id, src.text::INT, 'new')"""
    )
    assert rows(table, "FROM t WHERE id IN (3, 4, 100, 101) ORDER BY id") == [(3, 33, "old"), (4, 40, "old"), (100, 7, "new")]


def test_do_nothing_and_error(table):
    table.execute(
        """MERGE INTO t USING (VALUES (3, 1), (4, 2)) src(id, v) ON t.id = src.id
           WHEN MATCHED AND src.id = 3 THEN DO NOTHING WHEN MATCHED THEN UPDATE SET v = src.v"""
    )
    assert rows(table, "SELECT v FROM t WHERE id IN (3, 4) ORDER BY id") == [(30,), (2,)]
    with pytest.raises(duckdb.ConstraintException, match="no such id: 77"):
        table.execute(
            "MERGE INTO t USING (VALUES (3), (77)) src(id) ON t.id = src.id "
            "WHEN MATCHED THEN UPDATE SET v = 0 WHEN NOT MATCHED THEN ERROR 'no such id: ' || src.id"
        )
    assert rows(table, "SELECT v FROM t WHERE id = 3") == [(30,)]


def test_null_keys_match_only_by_is_not_distinct_from(table):
    table.execute("INSERT INTO t VALUES (NULL, 1, 'null')")
    source = "(VALUES (NULL::BIGINT, 2), (5, 3)) src(id, v)"
    table.execute(f"MERGE INTO t USING {source} ON t.id = src.id WHEN MATCHED THEN UPDATE SET v = src.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (src.id, src.v)")
    assert rows(table, "FROM t WHERE id IS NULL ORDER BY v") == [(None, 1, "null"), (None, 2, None)]
    table.execute("DELETE FROM t WHERE v = 2")
    table.execute(f"MERGE INTO t USING {source} ON t.id IS NOT DISTINCT FROM src.id WHEN MATCHED THEN UPDATE SET v = src.v WHEN NOT MATCHED THEN INSERT (id) VALUES (1000)")
    assert rows(table, "FROM t WHERE id IS NULL ORDER BY v") == [(None, 2, "null")]


def test_one_source_row_changes_every_row_of_its_key(table):
    table.execute("INSERT INTO t SELECT id, v, 'twin' FROM t WHERE id < 3")
    done = table.execute("MERGE INTO t USING (VALUES (1, 5), (2, 6)) src(id, v) ON t.id = src.id WHEN MATCHED THEN UPDATE SET v = src.v").fetchall()
    assert done == [(4,)]
    assert rows(table, "FROM t WHERE id IN (1, 2) ORDER BY ALL") == [(1, 5, "old"), (1, 5, "twin"), (2, 6, "old"), (2, 6, "twin")]


def test_an_empty_source(table, lake):
    empty = "(SELECT 1 AS id, 2 AS v WHERE random() > 2) src"
    table.execute(f"MERGE INTO t USING {empty} ON t.id = src.id WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id) VALUES (src.id)")
    assert delta_log.version(lake / "t") == 1  # nothing to commit
    table.execute(f"MERGE INTO t USING {empty} ON t.id = src.id WHEN MATCHED THEN DELETE WHEN NOT MATCHED BY SOURCE AND t.id > 2 THEN DELETE")
    assert rows(table, "SELECT id FROM t ORDER BY id") == [(0,), (1,), (2,)]


def test_the_source_is_the_target(table):
    table.execute(
        """MERGE INTO t USING t AS src ON t.id = src.id + 1
           WHEN MATCHED THEN UPDATE SET v = src.v
           WHEN NOT MATCHED THEN INSERT VALUES (src.id + 1, src.v, 'next')"""
    )
    assert rows(table) == [(0, 0, "old")] + [(i, i * 10 - 10, "old") for i in range(1, 10)] + [(10, 90, "next")]


def test_a_column_set_to_itself(table):
    table.execute("MERGE INTO t USING (VALUES (3)) src(id) ON t.id = src.id WHEN MATCHED THEN UPDATE SET v = t.v, id = t.id, s = 'touched'")
    assert rows(table, "FROM t WHERE id = 3") == [(3, 30, "touched")]


def test_conditions_of_other_kinds(table):
    table.execute(
        """MERGE INTO t USING (VALUES (2, 4, 'range')) src(low, high, s) ON t.id BETWEEN src.low AND src.high
           WHEN MATCHED THEN UPDATE SET s = src.s"""
    )
    table.execute("MERGE INTO t USING (VALUES (16, 'expression')) src(id, s) ON t.id * 2 = src.id WHEN MATCHED THEN UPDATE SET s = src.s")
    table.execute(
        """MERGE INTO t USING (VALUES (5, 'either'), (90, 'either')) src(k, s) ON t.id = src.k OR t.v = src.k
           WHEN MATCHED THEN UPDATE SET s = src.s WHEN NOT MATCHED THEN INSERT (s) VALUES ('none')"""
    )
    table.execute("MERGE INTO t USING (SELECT 1) src ON false WHEN NOT MATCHED THEN INSERT (id, s) VALUES (11, 'never')")
    changed = {2: "range", 3: "range", 4: "range", 8: "expression", 5: "either", 9: "either"}
    expected = [(i, changed.get(i, "old")) for i in range(10)] + [(11, "never")]
    assert rows(table, "SELECT id, s FROM t ORDER BY id") == expected


@pytest.mark.parametrize("place", ["lake.main.t", "memory.main.t"])
def test_a_condition_that_contradicts_itself_matches_nothing(con, place):
    con.execute(f"CREATE TABLE {place} AS SELECT range AS id, 1 AS v FROM range(3)")
    merge = f"MERGE INTO {place} AS t USING (VALUES (1), (7)) AS src(id) ON t.id = src.id AND t.v BETWEEN 5 AND 4 "
    assert rows(con, merge + "WHEN MATCHED THEN DELETE") == [(0,)]
    assert rows(con, merge + "WHEN MATCHED AND t.v = 1 THEN UPDATE SET v = 2 WHEN MATCHED THEN DELETE") == [(0,)]
    assert rows(con, merge + "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (src.id, 9)") == [(2,)]
    assert rows(con, merge + "WHEN MATCHED THEN DELETE WHEN NOT MATCHED BY SOURCE AND t.v = 9 THEN DELETE") == [(2,)]
    assert rows(con, f"FROM {place} ORDER BY ALL") == [(0, 1), (1, 1), (2, 1)]


def test_subqueries_in_the_condition(table):
    table.execute("CREATE TABLE memory.z AS SELECT range AS a FROM range(4, 7)")
    table.execute(
        """MERGE INTO t USING (VALUES (3), (4), (5), (50)) src(id) ON t.id = src.id AND t.id IN (SELECT a FROM memory.z)
           WHEN MATCHED THEN UPDATE SET s = 'in' WHEN NOT MATCHED THEN INSERT (id, s) VALUES (src.id, 'out')"""
    )
    assert rows(table, "FROM t WHERE s <> 'old' ORDER BY id") == [(3, None, "out"), (4, 40, "in"), (5, 50, "in"), (50, None, "out")]


def test_sources_of_every_kind(table, tmp_path):
    import pyarrow as pa

    def merge(source, key, with_clause=""):
        table.execute(
            f"""{with_clause} MERGE INTO t USING {source} ON t.id = src.id WHEN MATCHED THEN UPDATE SET s = src.s
                WHEN NOT MATCHED THEN INSERT (id, s) VALUES (src.id, src.s)"""
        )
        assert rows(table, f"SELECT s FROM t WHERE id = {key}") == [("by " + str(key),)], source

    table.execute(f"COPY (SELECT 1 AS id, 'by 1' AS s) TO '{tmp_path}/one.parquet'")
    table.execute(f"COPY (SELECT 2 AS id, 'by 2' AS s) TO '{tmp_path}/two.csv'")
    table.execute("CREATE TABLE other AS SELECT 3 AS id, 'by 3' AS s")
    table.execute("CREATE TEMP TABLE temporary AS SELECT 4 AS id, 'by 4' AS s")
    arrow = pa.table({"id": [5], "s": ["by 5"]})
    table.register("arrow", arrow)
    merge(f"'{tmp_path}/one.parquet' AS src", 1)
    merge(f"read_csv('{tmp_path}/two.csv') AS src", 2)
    merge("other AS src", 3)
    merge("temporary AS src", 4)
    merge("arrow AS src", 5)
    merge("src", 6, "WITH src AS (SELECT 6 AS id, 'by 6' AS s)")
    merge("src", 7, "WITH src AS MATERIALIZED (SELECT 7 AS id, 'by 7' AS s)")
    merge("(SELECT max(id) - 1 AS id, 'by 8' AS s FROM t) AS src", 8)
    merge("(VALUES (900, 'by 900')) AS src(id, s)", 900)


def test_names_that_need_quotes_or_differ_in_case(con):
    con.execute('CREATE TABLE t ("User Id" BIGINT, "a.b" INT, "UserCode" VARCHAR NOT NULL, "y--1" INT)')
    con.execute("INSERT INTO t VALUES (1, 1, 'a', 1), (2, 2, 'b', 2)")
    con.execute(
        """MERGE INTO T AS Target USING (VALUES (1, 9), (3, 8)) AS "odd source"("the id", n) ON Target."user id" = "odd source"."the id"
           WHEN MATCHED THEN UPDATE SET "A.B" = n, USERCODE = 'A'
           WHEN NOT MATCHED THEN INSERT ("User Id", usercode, "Y--1") VALUES ("the id", 'new', n)"""
    )
    assert rows(con) == [(1, 9, "A", 1), (2, 2, "b", 2), (3, None, "new", 8)]
    with pytest.raises(duckdb.ConstraintException, match="UserCode"):
        con.execute("""MERGE INTO t USING (VALUES (7)) src(k) ON t."User Id" = k WHEN NOT MATCHED THEN INSERT ("User Id") VALUES (k)""")


def test_nested_columns(con):
    con.execute("CREATE TABLE t (id BIGINT, st STRUCT(k INT, name VARCHAR), l INT[])")
    con.execute("INSERT INTO t SELECT range, {'k': range, 'name': 'n' || range}, [range] FROM range(5)")
    con.execute(
        """MERGE INTO t USING (VALUES (3, 'new'), (77, 'more')) src(k, name) ON t.st.k = src.k
           WHEN MATCHED THEN UPDATE SET st = {'k': t.st.k, 'name': src.name}, l = list_append(t.l, 1)
           WHEN NOT MATCHED THEN INSERT (id, st) VALUES (src.k, NULL)"""
    )
    assert rows(con, "SELECT id, st, l FROM t WHERE id > 2 ORDER BY id") == [
        (3, {"k": 3, "name": "new"}, [3, 1]),
        (4, {"k": 4, "name": "n4"}, [4]),
        (77, None, None),
    ]


@pytest.mark.parametrize("vectors", ["true", "false"])
def test_partitioned_tables_and_updates_of_partition_columns(con, lake, vectors):
    con.execute(f"CREATE TABLE t (id BIGINT, p VARCHAR, v INT) PARTITIONED BY (p) WITH ('delta.enableDeletionVectors' = '{vectors}')")
    con.execute("INSERT INTO t SELECT range, 'p ' || (range % 3), range FROM range(12)")
    con.execute(
        """MERGE INTO t USING (VALUES (1, 'p 1', 'p 2'), (2, 'p 2', 'p/é 9'), (100, 'x', NULL)) src(id, p, target) ON t.id = src.id AND t.p = src.p
           WHEN MATCHED THEN UPDATE SET p = src.target WHEN NOT MATCHED THEN INSERT VALUES (src.id, src.target, 0)"""
    )
    assert rows(con, "SELECT p, count(*), sum(id)::INT FROM t GROUP BY p ORDER BY p NULLS LAST") == [
        ("p 0", 4, 18), ("p 1", 3, 21), ("p 2", 4, 25), ("p/é 9", 1, 2), (None, 1, 100)]  # fmt: skip


def test_twice_the_same_merge_changes_rows_in_place(con):
    con.execute("CREATE TABLE t (id BIGINT, p VARCHAR, v INT) PARTITIONED BY (p)")
    statement = """MERGE INTO t USING (SELECT range AS id, 'a b/c%d é' AS p, range AS v FROM range(5)) src ON t.id = src.id AND t.p = src.p
                   WHEN MATCHED THEN UPDATE SET v = src.v + 1 WHEN NOT MATCHED THEN INSERT VALUES (src.id, src.p, src.v)"""
    con.execute(statement)
    con.execute(statement)
    assert rows(con, "SELECT count(*), sum(v)::INT FROM t") == [(5, 15)]


def test_a_merge_inside_a_transaction_meets_its_own_rows(table, lake):
    table.execute("BEGIN")
    table.execute("INSERT INTO t VALUES (50, 1, 'mine')")
    table.execute("DELETE FROM t WHERE id = 3")
    merge = """MERGE INTO t USING (VALUES (3, 1), (4, 2), (50, 3)) src(id, v) ON t.id = src.id
               WHEN MATCHED AND src.v = 3 THEN DELETE WHEN MATCHED THEN UPDATE SET v = src.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (src.id, src.v)"""
    assert table.execute(merge).fetchall() == [(3,)]
    assert table.execute(merge).fetchall() == [(3,)]
    table.execute("COMMIT")
    assert rows(table, "SELECT id, v FROM t WHERE id IN (3, 4, 50) ORDER BY id") == [(3, 1), (4, 2), (50, 3)]
    assert delta_log.version(lake / "t") == 2
    assert delta_log.info(lake / "t")["operation"] == "TRANSACTION"


def test_insert_only_rewrites_nothing(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id, 1 AS v FROM range(1000)")
    con.execute("MERGE INTO t USING (SELECT range AS id FROM range(900, 1100)) src ON t.id = src.id WHEN NOT MATCHED THEN INSERT VALUES (src.id, 2)")
    assert rows(con, "SELECT count(*), count(DISTINCT id), sum(v)::INT FROM t") == [(1100, 1100, 1200)]
    assert delta_log.actions(lake / "t", "remove") == []
    (add,) = delta_log.actions(lake / "t", "add")
    assert delta_log.stats(add)["numRecords"] == 100
    assert delta_log.info(lake / "t")["isBlindAppend"] is False


def test_an_append_only_table_takes_insert_only_merges(con):
    con.execute("CREATE TABLE t (id BIGINT) WITH ('delta.appendOnly' = 'true')")
    con.execute("MERGE INTO t USING (VALUES (1), (2)) src(id) ON t.id = src.id WHEN NOT MATCHED THEN INSERT VALUES (src.id)")
    with pytest.raises(duckdb.Error, match="appendOnly"):
        con.execute("MERGE INTO t USING (VALUES (1)) src(id) ON t.id = src.id WHEN MATCHED THEN DELETE")
    assert rows(con) == [(1,), (2,)]


@pytest.mark.parametrize(
    "statement, message",
    [
        ("MERGE INTO t USING (SELECT 1 AS id) src ON t.id = src.id WHEN MATCHED THEN UPDATE SET nothing = 1", "nothing"),
        ("MERGE INTO t USING (SELECT 1 AS id) src ON t.id = src.id WHEN NOT MATCHED THEN INSERT (nothing) VALUES (1)", "nothing"),
        ("MERGE INTO t USING (SELECT 1 AS id) src ON t.id = src.id WHEN NOT MATCHED THEN INSERT VALUES (t.v, 1, 'x')", "v"),
        ("MERGE INTO t USING (SELECT 1 AS id) src ON t.id = src.id WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = src.id", "src"),
        ("MERGE INTO t USING (SELECT 1 AS id) src ON t.id = src.id WHEN NOT MATCHED THEN DELETE", "NOT MATCHED"),
        ("MERGE INTO t USING (SELECT 1 AS id) src ON t.id = src.id WHEN MATCHED THEN UPDATE SET v = 'x'", "x"),
        ("MERGE INTO t USING (SELECT 1 AS id) src ON id = id WHEN MATCHED THEN DELETE", "[Aa]mbiguous"),
        ("MERGE INTO t USING (SELECT 1 AS id) src ON t.id = src.id WHEN MATCHED THEN UPDATE SET v = 1, v = 2", "v"),
        ("MERGE INTO t USING nowhere src ON t.id = src.id WHEN MATCHED THEN DELETE", "nowhere"),
        ("MERGE INTO t AT (VERSION => 0) USING (SELECT 1 AS id) src ON t.id = src.id WHEN MATCHED THEN DELETE", "AT"),
    ],
)
def test_bad_statements_change_nothing(table, lake, statement, message):
    with pytest.raises(duckdb.Error, match=message):
        table.execute(statement)
    assert delta_log.version(lake / "t") == 1
    assert rows(table, "SELECT count(*) FROM t") == [(10,)]


def test_spellings_of_delta(con):
    con.execute("CREATE TABLE t (id BIGINT, v INT, s VARCHAR, l INT[])")
    con.execute("INSERT INTO t VALUES (1, 1, 'a', [1]), (2, 2, 'b', [2]), (3, 3, 'c', [3])")
    con.execute(
        """MERGE INTO lake.main.t AS target USING (VALUES (2, 20), (4, 40)) AS source(`id`, v) ON target.`id` = source.id
           WHEN MATCHED AND source.v > 0 THEN UPDATE SET target.v = CASE WHEN target.v > source.v THEN target.v ELSE source.v END, Target.s = 'x', l = [target.id, target.v]
           WHEN NOT MATCHED BY TARGET THEN INSERT (target.id, TARGET.v, s) VALUES (source.id, source.v, 'new')
           WHEN NOT MATCHED BY SOURCE AND target.id = 3 THEN UPDATE SET target.s = 'alone', target.v = (target.v + 1)"""
    )
    assert rows(con) == [(1, 1, "a", [1]), (2, 20, "x", [2, 2]), (3, 4, "alone", [3]), (4, 40, "new", None)]
    con.execute("MERGE INTO t USING (SELECT 1 AS id) src ON t.id = src.id WHEN MATCHED THEN UPDATE SET t.v = t.v * 100")
    assert rows(con, "SELECT v FROM t WHERE id = 1") == [(100,)]


STARS = """MERGE INTO t USING (SELECT 'extra' AS more, 'new' AS S, range AS id, -1 AS v FROM range(8, 12)) AS src ON t.id = src.id
           WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"""


@pytest.mark.parametrize("prefix", ["", "WITH unused AS (SELECT 1) "])
def test_stars_go_by_name(table, prefix):
    table.execute(prefix + STARS)
    assert rows(table, "FROM t WHERE id > 6 ORDER BY id") == [(7, 70, "old")] + [(i, -1, "new") for i in range(8, 12)]


def test_stars_from_a_table_with_parameters_and_explained(table):
    table.execute("CREATE TABLE updates (s VARCHAR, v INT, id BIGINT)")
    table.execute("INSERT INTO updates VALUES ('x', 1, 3), ('y', 2, 77)")
    merge = "MERGE INTO t USING updates ON t.id = updates.id AND t.v < $1 WHEN MATCHED AND updates.v = $2 THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    assert "BRAID MERGE" in table.execute("EXPLAIN " + merge.replace("$1", "100").replace("$2", "1")).fetchall()[0][1]
    assert table.execute(merge, [100, 1]).fetchall() == [(2,)]
    assert rows(table, "FROM t WHERE id IN (3, 77) ORDER BY id") == [(3, 1, "x"), (77, 2, "y")]
    returned = table.execute(merge + " RETURNING merge_action, id", [100, 1]).fetchall()
    assert sorted(returned) == [("UPDATE", 3)]


def test_stars_want_every_column_of_the_table(table):
    with pytest.raises(duckdb.BinderException, match='no column "s"'):
        table.execute("MERGE INTO t USING (SELECT 1 AS id, 2 AS v) src ON t.id = src.id WHEN NOT MATCHED THEN INSERT *")
    with pytest.raises(duckdb.BinderException, match='no column "v"'):
        table.execute("MERGE INTO t USING (SELECT 1 AS id, 'x' AS s) src ON t.id = src.id WHEN MATCHED THEN UPDATE SET *")


def test_merges_into_tables_of_duckdb_stay_as_they_are(con):
    con.execute("CREATE TABLE memory.m (id BIGINT, v INT)")
    con.execute("INSERT INTO memory.m VALUES (1, 1)")
    con.execute("MERGE INTO memory.m USING (SELECT 1 AS a, 2 AS b UNION ALL SELECT 3, 4) src ON m.id = a WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *")
    assert con.execute("FROM memory.m ORDER BY id").fetchall() == [(1, 2), (3, 4)]


def test_what_the_log_says_of_a_merge(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id, 0 AS v FROM range(10)")
    con.execute(
        """MERGE INTO t USING (VALUES (1, 5), (2, 6), (20, 7)) src(id, v) ON t.id = src.id
           WHEN MATCHED AND src.v > 5 THEN UPDATE SET v = src.v WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (src.id, src.v)"""
    )
    commit = delta_log.info(lake / "t")
    assert commit["operation"] == "MERGE"
    assert commit["operationMetrics"] | {
        "numSourceRows": "3",
        "numOutputRows": "2",
        "numTargetRowsInserted": "1",
        "numTargetRowsUpdated": "1",
        "numTargetRowsDeleted": "1",
        "numTargetFilesAdded": "1",
        "numTargetDeletionVectorsAdded": "1",
        "commitAttempts": "1",
        "numConflictsResolved": "0",
    } == commit["operationMetrics"]
    parameters = {name: json.loads(text) for name, text in commit["operationParameters"].items()}
    assert parameters["matchedPredicates"] == [{"predicate": "(v > 5)", "actionType": "update"}, {"actionType": "delete"}]
    assert parameters["notMatchedPredicates"] == [{"actionType": "insert"}]
    assert parameters["notMatchedBySourcePredicates"] == []
    assert re.fullmatch(r".*\bid\b.* = .*\bid\b.*", parameters["predicate"][0])


def test_trap_28_exists_in_the_condition_is_refused_and_harms_nothing(table, lake):
    merge = "MERGE INTO t USING (VALUES (3), (50)) src(id) ON t.id = src.id AND EXISTS (SELECT 1 FROM range(9) z(a) WHERE z.a = src.id) WHEN MATCHED THEN DELETE"
    with pytest.raises(duckdb.NotImplementedException, match="subquery"):
        table.execute(merge + " WHEN NOT MATCHED THEN INSERT (id) VALUES (src.id)")
    assert delta_log.version(lake / "t") == 1
    assert table.execute(merge).fetchall() == [(1,)]


def test_a_row_deleted_twice_is_returned_once(table):
    done = table.execute(
        "MERGE INTO t USING (VALUES (3), (3), (4), (3)) src(id) ON t.id = src.id WHEN MATCHED THEN DELETE "
        "WHEN NOT MATCHED BY SOURCE AND t.id = 9 THEN UPDATE SET v = 0 RETURNING merge_action, *"
    ).fetchall()
    assert sorted(done) == [("DELETE", 3, 30, "old"), ("DELETE", 4, 40, "old"), ("UPDATE", 9, 0, "old")]


def test_points_in_time_as_keys(con):
    """With and without time zone, of micro- and nanoseconds."""
    con.execute("SET TimeZone = 'America/Chicago'")
    con.execute("CREATE TABLE t (tz TIMESTAMPTZ, ts TIMESTAMP, n INT)")
    con.execute("INSERT INTO t VALUES ('2024-03-01 12:00:00+00', '2024-03-01 12:00:00', 0)")
    update = "WHEN MATCHED THEN UPDATE SET n = t.n + 1 WHEN NOT MATCHED THEN INSERT (n) VALUES (-1)"
    con.execute(f"MERGE INTO t USING (SELECT '2024-03-01 14:00:00+02'::TIMESTAMPTZ AS k) src ON t.tz = src.k {update}")
    con.execute(f"MERGE INTO t USING (SELECT '2024-03-01 12:00:00'::TIMESTAMP_NS AS k) src ON t.ts = src.k {update}")
    con.execute(f"MERGE INTO t USING (SELECT '2024-03-01 06:00:00'::TIMESTAMP AS k) src ON t.tz = src.k {update}")
    assert rows(con, "SELECT n FROM t") == [(3,)]


def test_a_null_struct_stays_null(con):
    con.execute("CREATE TABLE t (id BIGINT, st STRUCT(x INT, inner STRUCT(y INT)))".replace("inner", '"in"'))
    con.execute("INSERT INTO t VALUES (1, NULL), (2, {'x': NULL, 'in': NULL}), (3, {'x': 1, 'in': {'y': NULL}})")
    con.execute("""MERGE INTO t USING (SELECT 3 AS id, NULL AS st UNION ALL SELECT 4, NULL) src ON t.id = src.id
                   WHEN MATCHED THEN UPDATE SET st = src.st WHEN NOT MATCHED THEN INSERT VALUES (src.id, src.st) WHEN NOT MATCHED BY SOURCE THEN UPDATE SET id = t.id""")
    assert rows(con) == [(1, None), (2, {"x": None, "in": None}), (3, None), (4, None)]


EVOLVING = """MERGE WITH SCHEMA EVOLUTION INTO t USING (SELECT 3 AS id, 'x' AS Extra, {'a': 1} AS nested UNION ALL SELECT 77, 'y', {'a': 2}) src ON t.id = src.id
              WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"""


def test_schema_evolution_adds_columns_with_the_rows(table, lake):
    assert table.execute(EVOLVING).fetchall() == [(2,)]
    assert delta_log.version(lake / "t") == 2  # one commit
    assert [name for name, *_ in rows(table, "DESCRIBE t")] == ["id", "v", "s", "Extra", "nested"]
    assert rows(table, "FROM t WHERE id IN (3, 4, 77) ORDER BY id") == [
        (3, 30, "old", "x", {"a": 1}), (4, 40, "old", None, None), (77, None, None, "y", {"a": 2})]  # fmt: skip
    commit = delta_log.info(lake / "t")
    assert commit["operation"] == "MERGE"
    assert delta_log.actions(lake / "t", "metaData")
    table.execute(EVOLVING)  # nothing to add any more
    assert delta_log.actions(lake / "t", "metaData") == []


def test_a_plan_of_schema_evolution_changes_nothing(table, lake):
    table.execute("EXPLAIN " + EVOLVING)
    table.execute("BEGIN")
    table.execute(EVOLVING)
    assert len(rows(table, "DESCRIBE t")) == 5
    table.execute("ROLLBACK")
    with pytest.raises(duckdb.InvalidInputException, match="DELTA_MULTIPLE"):
        table.execute(EVOLVING.replace("SELECT 77", "SELECT 3"))
    assert len(rows(table, "DESCRIBE t")) == 3
    assert delta_log.version(lake / "t") == 1


def test_schema_evolution_in_a_transaction_comes_first(table, lake):
    table.execute("BEGIN")
    table.execute("DELETE FROM t WHERE id = 0")
    with pytest.raises(duckdb.BinderException, match="COMMIT first"):
        table.execute(EVOLVING)
    table.execute("ROLLBACK")
    table.execute("BEGIN")
    table.execute(EVOLVING)
    table.execute("UPDATE t SET extra = 'z' WHERE id = 4")
    table.execute("COMMIT")
    assert rows(table, "SELECT id, extra FROM t WHERE extra IS NOT NULL ORDER BY id") == [(3, "x"), (4, "z"), (77, "y")]
    assert delta_log.version(lake / "t") == 2


def test_schema_evolution_and_another_change_of_the_schema_clash(table, connect, lake):
    table.execute("BEGIN")
    table.execute(EVOLVING)
    connect(lake).execute("ALTER TABLE t ADD COLUMN other INT")
    with pytest.raises(duckdb.TransactionException, match="METADATA_CHANGED|MetadataChanged"):
        table.execute("COMMIT")
    assert [name for name, *_ in rows(table, "DESCRIBE t")] == ["id", "v", "s", "other"]


def test_generated_columns_and_constraints(con):
    con.execute("CREATE TABLE t (id BIGINT, twice BIGINT) WITH ('delta.enableDeletionVectors' = 'true')")
    con.execute("ALTER TABLE t ADD CONSTRAINT small CHECK (id < 100)")
    con.execute("INSERT INTO t VALUES (1, 2)")
    with pytest.raises(duckdb.ConstraintException, match="small"):
        con.execute("MERGE INTO t USING (SELECT 500 AS id) src ON t.id = src.id WHEN NOT MATCHED THEN INSERT (id) VALUES (src.id)")
    with pytest.raises(duckdb.ConstraintException, match="small"):
        con.execute("MERGE INTO t USING (SELECT 1 AS id) src ON t.id = src.id WHEN MATCHED THEN UPDATE SET id = 100")
    assert rows(con) == [(1, 2)]
