# SPDX-License-Identifier: Apache-2.0
"""ALTER TABLE ... DROP FEATURE: what stands in the way is named, and nothing is written then."""

import duckdb
import pytest

import delta_log
from judges import assert_all_see
from refusal import refuse


def rows(con, query="FROM t ORDER BY ALL"):
    return con.execute(query).fetchall()


def protocol(table):
    return [line["protocol"] for _, lines in sorted(delta_log.commits(table).items()) for line in lines if "protocol" in line][-1]


def test_features_of_writers(con, lake):
    con.execute("CREATE TABLE t (id BIGINT NOT NULL, s VARCHAR DEFAULT 'x', CHECK (id > 0)) CLUSTER BY (id)")
    con.execute("INSERT INTO t (id) VALUES (1)")
    t = lake / "t"
    for feature, way_out in (
        ("checkConstraints", "DROP CONSTRAINT check_1"),
        ("allowColumnDefaults", "DROP DEFAULT"),
        ("invariants", "DROP NOT NULL"),
        ("domainMetadata", "clustering"),
        ("clustering", "CLUSTER BY NONE"),
    ):
        assert feature in protocol(t)["writerFeatures"]
        refuse(con, t, f"ALTER TABLE t DROP FEATURE {feature}", feature, "lake/t", way_out)
    for statement in ("DROP CONSTRAINT check_1", "ALTER COLUMN s DROP DEFAULT", "ALTER COLUMN id DROP NOT NULL", "CLUSTER BY NONE"):
        con.execute("ALTER TABLE t " + statement)
    for feature in ("checkConstraints", "ALLOWCOLUMNDEFAULTS", "invariants", "clustering", "appendOnly", "domainMetadata"):
        con.execute(f"ALTER TABLE t DROP FEATURE {feature}")
    assert protocol(t) == {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["deletionVectors"],
                           "writerFeatures": ["deletionVectors"]}
    assert delta_log.info(t)["operation"] == "DROP FEATURE"
    assert delta_log.info(t)["operationParameters"] == {"featureName": "domainMetadata", "truncateHistory": False}
    con.execute("INSERT INTO t VALUES (-1, NULL)")
    assert_all_see(con, t)
    refuse(con, t, "ALTER TABLE t DROP FEATURE checkConstraints", "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT")
    refuse(con, t, "ALTER TABLE t DROP FEATURE nonsense", "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT", "nonsense")


def test_deletion_vectors_need_a_history_without_them(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(10)")
    con.execute("DELETE FROM t WHERE id = 3")
    t = lake / "t"
    drop = "ALTER TABLE t DROP FEATURE deletionVectors"
    refuse(con, t, drop, "delta.enableDeletionVectors", "'false'")
    con.execute("ALTER TABLE t SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'false', "
                "'delta.dropFeatureTruncateHistory.retentionDuration' = 'interval 0 hours')")
    refuse(con, t, drop, "has a deletion vector", "REORG TABLE")
    con.execute("REORG TABLE t APPLY (PURGE)")
    refuse(con, t, drop, "DELTA_FEATURE_DROP_HISTORICAL_VERSIONS_EXIST", "TRUNCATE HISTORY")
    refuse(con, t, drop + " TRUNCATE HISTORY", "DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD", "one more commit")
    con.execute("INSERT INTO t VALUES (100)")
    con.execute("BEGIN")
    with pytest.raises(duckdb.Error, match="BEGIN"):
        con.execute(drop + " TRUNCATE HISTORY")
    con.execute("ROLLBACK")
    before = delta_log.version(t)
    con.execute(drop + " TRUNCATE HISTORY")
    assert min(delta_log.commits(t)) == before and delta_log.version(t) == before + 1
    assert protocol(t)["minReaderVersion"] == 1 and "readerFeatures" not in protocol(t)
    assert delta_log.info(t)["operationParameters"] == {"featureName": "deletionVectors", "truncateHistory": True}
    assert rows(con) == [(i,) for i in [0, 1, 2, 4, 5, 6, 7, 8, 9, 100]]
    con.execute("DELETE FROM t WHERE id = 5")
    assert_all_see(con, t)
    with pytest.raises(duckdb.Error, match="version"):
        con.execute("FROM t AT (VERSION => 0)")


def test_a_feature_of_readers_that_was_never_used_goes_at_once(con, lake):
    con.execute("CREATE TABLE t (id BIGINT) TBLPROPERTIES (delta.enableDeletionVectors = false, "
                "delta.feature.vacuumProtocolCheck = 'supported', delta.feature.deletionVectors = 'supported')")
    con.execute("INSERT INTO t VALUES (1)")
    con.execute("ALTER TABLE t DROP FEATURE vacuumProtocolCheck")
    con.execute("ALTER TABLE t DROP FEATURE deletionVectors")
    assert protocol(lake / "t")["minReaderVersion"] == 1
    assert_all_see(con, lake / "t")


def test_what_would_need_data_files_to_be_rewritten(con, lake):
    con.execute("CREATE TABLE t (id INTEGER, ts TIMESTAMP)")
    con.execute("INSERT INTO t VALUES (1, '2024-01-01')")
    con.execute("ALTER TABLE t RENAME COLUMN ts TO moment")
    con.execute("ALTER TABLE t ALTER COLUMN id TYPE BIGINT")
    t = lake / "t"
    refuse(con, t, "ALTER TABLE t DROP FEATURE columnMapping", "mapped by name", "CREATE OR REPLACE TABLE")
    refuse(con, t, "ALTER TABLE t DROP FEATURE timestampNtz", '"moment"', "timestamp_ntz")
    refuse(con, t, "ALTER TABLE t DROP FEATURE typeWidening", "delta.enableTypeWidening")
    con.execute("ALTER TABLE t SET TBLPROPERTIES ('delta.enableTypeWidening' = 'false')")
    refuse(con, t, "ALTER TABLE t DROP FEATURE typeWidening", '"id"', "another type")


def test_a_writer_beside_it(con, lake, connect):
    con.execute("CREATE TABLE t (id BIGINT CHECK (id > 0))")
    con.execute("ALTER TABLE t DROP CONSTRAINT check_1")
    other = connect(lake)
    other.execute("BEGIN")
    other.execute("ALTER TABLE t DROP FEATURE checkConstraints")
    con.execute("INSERT INTO t VALUES (1)")
    with pytest.raises(duckdb.TransactionException, match="DELTA_CONCURRENT_WRITE"):
        other.execute("COMMIT")
    other.execute("BEGIN")
    other.execute("INSERT INTO t VALUES (2)")
    con.execute("ALTER TABLE t DROP FEATURE checkConstraints")
    with pytest.raises(duckdb.TransactionException, match="DELTA_PROTOCOL_CHANGED"):
        other.execute("COMMIT")
