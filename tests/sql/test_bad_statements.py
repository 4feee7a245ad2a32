# SPDX-License-Identifier: Apache-2.0
"""Statements that cannot be: each a clear error, and nothing written: no version, no file, no log entry."""

import duckdb
import pytest

import delta_log


@pytest.fixture
def t(con, lake):
    con.execute("""CREATE TABLE t (id BIGINT, p VARCHAR, n INTEGER, d DATE, g BIGINT GENERATED ALWAYS AS (id * 2), s STRUCT(a INTEGER))
                   USING DELTA PARTITIONED BY (p)""")
    con.execute("INSERT INTO t (id, p, n) VALUES (1, 'x', 10), (2, 'y', -1)")
    con.execute("CREATE TABLE c (id BIGINT, k VARCHAR) CLUSTER BY (k)")
    con.execute("CREATE TABLE memory.u AS SELECT 1::BIGINT AS id, 'a' AS p, 5 AS n")
    return lake


CASES = {
    "unknown column": [
        ("INSERT INTO t (id, nope) VALUES (3, 3)", "nope", '"t"'),
        ("INSERT INTO t BY NAME SELECT 3 AS id, 3 AS nope", "nope"),
        ("UPDATE t SET nope = 3", "nope"),
        ("UPDATE t SET n = nope", "nope"),
        ("DELETE FROM t WHERE nope = 3", "nope"),
        ("MERGE INTO t USING memory.u AS u ON t.id = u.nope WHEN MATCHED THEN DELETE", "nope"),
        ("MERGE INTO t USING memory.u AS u ON t.id = u.id WHEN MATCHED THEN UPDATE SET nope = 1", "nope"),
        ("MERGE INTO t USING memory.u AS u ON t.id = u.id WHEN NOT MATCHED THEN INSERT (id, nope) VALUES (1, 2)", "nope"),
        ("MERGE INTO t USING memory.u AS u ON t.id = u.id WHEN MATCHED THEN UPDATE SET *", "DELTA_MERGE_UNRESOLVED_EXPRESSION", '"d"', "t"),
        ("ALTER TABLE t DROP COLUMN nope", "nope", "lake/t"),
        ("ALTER TABLE t RENAME COLUMN nope TO x", "nope", "lake/t"),
        ("ALTER TABLE t ALTER COLUMN nope TYPE BIGINT", "nope", "lake/t"),
        ("ALTER TABLE t ALTER COLUMN nope SET NOT NULL", "nope", "lake/t"),
        ("ALTER TABLE t ALTER COLUMN s.nope COMMENT 'x'", "s.nope", "lake/t"),
        ("ALTER TABLE t ADD COLUMN x INTEGER AFTER nope", "nope", "lake/t"),
        ("ALTER TABLE t ADD CONSTRAINT c CHECK (nope > 0)", "nope"),
        ("ALTER TABLE c CLUSTER BY (nope)", "nope", "lake/c"),
        ("INSERT INTO t REPLACE WHERE nope > 3 SELECT 1, 'x', 1, NULL, 2, NULL", "nope"),
        ("OPTIMIZE t ZORDER BY (nope)", "nope"),
        ("CREATE TABLE new (id BIGINT, p INT) USING DELTA PARTITIONED BY (nope)", "nope", "new"),
    ],
    "type mismatch": [
        ("INSERT INTO t (id) VALUES ('text')", "text", "INT64"),
        ("INSERT INTO t (id) SELECT {'a': 1}", "STRUCT"),
        ("UPDATE t SET n = 3000000000", "3000000000", "INT32"),
        ("UPDATE t SET d = 'no date'", "no date", "date"),
        ("UPDATE t SET s = 5", "STRUCT"),
        ("MERGE INTO t USING memory.u AS u ON t.id = u.id WHEN MATCHED THEN UPDATE SET d = u.p", "date"),
        ("INSERT INTO t VALUES (1, 'x')", "t has 6 columns but 2 values"),
        ("ALTER TABLE t ALTER COLUMN n SET DEFAULT [1]", '"n"'),
        ("ALTER TABLE t ADD CONSTRAINT c CHECK (id + 1)", "constraint c", "BIGINT"),
    ],
    "ambiguous name": [
        ("UPDATE t SET n = 0 FROM memory.u AS u WHERE id = 1", "mbiguous", "id"),
        ("MERGE INTO t USING memory.u AS u ON t.id = u.id WHEN MATCHED THEN UPDATE SET n = n + 1", "mbiguous", '"n"'),
        ("MERGE INTO t USING memory.u AS u ON id = 1 WHEN MATCHED THEN DELETE", "mbiguous", "id"),
        ("UPDATE t SET n = 1, N = 2", "n"),
        ("INSERT INTO t (id, ID) VALUES (1, 2)", "ID"),
        ("ALTER TABLE t ADD COLUMN ID INTEGER", '"ID"', "lake/t"),
        ("ALTER TABLE t RENAME COLUMN n TO Id", '"Id"', "lake/t"),
        ("CREATE TABLE new (id BIGINT, \"ID\" INT)", "ID"),
    ],
    "generated column": [
        ("INSERT INTO t (id, g) VALUES (3, 7)", "generated column g", "table t", "id=3"),
        ("UPDATE t SET g = 7 WHERE id = 1", "generated column g", "table t", "id=1"),
        ("MERGE INTO t USING memory.u AS u ON t.id = u.id WHEN MATCHED THEN UPDATE SET g = 0", "generated column g", "table t"),
        ("ALTER TABLE t DROP COLUMN id", "DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE", '"g"', '"id"', "lake/t"),
        ("ALTER TABLE t RENAME COLUMN id TO x", "DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE", '"g"', "lake/t"),
    ],
    "constraint that present rows violate": [
        ("ALTER TABLE t ADD CONSTRAINT positive CHECK (n > 0)", "positive", "n > 0", "table t", "id=2"),
        ("ALTER TABLE t ALTER COLUMN d SET NOT NULL", "d", "t"),
        ("ALTER TABLE t ADD CONSTRAINT later CHECK (d > '2020-01-01')", "later", "NULL", "id="),
    ],
    "partition or clustering column": [
        ("ALTER TABLE t DROP COLUMN p", "DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN", '"p"', "lake/t"),
        ("ALTER TABLE t DROP COLUMNS (n, p)", "DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN", '"p"', "lake/t"),
        ("ALTER TABLE c DROP COLUMN k", "DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN", '"k"', "lake/c"),
        ("ALTER TABLE t CLUSTER BY (id)", "partitioned", "lake/t"),
    ],
    "no widening": [
        ("ALTER TABLE c ALTER COLUMN id TYPE INTEGER", '"id"', "lake/c", "from long to integer"),
        ("ALTER TABLE t ALTER COLUMN n TYPE VARCHAR", '"n"', "lake/t", "from integer they are long, double"),
        ("ALTER TABLE t ALTER COLUMN n TYPE FLOAT", '"n"', "only widenings"),
        ("ALTER TABLE t ALTER COLUMN s.a TYPE SMALLINT", '"s.a"', "lake/t"),
        ("ALTER TABLE t ALTER COLUMN n TYPE DECIMAL(9,0)", '"n"', "decimal(10,0) or wider"),
    ],
    "unknown property": [
        ("ALTER TABLE t SET TBLPROPERTIES ('delta.nonsense' = 'x')", "delta.nonsense"),
        ("ALTER TABLE t UNSET TBLPROPERTIES ('mine')", "DELTA_UNSET_NON_EXISTENT_PROPERTY", "mine"),
        ("ALTER TABLE t SET TBLPROPERTIES ('delta.feature.nonsense' = 'supported')", "nonsense"),
        ("ALTER TABLE t SET TBLPROPERTIES ('delta.columnMapping.maxColumnId' = '7')", "delta.columnMapping.maxColumnId"),
        ("CREATE TABLE new (id BIGINT) TBLPROPERTIES ('delta.nonsense' = 1)", "delta.nonsense"),
    ],
    "malformed value": [
        ("ALTER TABLE t SET TBLPROPERTIES ('delta.logRetentionDuration' = 'thirty days')", "delta.logRetentionDuration", "thirty days"),
        ("ALTER TABLE t SET TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval 1')", "delta.deletedFileRetentionDuration", "interval 1"),
        ("ALTER TABLE t SET TBLPROPERTIES ('delta.logRetentionDuration' = 'interval -1 days')", "delta.logRetentionDuration"),
        ("ALTER TABLE t SET TBLPROPERTIES ('delta.setTransactionRetentionDuration' = 'interval 1 month')", "delta.setTransactionRetentionDuration", "1 month"),
        ("ALTER TABLE t SET TBLPROPERTIES ('delta.checkpointInterval' = '0')", "delta.checkpointInterval"),
        ("ALTER TABLE t SET TBLPROPERTIES ('delta.appendOnly' = 'perhaps')", "delta.appendOnly", "perhaps"),
        ("ALTER TABLE t SET TBLPROPERTIES ('delta.isolationLevel' = 'SnapshotIsolation')", "DELTA_INVALID_ISOLATION_LEVEL"),
        ("CREATE TABLE new (id BIGINT) TBLPROPERTIES ('delta.logRetentionDuration' = 'soon')", "delta.logRetentionDuration", "soon"),
    ],
}


def everything(lake):
    return {path: path.stat().st_mtime_ns for path in sorted(lake.rglob("*")) if path.is_file() and "_braid" not in path.parts}


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{kind}: {case[0]}") for kind, cases in CASES.items() for case in cases])
def test_bad_statement(con, t, case):
    statement, *parts = case
    before = everything(t)
    with pytest.raises(duckdb.Error) as error:
        con.execute(statement)
    missing = [part for part in parts if part not in str(error.value)]
    assert not missing, f"{missing} not in: {error.value}"
    assert everything(t) == before
    # The connection goes on.
    assert con.execute("SELECT count(*) FROM t").fetchone() == (2,)
    con.execute("BEGIN")
    con.execute("INSERT INTO t (id, p) VALUES (5, 'z')")
    con.execute("COMMIT")
    assert delta_log.version(t / "t") == 2
