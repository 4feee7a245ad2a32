# SPDX-License-Identifier: Apache-2.0
"""What SQL tells of conflicts: those that happened (braid_last_conflict, the message), races that were lost and won in the end
(braid_conflicts), and those that would happen (braid_explain_conflict)."""

import datetime
import re

import duckdb
import pytest

import delta_log
from racing import commit_late


@pytest.fixture
def table(con, lake):
    """1000 rows in one file: id = 0..999, v = id, s = 'old'."""
    con.execute("""CREATE TABLE t WITH ("delta.isolationLevel" = 'Serializable') AS SELECT range AS id, range AS v, 'old' AS s FROM range(1000)""")
    return lake / "t"


def clash(connect, lake, mine, theirs, **settings):
    """The message and the record of the loser, who has read version 0."""
    loser = connect(lake)
    for name, value in settings.items():
        loser.execute(f"SET {name} = {value}")
    other = connect(lake)
    with pytest.raises(duckdb.TransactionException) as caught:
        commit_late(loser, mine, lambda: other.execute(theirs))
    record = loser.execute("SELECT * REPLACE (epoch_ms(winner_timestamp) AS winner_timestamp) FROM braid_last_conflict()")
    return str(caught.value), dict(zip([column[0] for column in record.description], record.fetchone()))


def test_message_and_record_tell_the_same(con, connect, lake, table):
    message, record = clash(connect, lake, "UPDATE t SET s = 'mine' WHERE id IN (7, 8)", "UPDATE t SET v = -1 WHERE id = 7")
    (file,) = {path for path in delta_log.active(table) if delta_log.active(table)[path]["path"] == record["file"]}
    assert record["class"] == "DELTA_CONCURRENT_APPEND" and record["sub_condition"] == "ROW_LEVEL_CHANGES"
    assert record["table"] == str(table) and record["operation"] == "UPDATE" and record["sqlstate"] == "2D521"
    assert (record["read_version"], record["winner_version"], record["winner_operation"]) == (0, 1, "UPDATE")
    assert record["winner_txn_id"] == delta_log.info(table, 1)["txnId"]
    assert record["winner_engine"] == delta_log.info(table, 1)["engineInfo"]
    assert record["winner_timestamp"] == delta_log.info(table, 1)["timestamp"]
    time = datetime.datetime.fromtimestamp(record["winner_timestamp"] / 1000, datetime.timezone.utc)
    assert record["old_rows"] == ["id=7, v=7, s=old"] and record["new_rows"] == ["id=7, v=-1, s=old"]
    assert record["rows"] == record["new_rows"] and record["rule"] == "R19" and record["retry_would_help"] is True
    assert re.search(r"id.*7.*8", record["matched_predicate"])
    for part in ("[DELTA_CONCURRENT_APPEND.ROW_LEVEL_CHANGES]", str(table), "version 1 (UPDATE by Braid/", "read version 0 where", file,
                 "Rows: (id=7, v=-1, s=old)", "They were: (id=7, v=7, s=old)", "Rule: R19", "Run the transaction again", "SQLSTATE: 2D521",
                 time.strftime("%Y-%m-%d %H:%M:%S")):
        assert part in message, (part, message)


def test_the_partition_of_the_file(con, connect, lake):
    con.execute("""CREATE TABLE t (id BIGINT, day VARCHAR) USING DELTA PARTITIONED BY (day)""")
    con.execute("INSERT INTO t SELECT range, 'd' || range % 2 FROM range(10)")
    message, record = clash(connect, lake, "DELETE FROM t WHERE id = 3", "DELETE FROM t WHERE id = 3")
    assert record["partition"] == '{"day":"d1"}'
    assert "d1" in message and record["class"] == "DELTA_CONCURRENT_DELETE_DELETE"


def test_lost_races(con, connect, lake, table):
    loser, other = connect(lake), connect(lake)
    commit_late(loser, "DELETE FROM t WHERE id = 1", lambda: [other.execute(f"DELETE FROM t WHERE id = {i}") for i in (10, 11)])
    loser.execute("SET braid_concurrency_mode = 'max'")
    commit_late(loser, "UPDATE t SET s = 'x' WHERE id IN (2, 3)", lambda: other.execute("UPDATE t SET v = 0 WHERE id = 3"))
    con.execute("DELETE FROM t WHERE id = 5")
    found = con.execute("""SELECT version, operation, read_version, attempts, conflicts_resolved, winners, rows_rebased, rows_repaired, statement_retries, txn_id
                           FROM braid_conflicts('t')""").fetchall()
    assert [row[:4] + row[4:-1] for row in found] == [
        (5, "UPDATE", 4, 1, 1, [4], 0, 2, 0),
        (3, "DELETE", 0, 1, 2, [1, 2], 1, 0, 0),
    ]
    assert [row[-1] for row in found] == [delta_log.info(table, 5)["txnId"], delta_log.info(table, 3)["txnId"]]
    assert con.execute("SELECT max(timestamp) <= now() FROM braid_conflicts('t')").fetchone() == (True,)


class TestDryRun:
    @pytest.fixture
    def con(self, con, table):
        con.execute("UPDATE t SET v = -7 WHERE id = 7")  # 1
        con.execute("DELETE FROM t WHERE id BETWEEN 100 AND 109")  # 2
        con.execute("INSERT INTO t VALUES (5000, 5000, 'new')")  # 3
        return con

    def clashes(self, con, statement, version=0):
        return con.execute("SELECT winner_version, class, rows FROM braid_explain_conflict('t', ?, version => ?)", [statement, version]).fetchall()

    def test_commits_since_then(self, con, table):
        files = delta_log.files_on_disk(table)
        assert self.clashes(con, "DELETE FROM t WHERE id = 300") == []
        assert self.clashes(con, "DELETE FROM t WHERE id >= 4000 OR id = 105") == [
            (2, "DELTA_CONCURRENT_DELETE_DELETE", ["id=105, v=105, s=old"]),
            (2, "DELTA_CONCURRENT_DELETE_READ", ["id=105, v=105, s=old"]),
            (3, "DELTA_CONCURRENT_APPEND", ["id=5000, v=5000, s=new"]),
        ]
        found = self.clashes(con, "UPDATE t SET s = 'mine' WHERE id = 7")
        assert {(version, kind) for version, kind, _ in found} == {
            (1, "DELTA_CONCURRENT_APPEND"), (1, "DELTA_CONCURRENT_DELETE_DELETE")}
        assert delta_log.version(table) == 3 and delta_log.files_on_disk(table) == files

    def test_from_a_later_version(self, con):
        assert self.clashes(con, "DELETE FROM t WHERE id = 105", 2) == []
        assert con.execute("FROM braid_explain_conflict('t', 'DELETE FROM t WHERE id < 1000')").fetchall() == []

    def test_the_level_counts(self, con):
        con.execute("ALTER TABLE t SET TBLPROPERTIES ('delta.isolationLevel' = 'WriteSerializable')")  # 4
        con.execute("INSERT INTO t VALUES (6000, 1, 'new')")  # 5
        assert self.clashes(con, "DELETE FROM t WHERE id >= 5500 OR id = 0", 4) == []

    def test_metadata(self, con):
        con.execute("ALTER TABLE t ADD COLUMN more INT")
        assert [row[:2] for row in self.clashes(con, "DELETE FROM t WHERE id = 300")] == [(4, "DELTA_METADATA_CHANGED")]

    @pytest.mark.parametrize("statement", ["MERGE INTO t USING (VALUES (105)) s(k) ON id = k WHEN MATCHED THEN DELETE",
                                           "INSERT INTO t SELECT max(id) + 1, 0, 'next' FROM t WHERE id BETWEEN 100 AND 110"])
    def test_other_statements(self, con, statement):
        assert {row[0] for row in self.clashes(con, statement)} == {2}

    @pytest.mark.parametrize("statement", [
        "DELETE FROM t WHERE id = 105", "with gone as (select 105 as id) delete from lake.t using gone where t.id = gone.id",
        "MERGE INTO `t` USING (VALUES (105)) s(k) ON id = k WHEN MATCHED THEN DELETE", "UPDATE t SET s = 'SINCE VERSION' WHERE v = 105",
        "INSERT INTO t SELECT max(id) + 1, 0, 'next' FROM t WHERE id BETWEEN 105 AND 110", "INSERT OVERWRITE TABLE t SELECT * FROM t WHERE id > 105"])  # fmt: skip
    def test_as_a_statement(self, con, table, statement):
        files = delta_log.files_on_disk(table)
        answer = con.execute(f"EXPLAIN CONFLICT {statement} SINCE VERSION 1").to_arrow_table()
        found = answer.select(["winner_version", "read_version"]).to_pylist()
        assert 2 in {row["winner_version"] for row in found} and {row["read_version"] for row in found} == {1}
        assert con.execute(f"explain conflict {statement}").fetchall() == []  # since the newest version nothing has happened
        assert delta_log.version(table) == 3 and delta_log.files_on_disk(table) == files

    @pytest.mark.parametrize("statement, reason", [
        ("SELECT 1", "expected INSERT, UPDATE, DELETE or MERGE"), ("", "expected INSERT"), ("DELETE FROM t SINCE VERSION x", "expected a number"),
        ("DELETE FROM nowhere", "nowhere"), ("DELETE FROM t SINCE VERSION 99", "99")])  # fmt: skip
    def test_a_statement_that_is_refused(self, con, statement, reason):
        with pytest.raises(duckdb.Error, match=reason):
            con.execute(f"EXPLAIN CONFLICT {statement}")

    def test_a_plan_of_an_insert_on_conflict_is_still_duckdbs(self, con):
        con.execute("CREATE TABLE memory.main.plain (a INT PRIMARY KEY)")
        assert con.execute("EXPLAIN INSERT INTO memory.main.plain VALUES (1) ON CONFLICT DO NOTHING").fetchall()

    def test_what_is_refused(self, con, lake):
        con.execute("CREATE TABLE u AS SELECT 1 AS id")
        for statement, reason in [("SELECT 1", "not one INSERT"), ("DELETE FROM t; DELETE FROM t", "not one INSERT"),
                                  ("DELETE FROM u", "changes table"), ("DELETE FROM nowhere", "nowhere"), ("DELETE FROM t WHERE id = $1", "not one INSERT")]:
            with pytest.raises(duckdb.Error, match=reason):
                self.clashes(con, statement)
