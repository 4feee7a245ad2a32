# SPDX-License-Identifier: Apache-2.0
"""Looking at a table: history, detail, files and properties, as functions and as statements. Expected values are written by hand here, in
the log, or come from deltalake."""

import json
import os

import duckdb
import pyarrow as pa
import pytest
from conftest import open_duckdb, quote
from deltalake import DeltaTable, write_deltalake

HISTORY = {
    "version": "BIGINT",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
    "userId": "VARCHAR",
    "userName": "VARCHAR",
    "operation": "VARCHAR",
    "operationParameters": "MAP(VARCHAR, VARCHAR)",
    "job": "STRUCT(jobId VARCHAR, jobName VARCHAR, jobRunId VARCHAR, runId VARCHAR, jobOwnerId VARCHAR, triggerType VARCHAR)",
    "notebook": "STRUCT(notebookId VARCHAR)",
    "clusterId": "VARCHAR",
    "readVersion": "BIGINT",
    "isolationLevel": "VARCHAR",
    "isBlindAppend": "BOOLEAN",
    "operationMetrics": "MAP(VARCHAR, VARCHAR)",
    "userMetadata": "VARCHAR",
    "engineInfo": "VARCHAR",
}
DETAIL = {
    "format": "VARCHAR",
    "id": "VARCHAR",
    "name": "VARCHAR",
    "description": "VARCHAR",
    "location": "VARCHAR",
    "createdAt": "TIMESTAMP WITH TIME ZONE",
    "lastModified": "TIMESTAMP WITH TIME ZONE",
    "partitionColumns": "VARCHAR[]",
    "clusteringColumns": "VARCHAR[]",
    "numFiles": "BIGINT",
    "sizeInBytes": "BIGINT",
    "properties": "MAP(VARCHAR, VARCHAR)",
    "minReaderVersion": "INTEGER",
    "minWriterVersion": "INTEGER",
    "tableFeatures": "VARCHAR[]",
}
SCHEMA = json.dumps({"type": "struct", "fields": [{"name": "id", "type": "long", "nullable": True, "metadata": {}}]})
PROTOCOL = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}


def metadata(**more):
    fields = {"id": "the-id", "format": {"provider": "parquet", "options": {}}, "schemaString": SCHEMA}
    return {"metaData": {**fields, "partitionColumns": [], "configuration": {}, **more}}


def write_commit(root, version, *actions, at_ms=None):
    log = root / "_delta_log"
    log.mkdir(parents=True, exist_ok=True)
    path = log / f"{version:020}.json"
    path.write_text("".join(json.dumps(action) + "\n" for action in actions))
    if at_ms is not None:
        os.utime(path, ns=(at_ms * 1_000_000, at_ms * 1_000_000))
    return path


def plain(value, kind):
    """Maps as dicts, points in time as milliseconds."""
    if value is not None and pa.types.is_map(kind):
        return dict(value)
    return value


def rows(con, sql):
    table = con.execute(sql).to_arrow_table()
    for i, column in enumerate(table.schema):
        if pa.types.is_timestamp(column.type):
            table = table.set_column(i, column.name, table[i].cast(pa.timestamp("ms", "UTC")).cast(pa.int64()))
    return [{c.name: plain(row[c.name], c.type) for c in table.schema} for row in table.to_pylist()]


def versions(con, sql):
    return con.execute(sql).to_arrow_table()["version"].to_pylist()


@pytest.mark.parametrize("function, columns", [("braid_history", HISTORY), ("braid_detail", DETAIL)])
def test_columns_and_types(con, function, columns):
    con.execute("CREATE TABLE t (id BIGINT)")
    described = con.execute(f"DESCRIBE SELECT * FROM {function}('t')").fetchall()
    types = {name: kind.replace('"', "") for name, kind, *_ in described}
    assert types == columns
    assert list(types) == list(columns)


def test_history_of_own_commits(con):
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(100)")
    con.execute("DELETE FROM t WHERE id < 3")
    con.execute("UPDATE t SET id = -1 WHERE id = 50")
    newest, delete, create = rows(con, "DESCRIBE HISTORY t")
    assert (newest["version"], newest["operation"], newest["readVersion"]) == (2, "UPDATE", 1)
    assert newest["operationMetrics"]["numUpdatedRows"] == "1"
    assert newest["operationMetrics"]["commitAttempts"] == "1"
    assert (delete["version"], delete["operation"], delete["readVersion"]) == (1, "DELETE", 0)
    assert delete["operationMetrics"]["numDeletedRows"] == "3"
    assert delete["isBlindAppend"] is False
    assert create["version"] == 0 and create["readVersion"] is None
    assert all("braid" in row["engineInfo"].lower() for row in (newest, delete, create))


def test_history_is_what_deltalake_says(lake, connect):
    root = lake / "t"
    write_deltalake(root, pa.table({"id": [1, 2, 3]}), partition_by=None)
    write_deltalake(root, pa.table({"id": [4]}), mode="append")
    DeltaTable(root).delete("id = 2")
    con = connect(lake)
    theirs = DeltaTable(root).history()
    ours = rows(con, "SELECT * FROM braid_history('t')")
    assert len(ours) == len(theirs) == 3
    for mine, other in zip(ours, theirs):
        assert mine["version"] == other["version"]
        assert mine["operation"] == other["operation"]
        assert mine["readVersion"] == other.get("readVersion")
        parameters = {k: None if v is None else str(v) for k, v in other["operationParameters"].items()}
        assert mine["operationParameters"] == parameters
        # deltalake also writes numbers and nested values: they come as their JSON text
        assert set(mine["operationMetrics"]) == set(other["operationMetrics"])
        for name, value in other["operationMetrics"].items():
            written = mine["operationMetrics"][name]
            assert (written if isinstance(value, str) else json.loads(written)) == value


def test_every_field_of_a_foreign_commit(lake, connect):
    info = {
        "timestamp": 1, "userId": "u-1", "userName": "someone", "operation": "WRITE", "clusterId": "c-7",
        "operationParameters": {"mode": "Append", "partitionBy": "[\"p\"]", "n": 3, "nothing": None},
        "job": {"jobId": "12", "jobName": "nightly", "triggerType": "manual"}, "notebook": {"notebookId": "99"},
        "readVersion": 7, "isolationLevel": "Serializable", "isBlindAppend": True,
        "operationMetrics": {"numFiles": "2"}, "userMetadata": "note", "engineInfo": "Other/1", "unknown": {"a": [1]},
    }  # fmt: skip
    write_commit(lake / "t", 0, {"commitInfo": info}, PROTOCOL, metadata(), at_ms=1_600_000_000_123)
    write_commit(lake / "t", 1, {"add": {"path": "x", "size": 1, "partitionValues": {}, "modificationTime": 1, "dataChange": True}},
                 at_ms=1_500_000_000_000)  # fmt: skip
    con = connect(lake)
    bare, full = rows(con, "SELECT * FROM braid_history('t')")
    # a file time that goes back is shown as later than the version before
    assert bare == {**dict.fromkeys(HISTORY), "version": 1, "timestamp": 1_600_000_000_124}
    assert full == {
        "version": 0, "timestamp": 1_600_000_000_123, "userId": "u-1", "userName": "someone", "operation": "WRITE",
        "operationParameters": {"mode": "Append", "partitionBy": "[\"p\"]", "n": "3", "nothing": None},
        "job": {"jobId": "12", "jobName": "nightly", "jobRunId": None, "runId": None, "jobOwnerId": None, "triggerType": "manual"},
        "notebook": {"notebookId": "99"}, "clusterId": "c-7", "readVersion": 7, "isolationLevel": "Serializable",
        "isBlindAppend": True, "operationMetrics": {"numFiles": "2"}, "userMetadata": "note", "engineInfo": "Other/1",
    }  # fmt: skip


def test_history_shows_in_commit_times(lake, connect):
    enabled = metadata(configuration={"delta.enableInCommitTimestamps": "true"})
    protocol = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["inCommitTimestamp"]}}
    info = {"inCommitTimestamp": 1_700_000_000_000, "operation": "CREATE TABLE", "operationParameters": {}}
    write_commit(lake / "t", 0, {"commitInfo": info}, protocol, enabled, at_ms=1_600_000_000_000)
    assert connect(lake).execute("SELECT epoch_ms(timestamp) FROM braid_history('t')").fetchall() == [(1_700_000_000_000,)]


def test_limit_stops_at_the_commits_it_needs(lake, connect):
    """Commits beyond the limit are garbled: they are not read."""
    write_commit(lake / "t", 0, PROTOCOL, metadata())
    for version in range(1, 200):
        write_commit(lake / "t", version, {"commitInfo": {"operation": f"OP {version}", "operationParameters": {}}})
    for version in range(100):
        (lake / "t" / "_delta_log" / f"{version:020}.json").write_text("{garbled")
    con = connect(lake)
    assert versions(con, "DESCRIBE HISTORY t LIMIT 10") == list(range(199, 189, -1))
    assert versions(con, "SELECT version FROM braid_history('t') LIMIT 3") == [199, 198, 197]
    with pytest.raises(duckdb.IOException, match="version 99 "):
        con.execute("DESCRIBE HISTORY t").fetchall()


def test_history_after_a_clean_up_shows_what_is_there(lake, connect):
    con = connect(lake)
    con.execute("CREATE TABLE t AS SELECT 0 AS id")
    for i in range(12):  # a checkpoint at version 10
        con.execute(f"INSERT INTO t VALUES ({i})")
    log = lake / "t" / "_delta_log"
    assert (log / f"{10:020}.checkpoint.parquet").exists()
    for version in range(10):
        (log / f"{version:020}.json").unlink()
    assert versions(con, "DESCRIBE HISTORY t") == [12, 11, 10]
    (log / f"{3:020}.json").write_text("{}\n")  # left over before a gap: not part of the history
    assert versions(con, "DESCRIBE HISTORY t") == [12, 11, 10]


@pytest.mark.parametrize("folder, name", [("t", "t"), ("A b", '"A b"'), ('q"q', '"q""q"')])
def test_every_way_to_name_a_table(lake, connect, folder, name):
    con = connect(lake)
    con.execute(f"CREATE SCHEMA s; CREATE TABLE s.{name} AS SELECT 1 AS id")
    path = f"{lake}/s/{folder}"
    quoted_path = 'delta."' + path.replace('"', '""') + '"'
    for spelling in (f"s.{name}", f"lake.s.{name}", f"delta.`{path}`", quoted_path):
        for statement in ("DESCRIBE HISTORY {}", "desc history {}", "DESCRIBE HISTORY {} LIMIT 5"):
            assert versions(con, statement.format(spelling)) == [0], spelling
    for spelling in (f"s.{name}", f"lake.s.{name}", quoted_path):
        assert versions(con, f"SELECT * FROM braid_history({quote(spelling)})") == [0], spelling
    if '"' not in path:
        assert versions(con, f"DESCRIBE HISTORY {quote(path)}") == [0]
        assert versions(con, f"SELECT * FROM braid_history({quote(path)})") == [0]
    con.execute("USE lake.s")
    assert versions(con, f"DESCRIBE HISTORY {name}") == [0]


def test_outside_of_any_lake(lake, connect):
    connect(lake).execute("CREATE TABLE t AS SELECT 1 AS id")
    con = open_duckdb()
    assert versions(con, f"DESCRIBE HISTORY '{lake}/t'") == [0]
    detail = rows(con, f"DESCRIBE DETAIL '{lake}/t'")[0]
    assert (detail["location"], detail["name"], detail["numFiles"]) == (f"{lake}/t", None, 1)


def test_detail(lake, connect):
    root = lake / "t"
    table = pa.table({"id": [1, 2, 3], "p": ["a", "a", "b"]})
    write_deltalake(root, table, partition_by=["p"], name="sales", description="of the year",
                    configuration={"delta.logRetentionDuration": "interval 7 days"})  # fmt: skip
    theirs, protocol = DeltaTable(root).metadata(), DeltaTable(root).protocol()
    con = connect(lake)
    row = rows(con, "SELECT * FROM braid_detail('t')")[0]
    log = root / "_delta_log" / f"{0:020}.json"
    sizes = [path.stat().st_size for path in root.glob("p=*/*.parquet")]
    assert row == {
        "format": "delta", "id": str(theirs.id), "name": "sales", "description": "of the year", "location": str(root),
        "createdAt": theirs.created_time, "lastModified": log.stat().st_mtime_ns // 1_000_000,
        "partitionColumns": ["p"], "clusteringColumns": [], "numFiles": 2, "sizeInBytes": sum(sizes),
        "properties": {"delta.logRetentionDuration": "interval 7 days"},
        "minReaderVersion": protocol.min_reader_version, "minWriterVersion": protocol.min_writer_version,
        "tableFeatures": ["appendOnly", "invariants"],  # what writer version 2 means
    }  # fmt: skip
    assert rows(con, "DESC DETAIL t")[0]["id"] == str(theirs.id)


def test_detail_of_a_clustered_table_with_column_mapping(lake, connect):
    fields = [
        {"name": "id", "type": "long", "nullable": True, "metadata": {"delta.columnMapping.id": 1, "delta.columnMapping.physicalName": "col-1"}},
        {"name": "s", "nullable": True, "metadata": {"delta.columnMapping.id": 2, "delta.columnMapping.physicalName": "col-2"},
         "type": {"type": "struct", "fields": [{"name": "x", "type": "long", "nullable": True,
                                                "metadata": {"delta.columnMapping.id": 3, "delta.columnMapping.physicalName": "col-3"}}]}},
    ]  # fmt: skip
    features = ["columnMapping", "clustering", "domainMetadata"]
    protocol = {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": features[:1], "writerFeatures": features}}
    columns = json.dumps({"clusteringColumns": [["col-2", "col-3"], ["col-1"]]})
    meta = metadata(schemaString=json.dumps({"type": "struct", "fields": fields}), configuration={"delta.columnMapping.mode": "name"})
    domain = {"domainMetadata": {"domain": "delta.clustering", "configuration": columns, "removed": False}}
    write_commit(lake / "t", 0, protocol, meta, domain)
    row = rows(connect(lake), "DESCRIBE DETAIL t")[0]
    assert row["clusteringColumns"] == ["s.x", "id"]
    assert row["tableFeatures"] == sorted(features)


def test_files(con, lake):
    con.execute("CREATE TABLE t (id BIGINT, s VARCHAR, p INTEGER) PARTITIONED BY (p)")
    con.execute("INSERT INTO t SELECT range, CASE WHEN range < 4 THEN NULL ELSE 'v' || range END, 1 FROM range(10)")
    con.execute("INSERT INTO t SELECT range, 'w', 2 FROM range(100, 105)")
    con.execute("DELETE FROM t WHERE id IN (2, 5)")
    first, second = rows(con, "SELECT * FROM braid_files('t') ORDER BY partitionValues['p']")
    assert first["partitionValues"] == {"p": "1"}
    assert (first["numRecords"], first["numDeletedRecords"]) == (10, 2)
    assert first["deletionVector"]["cardinality"] == 2 and first["tightBounds"] is False
    assert (first["minValues"], first["maxValues"]) == ({"id": "0", "s": "v4"}, {"id": "9", "s": "v9"})
    assert second["nullCount"] == {"id": 0, "s": 0}
    assert (second["numRecords"], second["numDeletedRecords"], second["deletionVector"]) == (5, 0, None)
    assert (second["minValues"], second["maxValues"]) == ({"id": "100", "s": "w"}, {"id": "104", "s": "w"})
    for row in (first, second):
        assert row["filename"] == f"{lake}/t/{row['path']}"
        assert row["size"] == os.path.getsize(row["filename"])
    assert {row["path"] for row in (first, second)} == {
        os.path.relpath(path, lake / "t") for path in DeltaTable(lake / "t", version=2).file_uris()}  # fmt: skip


def test_files_join_with_the_rows_they_hold(con):
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(20)")
    con.execute("INSERT INTO t SELECT range FROM range(100, 130)")
    con.execute("DELETE FROM t WHERE id < 5")
    counted = con.execute(
        "SELECT f.numRecords - f.numDeletedRecords, count(*) FROM t JOIN braid_files('t') f USING (filename) GROUP BY ALL ORDER BY 1"
    ).fetchall()
    assert counted == [(15, 15), (30, 30)]
    joined = con.execute(
        "SELECT h.version, h.operation FROM braid_history('t') h JOIN (SELECT max(version) AS version FROM braid_history('t')) USING (version)")
    assert joined.fetchall() == [(2, "DELETE")]
    assert con.execute("SELECT count(*) FROM braid_files('t')").fetchone() == (2,)


def test_properties(lake, connect):
    con = connect(lake)
    protocol = {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["deletionVectors"],
                             "writerFeatures": ["deletionVectors", "appendOnly"]}}  # fmt: skip
    write_commit(lake / "t", 0, protocol, metadata(configuration={"delta.appendOnly": "true", "my.key": "v"}))
    assert con.execute("SHOW TBLPROPERTIES t").fetchall() == [
        ("delta.appendOnly", "true"),
        ("delta.feature.appendOnly", "supported"),
        ("delta.feature.deletionVectors", "supported"),
        ("delta.minReaderVersion", "3"),
        ("delta.minWriterVersion", "7"),
        ("my.key", "v"),
    ]
    assert con.execute("SHOW TBLPROPERTIES t ('my.key')").fetchall() == [("my.key", "v")]
    assert con.execute("SHOW TBLPROPERTIES lake.main.t (delta.appendOnly)").fetchall() == [("delta.appendOnly", "true")]
    assert con.execute("SHOW TBLPROPERTIES t ('no.such')").fetchall() == []


def test_a_prepared_statement_sees_the_table_as_it_is(con):
    con.execute("CREATE TABLE t AS SELECT 1 AS id")
    con.execute("PREPARE look AS SELECT max(version) FROM braid_history('t')")
    con.execute("PREPARE files AS SELECT numFiles FROM braid_detail('t')")
    assert con.execute("EXECUTE look").fetchone() == (0,) and con.execute("EXECUTE files").fetchone() == (1,)
    con.execute("INSERT INTO t VALUES (2)")
    assert con.execute("EXECUTE look").fetchone() == (1,) and con.execute("EXECUTE files").fetchone() == (2,)


def test_tables_named_like_the_words(con):
    con.execute("CREATE TABLE history (a BIGINT)")
    con.execute("CREATE TABLE detail (b BIGINT)")
    assert con.execute("DESCRIBE history").fetchall()[0][:2] == ("a", "BIGINT")
    assert con.execute("DESC detail").fetchall()[0][:2] == ("b", "BIGINT")
    assert con.execute("DESCRIBE main.history").fetchall()[0][0] == "a"
    assert versions(con, "DESCRIBE HISTORY history") == [0]


@pytest.mark.parametrize(
    "sql, error",
    [
        ("DESCRIBE HISTORY nowhere", "nowhere"),
        ("DESCRIBE HISTORY t LIMIT", "syntax error"),
        ("DESCRIBE HISTORY t LIMIT x", "syntax error"),
        ("DESCRIBE DETAIL t WHERE id = 1", "syntax error"),
        ("SHOW TBLPROPERTIES", "syntax error"),
        ("DESCRIBE HISTORY '/no/such/folder'", "/no/such/folder"),
        ("SELECT * FROM braid_history(NULL)", "NULL"),
        ("SELECT * FROM braid_files('memory.main.plain')", "plain"),
    ],
)
def test_errors(con, sql, error):
    con.execute("CREATE TABLE t (id BIGINT)")
    con.execute("CREATE TABLE memory.main.plain (id BIGINT)")
    with pytest.raises(duckdb.Error, match=error):
        con.execute(sql).fetchall()


def json_objects(text):
    """Of a commit, pretty-printed or not."""
    while text := text.lstrip():
        value, end = json.JSONDecoder().raw_decode(text)
        yield value
        text = text[end:]


def test_golden_histories(golden):
    """Every commitInfo that a JSON parser finds in the commits of 175 tables, and the number of active files that MANIFEST.tsv states."""
    con = open_duckdb()
    manifest = (golden / "MANIFEST.tsv").read_text().splitlines()
    names = manifest[0].split("\t")
    seen = refused = 0
    for line in manifest[1:]:
        facts = dict(zip(names, line.split("\t")))
        table = golden / facts["path"]
        log = table / "_delta_log"
        commits = sorted((int(path.name[:20]), path) for path in log.glob("*.json") if len(path.name) == 25 and path.name[:20].isdigit())
        while any(b[0] != a[0] + 1 for a, b in zip(commits, commits[1:])):
            commits.pop(0)
        expected = []
        for version, path in reversed(commits):
            infos = [action["commitInfo"] for action in json_objects(path.read_text()) if action.get("commitInfo")]
            expected.append((version, infos[0].get("operation") if infos else None, infos[0].get("readVersion") if infos else None))
        if not expected:
            continue
        assert con.execute(f"SELECT version, operation, readVersion FROM braid_history({quote(table)})").fetchall() == expected, table
        seen += 1
        try:
            files = con.execute(f"SELECT numFiles FROM braid_detail({quote(table)})").fetchone()[0]
        except duckdb.NotImplementedException:
            refused += 1
            continue
        assert files == int(facts["active_files"]), table
        assert con.execute(f"SELECT count(*) FROM braid_files({quote(table)})").fetchone()[0] == files
    print(f"{seen} histories read, {refused} tables with a feature that is refused")
    assert seen > 150
