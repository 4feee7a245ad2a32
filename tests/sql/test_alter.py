# SPDX-License-Identifier: Apache-2.0
"""ALTER TABLE: each statement one Delta commit, in Delta's words and in DuckDB's, read back by other engines."""

import json

import duckdb
import pytest

import delta_log
from judges import assert_all_see, seen_by_braid, seen_by_deltalake, seen_by_duckdb_delta


def rows(con, query):
    return con.execute(query).fetchall()


def fields(table):
    return {f["name"]: f for f in json.loads(delta_log.metadata(table)["schemaString"])["fields"]}


def protocol(table):
    return [line["protocol"] for _, lines in sorted(delta_log.commits(table).items()) for line in lines if "protocol" in line][-1]


def assert_duckdb_sees(con, path, table="t"):
    """deltalake does not read tables with column mapping."""
    mine = seen_by_braid(con, table)
    assert seen_by_duckdb_delta(path) == mine
    return mine


@pytest.fixture
def t(con, lake):
    con.execute("CREATE TABLE t AS SELECT 1::BIGINT AS id, 5::INTEGER AS n, {'a': 1::INTEGER, 'b': 'x'} AS s")
    return lake / "t"


def test_add_columns(con, t):
    con.execute("ALTER TABLE t ADD COLUMN x VARCHAR")
    con.execute("ALTER TABLE t ADD COLUMN IF NOT EXISTS x VARCHAR")
    con.execute("ALTER TABLE t ADD COLUMNS (y DOUBLE COMMENT 'why' AFTER id, `z z` BIGINT FIRST, l ARRAY<STRUCT<a: INT>>)")
    con.execute("ALTER TABLE t ADD COLUMN s.c DOUBLE")
    con.execute("ALTER TABLE t ADD COLUMNS (s.d MAP<STRING, BYTE> FIRST)")
    con.execute("INSERT INTO t BY NAME SELECT 2 AS id, 7.5 AS y, 9 AS \"z z\", [{'a': 1}] AS l")
    assert [c[0] for c in rows(con, "DESCRIBE t")] == ["z z", "id", "y", "n", "s", "x", "l"]
    assert rows(con, "SELECT id, y, \"z z\", x, l, s FROM t ORDER BY id") == [
        (1, None, None, None, None, {"d": None, "a": 1, "b": "x", "c": None}),
        (2, 7.5, 9, None, [{"a": 1}], None)]
    assert fields(t)["y"]["metadata"] == {"comment": "why"}
    assert delta_log.version(t) == 5
    second = delta_log.info(t, 2)
    assert second["operation"] == "ADD COLUMNS"
    assert json.loads(second["operationParameters"]["columns"])[0] == {
        "column": {"name": "y", "type": "double", "nullable": True, "metadata": {"comment": "why"}}, "position": "after id"}
    assert_all_see(con, t)


def test_a_default_of_a_new_column_leaves_present_rows_null(con, t):
    con.execute("ALTER TABLE t ADD COLUMN d INTEGER DEFAULT 7")
    con.execute("ALTER TABLE t ADD COLUMN b BOOLEAN DEFAULT true")
    con.execute("ALTER TABLE t ADD COLUMN w DATE DEFAULT DATE '2024-02-29'")
    con.execute("INSERT INTO t (id) VALUES (2)")
    assert rows(con, "SELECT id, d, b, w::VARCHAR FROM t ORDER BY id") == [(1, None, None, None), (2, 7, True, "2024-02-29")]
    assert delta_log.version(t) == 4
    assert "allowColumnDefaults" in protocol(t)["writerFeatures"]
    con.execute("ALTER TABLE t ALTER COLUMN d SET DEFAULT 8")
    con.execute("ALTER TABLE t ALTER COLUMN b DROP DEFAULT")
    con.execute("INSERT INTO t (id) VALUES (3)")
    con.execute("UPDATE t SET d = DEFAULT WHERE id = 1")
    assert rows(con, "SELECT id, d, b FROM t ORDER BY id") == [(1, 8, None), (2, 7, True), (3, 8, None)]


def test_the_time_as_a_default_of_a_new_column(con, t):
    con.execute("ALTER TABLE t ADD COLUMN since TIMESTAMPTZ DEFAULT now()")
    con.execute("INSERT INTO t (id) VALUES (2)")
    assert rows(con, "SELECT id, since IS NULL FROM t ORDER BY id") == [(1, True), (2, False)]
    assert fields(t)["since"]["metadata"] == {"CURRENT_DEFAULT": "current_timestamp()"}
    con.execute("ALTER TABLE t ADD COLUMNS (d DATE DEFAULT current_date)")
    con.execute("INSERT INTO t (id) VALUES (3)")
    assert rows(con, "SELECT id FROM t WHERE d = current_date") == [(3,)]


def test_duckdbs_own_tables_are_altered_as_ever(con):
    con.execute("CREATE TABLE memory.n (id BIGINT)")
    con.execute("INSERT INTO memory.n VALUES (1)")
    con.execute("ALTER TABLE memory.n ADD COLUMN d DATE DEFAULT DATE '2024-02-29'")
    con.execute("ALTER TABLE memory.n ADD COLUMN r BIGINT DEFAULT (range(3)[3])")
    assert rows(con, "SELECT d::VARCHAR, r FROM memory.n") == [("2024-02-29", 2)]
    with pytest.raises(duckdb.CatalogException, match="already exists"):
        con.execute("ALTER TABLE memory.n ADD COLUMN d DATE DEFAULT DATE '2024-02-29'")
    with pytest.raises(duckdb.BinderException, match="not a table of an attached lake"):
        con.execute("ALTER TABLE memory.n ADD CONSTRAINT c CHECK (id > 0)")


def test_rename_and_drop_switch_column_mapping_on(con, t):
    con.execute("ALTER TABLE t RENAME COLUMN n TO m")
    configuration = delta_log.metadata(t)["configuration"]
    assert configuration["delta.columnMapping.mode"] == "name" and configuration["delta.columnMapping.maxColumnId"] == "5"
    assert fields(t)["m"]["metadata"] == {"delta.columnMapping.id": 2, "delta.columnMapping.physicalName": "n"}
    assert "columnMapping" in protocol(t)["readerFeatures"]
    commit = delta_log.info(t)
    assert commit["operation"] == "RENAME COLUMN"
    assert commit["operationParameters"] == {"oldColumnPath": "n", "newColumnPath": "m"}
    con.execute("ALTER TABLE t RENAME COLUMN s.a TO aa")
    con.execute("ALTER TABLE t DROP COLUMN id")
    con.execute("ALTER TABLE t ADD COLUMN id VARCHAR")  # not the old one
    assert fields(t)["id"]["metadata"]["delta.columnMapping.id"] == 6
    assert fields(t)["id"]["metadata"]["delta.columnMapping.physicalName"] != "id"
    con.execute("INSERT INTO t VALUES (6, {'aa': 2, 'b': 'y'}, 'new')")
    assert rows(con, "SELECT m, s, id FROM t ORDER BY m") == [
        (5, {"aa": 1, "b": "x"}, None), (6, {"aa": 2, "b": "y"}, "new")]
    con.execute("ALTER TABLE t DROP COLUMNS (m, s.b)")
    assert json.loads(delta_log.info(t)["operationParameters"]["columns"]) == ["m", "s.b"]
    assert_duckdb_sees(con, t)
    assert rows(con, "SELECT id, n FROM t AT (VERSION => 0)") == [(1, 5)]


def test_a_table_that_forbids_column_mapping(con, lake, t):
    con.execute("ALTER TABLE t SET TBLPROPERTIES ('delta.columnMapping.mode' = 'none')")
    before = delta_log.version(t)
    with pytest.raises(duckdb.Error, match="DELTA_UNSUPPORTED_RENAME_COLUMN.*columnMapping.mode"):
        con.execute("ALTER TABLE t RENAME COLUMN n TO m")
    with pytest.raises(duckdb.Error, match="DELTA_UNSUPPORTED_DROP_COLUMN"):
        con.execute("ALTER TABLE t DROP COLUMN n")
    assert delta_log.version(t) == before
    con.execute("ALTER TABLE t SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    con.execute("ALTER TABLE t RENAME COLUMN n TO m")
    with pytest.raises(duckdb.Error, match="DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE"):
        con.execute("ALTER TABLE t SET TBLPROPERTIES ('delta.columnMapping.mode' = 'none')")
    with pytest.raises(duckdb.Error, match="DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE"):
        con.execute("ALTER TABLE t UNSET TBLPROPERTIES ('delta.columnMapping.mode')")


def test_types_are_widened(con, t):
    con.execute("ALTER TABLE t ALTER COLUMN n TYPE BIGINT")
    con.execute("ALTER TABLE t ALTER COLUMN s.a TYPE BIGINT")
    con.execute("ALTER TABLE t CHANGE COLUMN n TYPE DECIMAL(21, 1)")
    con.execute("INSERT INTO t VALUES (2, 5000000000.5, {'a': 6000000000, 'b': 'y'})")
    assert [tuple(map(str, row)) for row in rows(con, "SELECT id, n, s.a FROM t ORDER BY id")] == [("1", "5.0", "1"), ("2", "5000000000.5", "6000000000")]
    assert rows(con, "SELECT count(*) FROM t WHERE n > 4 AND n < 6") == [(1,)]
    assert fields(t)["n"]["metadata"]["delta.typeChanges"] == [
        {"fromType": "integer", "toType": "long"}, {"fromType": "long", "toType": "decimal(21,1)"}]
    assert "typeWidening" in protocol(t)["readerFeatures"]
    assert delta_log.metadata(t)["configuration"]["delta.enableTypeWidening"] == "true"
    assert delta_log.info(t, 1)["operation"] == "CHANGE COLUMN"
    con.execute("DELETE FROM t WHERE id = 1")
    con.execute("UPDATE t SET n = 7 WHERE id = 2")
    assert [str(n) for (n,) in rows(con, "SELECT n FROM t")] == ["7.0"]


@pytest.mark.parametrize(
    "new_type, message",
    [("SMALLINT", "long, double, decimal.10,0. or wider"), ("VARCHAR", "only widenings"), ("FLOAT", "only widenings"), ("BOOLEAN", "only widenings"),
     ("DECIMAL(9, 0)", "only widenings"), ("UINTEGER", "BIGINT")],
)
def test_what_is_no_widening_is_refused(con, t, new_type, message):
    with pytest.raises(duckdb.Error, match=message):
        con.execute(f"ALTER TABLE t ALTER COLUMN n TYPE {new_type}")
    assert delta_log.version(t) == 0


def test_not_null_is_checked_against_present_rows(con, t):
    con.execute("INSERT INTO t VALUES (2, NULL, {'a': NULL, 'b': 'y'})")
    with pytest.raises(duckdb.ConstraintException, match="NOT NULL.*t.n.*id=2"):
        con.execute("ALTER TABLE t ALTER COLUMN n SET NOT NULL")
    with pytest.raises(duckdb.ConstraintException, match="s.a"):
        con.execute("ALTER TABLE t ALTER COLUMN s.a SET NOT NULL")
    assert delta_log.version(t) == 1
    con.execute("DELETE FROM t WHERE id = 2")
    con.execute("ALTER TABLE t ALTER COLUMN n SET NOT NULL")
    con.execute("ALTER TABLE t ALTER COLUMN s.a SET NOT NULL")
    assert fields(t)["n"]["nullable"] is False
    with pytest.raises(duckdb.ConstraintException):
        con.execute("INSERT INTO t VALUES (3, NULL, {'a': 1, 'b': 'y'})")
    with pytest.raises(duckdb.ConstraintException):
        con.execute("INSERT INTO t VALUES (3, 1, {'a': NULL, 'b': 'y'})")
    con.execute("ALTER TABLE t ALTER COLUMN n DROP NOT NULL")
    con.execute("INSERT INTO t VALUES (3, NULL, {'a': 1, 'b': 'y'})")
    assert_all_see(con, t)


def test_comments(con, t):
    con.execute("COMMENT ON TABLE t IS 'about t'")
    con.execute("COMMENT ON COLUMN t.n IS 'about n'")
    con.execute("ALTER TABLE t ALTER COLUMN s.a COMMENT 'about a'")
    assert rows(con, "SELECT comment FROM duckdb_tables() WHERE table_name = 't'") == [("about t",)]
    assert rows(con, "SELECT comment FROM duckdb_columns() WHERE table_name = 't' AND column_name = 'n'") == [("about n",)]
    assert delta_log.metadata(t)["description"] == "about t"
    assert json.loads(delta_log.metadata(t)["schemaString"])["fields"][2]["type"]["fields"][0]["metadata"] == {"comment": "about a"}
    con.execute("COMMENT ON COLUMN t.n IS NULL")
    assert fields(t)["n"]["metadata"] == {}


def test_properties(con, t):
    con.execute("ALTER TABLE t SET TBLPROPERTIES ('delta.appendOnly' = 'TRUE', Owner.Name = 'Me', delta.checkpointInterval = 20)")
    configuration = delta_log.metadata(t)["configuration"]
    assert configuration["delta.appendOnly"] == "true" and configuration["Owner.Name"] == "Me" and configuration["delta.checkpointInterval"] == "20"
    assert delta_log.info(t)["operation"] == "SET TBLPROPERTIES"
    assert json.loads(delta_log.info(t)["operationParameters"]["properties"]) == {
        "delta.appendOnly": "true", "Owner.Name": "Me", "delta.checkpointInterval": "20"}
    with pytest.raises(duckdb.Error, match="DELTA_CANNOT_MODIFY_APPEND_ONLY"):
        con.execute("DELETE FROM t")
    con.execute("ALTER TABLE t RESET (appendOnly, Owner.Name)")
    assert "delta.appendOnly" not in delta_log.metadata(t)["configuration"]
    assert "Owner.Name" not in delta_log.metadata(t)["configuration"]
    con.execute("DELETE FROM t")
    con.execute("ALTER TABLE t SET (CamelCase = 'x', \"delta.isolationLevel\" = 'serializable')")
    configuration = delta_log.metadata(t)["configuration"]
    assert configuration["CamelCase"] == "x" and configuration["delta.isolationLevel"] == "Serializable"
    con.execute("ALTER TABLE t UNSET TBLPROPERTIES IF EXISTS (CamelCase, nothing)")
    assert "CamelCase" not in delta_log.metadata(t)["configuration"]
    with pytest.raises(duckdb.Error, match="DELTA_UNSET_NON_EXISTENT_PROPERTY"):
        con.execute("ALTER TABLE t UNSET TBLPROPERTIES (nothing)")


@pytest.mark.parametrize(
    "property, feature, judge",
    [("'delta.enableInCommitTimestamps' = 'true'", "inCommitTimestamp", seen_by_deltalake),
     ("'delta.checkpointPolicy' = 'v2'", "v2Checkpoint", seen_by_duckdb_delta),
     ("'delta.enableTypeWidening' = true", "typeWidening", seen_by_duckdb_delta),
     ("'delta.feature.domainMetadata' = 'supported'", "domainMetadata", seen_by_deltalake),
     ("'delta.columnMapping.mode' = 'name'", "columnMapping", seen_by_duckdb_delta)],
)
def test_a_property_brings_its_feature(con, t, property, feature, judge):
    con.execute(f"ALTER TABLE t SET TBLPROPERTIES ({property})")
    assert feature in protocol(t)["writerFeatures"]
    con.execute("INSERT INTO t VALUES (2, 2, NULL)")
    con.execute("DELETE FROM t WHERE id = 1")
    assert judge(t) == [(2, 2, None)]


def test_deletion_vectors_can_be_switched_on(con, lake):
    con.execute("CREATE TABLE t (id BIGINT) WITH ('delta.enableDeletionVectors' = false)")
    assert protocol(lake / "t") == {"minReaderVersion": 1, "minWriterVersion": 2}
    con.execute("INSERT INTO t SELECT range FROM range(10)")
    con.execute("ALTER TABLE t SET TBLPROPERTIES (delta.enableDeletionVectors = true)")
    assert protocol(lake / "t")["readerFeatures"] == ["deletionVectors"]
    con.execute("DELETE FROM t WHERE id = 3")
    assert delta_log.actions(lake / "t", "add")[0]["deletionVector"]["cardinality"] == 1
    assert len(assert_all_see(con, lake / "t")) == 9


@pytest.mark.parametrize(
    "statement, message",
    [
        ("SET TBLPROPERTIES ('delta.nope' = 'x')", "unknown table property delta.nope"),
        ("SET TBLPROPERTIES ('delta.appendOnly' = 'maybe')", "true or false"),
        ("SET TBLPROPERTIES ('delta.logRetentionDuration' = 'three days')", "interval"),
        ("SET TBLPROPERTIES ('delta.deletedFileRetentionDuration' = '7')", "interval"),
        ("SET TBLPROPERTIES ('delta.isolationLevel' = 'SnapshotIsolation')", "DELTA_INVALID_ISOLATION_LEVEL"),
        ("SET TBLPROPERTIES ('delta.columnMapping.maxColumnId' = '9')", "kept by the engine"),
        ("SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')", "changeDataFeed"),
        ("SET TBLPROPERTIES ('delta.enableIcebergCompatV2' = 'true')", "icebergCompatV2"),
        ("SET TBLPROPERTIES ('delta.feature.quantum' = 'supported')", "quantum"),
        ("SET TBLPROPERTIES ('delta.constraints.c' = 'id > 0')", "ADD CONSTRAINT"),
        ("SET TBLPROPERTIES ('delta.minWriterVersion' = '7')", "follows from its properties"),
        ("SET TBLPROPERTIES ('a' 'b'", r"expected|syntax"),
        ("ADD COLUMN id INTEGER", "already"),
        ("ADD COLUMN ID INTEGER DEFAULT 5", "already"),
        ("ADD COLUMN s.a INTEGER", "already"),
        ("ADD COLUMN n.x INTEGER", "no struct"),
        ("ADD COLUMN x HUGEINT", "DECIMAL"),
        ("ADD COLUMN x INTEGER NOT NULL", "NOT NULL|constraints"),
        ("ADD COLUMNS (x INTEGER AFTER nope)", "nope"),
        ("RENAME COLUMN nope TO x", "nope"),
        ("RENAME COLUMN n TO ID", "already"),
        ("DROP COLUMN nope", "nope"),
        ("ALTER COLUMN nope SET NOT NULL", "nope"),
        ("ALTER COLUMN n SET DEFAULT random()", "constant"),
        ("CLUSTER BY (nope)", "nope"),
        ("CLUSTER BY (s)", "struct"),
        ("DROP CONSTRAINT nope", "DELTA_CONSTRAINT_DOES_NOT_EXIST"),
        ("DROP FEATURE deletionVectors", "enableDeletionVectors"),
        ("SET PARTITIONED BY (n)", "PARTITIONED"),
    ],
)
def test_what_alter_refuses_leaves_no_trace(con, t, statement, message):
    before = delta_log.everything(t)
    with pytest.raises(duckdb.Error, match=message):
        con.execute(f"ALTER TABLE t {statement}")
    assert delta_log.everything(t) == before
    con.execute("INSERT INTO t VALUES (2, 2, NULL)")


def test_partition_columns(con, lake):
    con.execute("CREATE TABLE t (id BIGINT, p VARCHAR) PARTITIONED BY (p)")
    con.execute("INSERT INTO t VALUES (1, 'a')")
    with pytest.raises(duckdb.Error, match="DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN"):
        con.execute("ALTER TABLE t DROP COLUMN p")
    with pytest.raises(duckdb.Error, match="last one"):
        con.execute("ALTER TABLE t DROP COLUMN id")
    con.execute("ALTER TABLE t RENAME COLUMN p TO part")
    con.execute("INSERT INTO t VALUES (2, 'b')")
    assert delta_log.metadata(lake / "t")["partitionColumns"] == ["part"]
    assert rows(con, "SELECT id FROM t WHERE part = 'a'") == [(1,)]
    assert_duckdb_sees(con, lake / "t")


def test_clustering_is_stored(con, t):
    con.execute("ALTER TABLE t CLUSTER BY (id, s.a)")
    (domain,) = delta_log.actions(t, "domainMetadata")
    assert domain["domain"] == "delta.clustering" and json.loads(domain["configuration"]) == {"clusteringColumns": [["id"], ["s", "a"]]}
    assert {"clustering", "domainMetadata"} <= set(protocol(t)["writerFeatures"])
    assert delta_log.info(t)["operationParameters"] == {"oldClusteringColumns": "", "newClusteringColumns": "id,s.a"}
    for column in ("id", "s"):
        with pytest.raises(duckdb.Error, match="DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN"):
            con.execute(f"ALTER TABLE t DROP COLUMN {column}")
    con.execute("ALTER TABLE t RENAME COLUMN id TO key")
    con.execute("ALTER TABLE t CLUSTER BY (key)")
    assert json.loads(delta_log.actions(t, "domainMetadata")[0]["configuration"]) == {"clusteringColumns": [["id"]]}
    assert delta_log.info(t)["operationParameters"]["oldClusteringColumns"] == "key,s.a"
    con.execute("ALTER TABLE t CLUSTER BY NONE")
    assert json.loads(delta_log.actions(t, "domainMetadata")[0]["configuration"]) == {"clusteringColumns": []}
    con.execute("ALTER TABLE t DROP COLUMN key")
    con.execute("INSERT INTO t VALUES (6, NULL)")
    assert rows(con, "SELECT n FROM t ORDER BY n") == [(5,), (6,)]


def test_rename_to_renames_the_directory(con, lake, t):
    con.execute("CREATE TABLE taken AS SELECT 1 AS x")
    with pytest.raises(duckdb.CatalogException, match="already exists"):
        con.execute("ALTER TABLE t RENAME TO taken")
    with pytest.raises(duckdb.Error, match="cannot name a table"):
        con.execute('ALTER TABLE t RENAME TO "_t"')
    con.execute("BEGIN")
    with pytest.raises(duckdb.TransactionException, match="outside of BEGIN"):
        con.execute("ALTER TABLE t RENAME TO u")
    con.execute("ROLLBACK")
    con.execute("ALTER TABLE t RENAME TO u")
    assert not (lake / "t").exists() and (lake / "u").is_dir()
    con.execute("INSERT INTO u VALUES (2, 2, NULL)")
    assert len(assert_all_see(con, lake / "u", "u")) == 2
    assert [name for (name,) in rows(con, "SHOW TABLES")] == ["taken", "u"]


def test_inside_a_transaction(con, t):
    con.execute("BEGIN")
    con.execute("ALTER TABLE t ADD COLUMN x BIGINT")
    con.execute("ALTER TABLE t ALTER COLUMN n TYPE BIGINT")
    con.execute("INSERT INTO t (id, x) VALUES (2, 9)")
    con.execute("UPDATE t SET x = 8 WHERE id = 1")
    assert rows(con, "SELECT id, x FROM t ORDER BY id") == [(1, 8), (2, 9)]
    con.execute("COMMIT")
    assert delta_log.version(t) == 1
    assert rows(con, "SELECT id, x FROM t ORDER BY id") == [(1, 8), (2, 9)]
    con.execute("BEGIN")
    con.execute("ALTER TABLE t DROP COLUMN x")
    con.execute("ROLLBACK")
    assert rows(con, "SELECT id, x FROM t ORDER BY id") == [(1, 8), (2, 9)]
    con.execute("BEGIN")
    con.execute("DELETE FROM t WHERE id = 2")
    with pytest.raises(duckdb.TransactionException, match="must come before"):
        con.execute("ALTER TABLE t DROP COLUMN x")
    con.execute("ROLLBACK")
    assert_duckdb_sees(con, t)


def test_a_new_table_is_altered_before_it_is_committed(con, lake):
    con.execute("BEGIN")
    con.execute("CREATE TABLE t (id BIGINT)")
    con.execute("ALTER TABLE t ADD COLUMN x BIGINT")
    con.execute("COMMIT")
    assert delta_log.version(lake / "t") == 0
    assert delta_log.info(lake / "t")["operation"] == "CREATE TABLE"
    con.execute("INSERT INTO t VALUES (1, 2)")
    assert assert_all_see(con, lake / "t") == [(1, 2)]


def test_two_alterations_at_once(con, connect, t, lake):
    con.execute("BEGIN")
    con.execute("ALTER TABLE t ADD COLUMN x BIGINT")
    other = con.cursor()
    other.execute("ALTER TABLE lake.t ADD COLUMN y BIGINT")
    with pytest.raises(duckdb.TransactionException, match="MetadataChanged|METADATA_CHANGED"):
        con.execute("COMMIT")
    assert list(fields(t)) == ["id", "n", "s", "y"]


def test_replace_columns(con, t):
    con.execute("ALTER TABLE t ALTER COLUMN n SET DEFAULT 3")
    con.execute("ALTER TABLE t REPLACE COLUMNS (x VARCHAR COMMENT 'new', N BIGINT COMMENT 'wide', id BIGINT NOT NULL)")
    info = delta_log.info(t)
    assert info["operation"] == "REPLACE COLUMNS"
    assert [c["name"] for c in json.loads(info["operationParameters"]["columns"])] == ["x", "n", "id"]
    assert rows(con, "DESCRIBE t") == [("x", "VARCHAR", "YES", None, None, None), ("n", "BIGINT", "YES", None, None, None),
                                       ("id", "BIGINT", "NO", None, None, None)]
    assert fields(t)["x"]["metadata"]["comment"] == "new" and fields(t)["n"]["metadata"]["comment"] == "wide"
    con.execute("INSERT INTO t VALUES ('y', 2, 3)")
    assert rows(con, "SELECT * FROM t ORDER BY id") == [(None, 5, 1), ("y", 2, 3)]
    assert_duckdb_sees(con, t)
    version = delta_log.version(t)
    for statement, message in (
        ("ALTER TABLE t REPLACE COLUMNS (id INTEGER)", "only widenings"),
        ("ALTER TABLE t REPLACE COLUMNS (id BIGINT, y INT NOT NULL)", "NOT NULL"),
        ("ALTER TABLE t REPLACE COLUMNS (id BIGINT, x VARCHAR NOT NULL)", "x"),
        ("ALTER TABLE t REPLACE COLUMNS (y INT, y BIGINT)", "\"y\""),
        ("ALTER TABLE t REPLACE COLUMNS ()", "a name"),
    ):
        with pytest.raises(duckdb.Error, match=message):
            con.execute(statement)
    assert delta_log.version(t) == version


def test_row_tracking_of_a_table_with_rows(con, t, connect, lake):
    con.execute("INSERT INTO t VALUES (2, 6, NULL), (3, 7, NULL)")
    con.execute("DELETE FROM t WHERE id = 3")
    other = connect(lake)
    other.execute("BEGIN")
    other.execute("ALTER TABLE t SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')")
    con.execute("INSERT INTO t VALUES (4, 8, NULL)")
    other.execute("COMMIT")
    adds = delta_log.actions(t, "add")
    assert len(adds) == 3 and all(add["dataChange"] is False for add in adds)
    ids = sorted((add["baseRowId"], json.loads(add["stats"])["numRecords"]) for add in adds)
    assert ids[0][0] == 0 and [first for first, _ in ids[1:]] == [ids[0][1], ids[0][1] + ids[1][1]]
    assert {add["defaultRowCommitVersion"] for add in adds} == {delta_log.version(t)}
    assert sum("deletionVector" in add for add in adds) == 1
    domain = delta_log.actions(t, "domainMetadata")[0]
    assert json.loads(domain["configuration"]) == {"rowIdHighWaterMark": 3}
    configuration = delta_log.metadata(t)["configuration"]
    assert configuration["delta.rowTracking.materializedRowIdColumnName"].startswith("_row-id-col-")
    assert not delta_log.actions(t, "remove")
    con.execute("UPDATE t SET n = 0 WHERE id = 1")
    assert rows(con, "SELECT id, n FROM t ORDER BY id") == [(1, 0), (2, 6), (4, 8)]
    assert_all_see(con, t)
