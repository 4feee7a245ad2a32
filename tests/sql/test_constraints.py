# SPDX-License-Identifier: Apache-2.0
"""What a table demands of the rows that are written to it: CHECK constraints, invariants, generated columns."""

import json

import duckdb
import pytest

import delta_log
from judges import assert_all_see


def rows(con, query):
    return con.execute(query).fetchall()


@pytest.fixture
def t(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id, (range * 10)::INTEGER AS x, {'y': range} AS s FROM range(5)")
    return lake / "t"


def refuse(con, table, statement, message):
    """The statement fails with the message, and the directory stays as it was."""
    before = delta_log.everything(table)
    with pytest.raises(duckdb.ConstraintException, match=message):
        con.execute(statement)
    assert delta_log.everything(table) == before


def test_check_constraints_hold_for_every_way_to_write(con, t):
    con.execute("ALTER TABLE t ADD CONSTRAINT Positive CHECK (x >= 0 AND s.y IS NOT NULL)")
    assert delta_log.metadata(t)["configuration"]["delta.constraints.positive"] == "x >= 0 AND s.y IS NOT NULL"
    assert delta_log.info(t)["operation"] == "ADD CONSTRAINT"
    assert delta_log.info(t)["operationParameters"] == {"name": "Positive", "expr": "x >= 0 AND s.y IS NOT NULL"}
    refuse(con, t, "INSERT INTO t VALUES (9, -1, {'y': 1})", r"positive \(x >= 0 AND s.y IS NOT NULL\).*id=9, x=-1")
    refuse(con, t, "INSERT INTO t VALUES (9, 1, {'y': NULL})", "positive")
    refuse(con, t, "INSERT INTO t VALUES (9, NULL, {'y': 1})", "NULL, not TRUE.*id=9")
    refuse(con, t, "UPDATE t SET x = x - 20", "positive.*id=0|positive.*id=1")
    refuse(con, t, "MERGE INTO t USING (SELECT 3 AS k) ON id = k WHEN MATCHED THEN UPDATE SET x = -7", "id=3, x=-7")
    refuse(con, t, "MERGE INTO t USING (SELECT 30 AS k) ON id = k WHEN NOT MATCHED THEN INSERT VALUES (k, -8, {'y': 1})", "id=30, x=-8")
    con.execute("INSERT INTO t SELECT range, range::INTEGER, {'y': 1} FROM range(10, 20000)")
    con.execute("UPDATE t SET x = x + 1 WHERE id < 2")
    refuse(con, t, "INSERT INTO t SELECT range, (15000 - range)::INTEGER, {'y': 1} FROM range(20000)", "x=-1")
    con.execute("ALTER TABLE t DROP CONSTRAINT positive")
    assert "delta.constraints.positive" not in delta_log.metadata(t)["configuration"]
    assert delta_log.info(t)["operation"] == "DROP CONSTRAINT"
    con.execute("ALTER TABLE t DROP CONSTRAINT IF EXISTS positive")
    con.execute("INSERT INTO t VALUES (9, -1, NULL)")
    assert len(assert_all_see(con, t)) == 5 + 19990 + 1


def test_present_rows_are_checked_and_one_is_shown(con, t):
    refuse(con, t, "ALTER TABLE t ADD CONSTRAINT small CHECK (x < 35)", r"small \(x < 35\).*id=4, x=40")
    assert delta_log.version(t) == 0
    con.execute("DELETE FROM t WHERE id = 4")
    con.execute("ALTER TABLE t ADD CONSTRAINT small CHECK (x < 35)")
    with pytest.raises(duckdb.Error, match="DELTA_CONSTRAINT_ALREADY_EXISTS"):
        con.execute("ALTER TABLE t ADD CONSTRAINT SMALL CHECK (x < 100)")
    protocol = delta_log.actions(t, "protocol")[0]
    assert "checkConstraints" in protocol["writerFeatures"]


def test_columns_that_a_constraint_needs_stay(con, t):
    con.execute("ALTER TABLE t ADD CONSTRAINT c CHECK (x >= 0)")
    for change in ("RENAME COLUMN x TO z", "DROP COLUMN x", "ALTER COLUMN x TYPE BIGINT"):
        with pytest.raises(duckdb.Error, match="DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE"):
            con.execute(f"ALTER TABLE t {change}")
    con.execute("ALTER TABLE t RENAME COLUMN id TO key")


@pytest.mark.parametrize(
    "condition, message",
    [("nope > 0", "nope"), ("x > (SELECT 1)", "not understood"), ("random() > 0.5", "random"), ("sum(x) > 0", "sum"), ("x >", "syntax"),
     ("concat(x, 'a') = 'a'", "concat"), ("x LIKE 'a\\_'", "backslash")],
)
def test_conditions_that_other_engines_may_read_differently_are_refused(con, t, condition, message):
    with pytest.raises(duckdb.Error, match=message):
        con.execute(f"ALTER TABLE t ADD CONSTRAINT c CHECK ({condition})")
    assert delta_log.version(t) == 0


def test_names_are_kept_in_back_quotes(con, lake):
    con.execute('CREATE TABLE t ("a b" BIGINT, `c` VARCHAR)')
    con.execute('''ALTER TABLE t ADD CONSTRAINT c CHECK ("a b" > 0 AND `c` <> '"x"')''')
    assert delta_log.metadata(lake / "t")["configuration"]["delta.constraints.c"] == "`a b` > 0 AND `c` <> '\"x\"'"
    con.execute("INSERT INTO t VALUES (1, 'y')")
    refuse(con, lake / "t", "INSERT INTO t VALUES (1, '\"x\"')", "a b=1")


def test_a_constraint_meets_a_concurrent_insert(con, t):
    """The row was not checked against a constraint that its writer could not know."""
    con.execute("BEGIN")
    con.execute("ALTER TABLE t ADD CONSTRAINT small CHECK (x < 100)")
    other = con.cursor()
    other.execute("INSERT INTO lake.t VALUES (9, 50, NULL)")
    con.execute("COMMIT")
    con.execute("BEGIN")
    con.execute("ALTER TABLE t ADD CONSTRAINT smaller CHECK (x < 90)")
    other.execute("INSERT INTO lake.t VALUES (10, 95, NULL)")
    with pytest.raises(duckdb.TransactionException, match="ConcurrentAppend|CONCURRENT_APPEND"):
        con.execute("COMMIT")
    assert rows(con, "SELECT count(*) FROM t WHERE id IN (9, 10)") == [(2,)]
    con.execute("BEGIN")
    con.execute("INSERT INTO t VALUES (11, 20, NULL)")
    other.execute("ALTER TABLE lake.t ADD CONSTRAINT smallest CHECK (x < 96)")
    with pytest.raises(duckdb.TransactionException, match="MetadataChanged|METADATA_CHANGED"):
        con.execute("COMMIT")


def rewrite_schema(table, change):
    """Writes the newest commit's schema anew, as another engine might have left it."""
    (log,) = (table / "_delta_log").glob("*0.json")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        if "metaData" in line:
            schema = json.loads(line["metaData"]["schemaString"])
            change(schema["fields"])
            line["metaData"]["schemaString"] = json.dumps(schema)
    log.write_text("\n".join(map(json.dumps, lines)) + "\n")
    for checksum in (table / "_delta_log").glob("*.crc"):
        checksum.unlink()


def test_invariants_are_enforced(con, connect, lake):
    con.execute("CREATE TABLE t (id BIGINT, x INTEGER)")
    rewrite_schema(lake / "t", lambda fields: fields[1]["metadata"].update({"delta.invariants": '{"expression":{"expression":"x > 3"}}'}))
    con.close()
    other = connect(lake)
    other.execute("INSERT INTO t VALUES (1, 4)")
    refuse(other, lake / "t", "INSERT INTO t VALUES (2, 3)", r"invariant of column x \(x > 3\).*id=2")
    assert rows(other, "FROM t") == [(1, 4)]


def test_generated_columns(con, lake):
    con.execute("""CREATE TABLE t (id BIGINT, since TIMESTAMP, day DATE GENERATED ALWAYS AS (CAST(since AS DATE)), twice BIGINT AS (id * 2))""")
    fields = {f["name"]: f for f in json.loads(delta_log.metadata(lake / "t")["schemaString"])["fields"]}
    assert fields["day"]["metadata"]["delta.generationExpression"] == "CAST(since AS DATE)"
    assert "generatedColumns" in delta_log.actions(lake / "t", "protocol")[0]["writerFeatures"]
    con.execute("INSERT INTO t (id, since) VALUES (1, '2024-02-29 12:00:00'), (2, NULL)")
    con.execute("INSERT INTO t VALUES (3, '2024-03-01 00:00:00', '2024-03-01', 6)")
    refuse(con, lake / "t", "INSERT INTO t VALUES (4, '2024-03-01', '2024-03-02', 8)", "generated column day.*id=4")
    con.execute("UPDATE t SET id = 10 WHERE id = 1")
    con.execute("MERGE INTO t USING (SELECT 3 AS k) ON id = k WHEN MATCHED THEN UPDATE SET id = 30")
    con.execute("MERGE INTO t USING (SELECT 4 AS k) ON id = k WHEN NOT MATCHED THEN INSERT (id) VALUES (k)")
    refuse(con, lake / "t", "UPDATE t SET twice = 5 WHERE id = 2", "generated column twice")
    assert rows(con, "SELECT id, day::VARCHAR, twice FROM t ORDER BY id") == [(2, None, 4), (4, None, 8), (10, "2024-02-29", 20), (30, "2024-03-01", 60)]
    assert rows(con, "INSERT INTO t (id) VALUES (7) RETURNING twice") == [(14,)]
    assert len(assert_all_see(con, lake / "t")) == 5


def test_checks_of_create_table(con, lake):
    con.execute("CREATE TABLE t (id BIGINT CHECK (id > 0), x BIGINT, CHECK (x < id))")
    configuration = delta_log.metadata(lake / "t")["configuration"]
    assert {configuration[key] for key in configuration if key.startswith("delta.constraints.")} == {"(id > 0)", "(x < id)"}
    con.execute("INSERT INTO t VALUES (2, 1)")
    refuse(con, lake / "t", "INSERT INTO t VALUES (2, 2)", "id=2, x=2")
