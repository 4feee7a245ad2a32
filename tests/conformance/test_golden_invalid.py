# SPDX-License-Identifier: Apache-2.0
"""Broken tables and operations that must be refused: each gives an error that says why, never a crash, never a wrong answer."""

import re
import shutil

import delta_log
import duckdb
import pytest
from conftest import connect_lake, golden_path, open_duckdb

from conformance.golden_tables import read_tsv, scan

# (table, operation) -> what the message must say.
READS = {
    ("invalid/derived/dv-bad-crc", "read"): "checksum",
    ("invalid/derived/dv-bad-magic", "read"): "magic",
    ("invalid/derived/dv-size-mismatch", "read"): "size",
    ("invalid/derived/dv-file-missing", "read"): "no such file|not found|No such file",
    ("invalid/derived/dv-version-byte", "read"): "version",
    ("invalid/derived/data-file-missing", "read"): "No such file",
    ("invalid/derived/data-file-truncated", "read"): "magic bytes|too small|Parquet",
    ("invalid/derived/commit-json-truncated", "snapshot"): "truncated",
    ("invalid/derived/commit0-empty", "snapshot"): "is empty",
    ("invalid/derived/commit0-missing", "snapshot"): "version 0|checkpoint",
    ("invalid/derived/unknown-reader-feature", "snapshot"): "timeMachine",
    ("invalid/derived/reader-version-4", "snapshot"): "reader.*4",
    ("invalid/derived/v3-without-feature-lists", "snapshot"): "[Ff]eatures",
    ("invalid/derived/features-with-old-version", "snapshot"): "[Ff]eatures",
    ("invalid/derived/two-metadata-in-one-commit", "snapshot"): "metaData",
    ("invalid/derived/unknown-type", "snapshot"): "hyperloglog",
    ("invalid/derived/decimal-39", "snapshot"): "decimal.*39|38",
    ("invalid/derived/schema-string-malformed", "snapshot"): "schema",
    ("invalid/derived/column-mapping-without-physical-names", "snapshot"): "physicalName|columnMapping",
    ("invalid/derived/partition-column-not-in-schema", "snapshot"): "nope",
    ("invalid/derived/multipart-checkpoint-incomplete", "snapshot"): "checkpoint",
    ("invalid/derived/checkpoint-truncated", "snapshot"): "checkpoint",
    ("invalid/derived/same-file-added-twice-in-commit", "snapshot"): "twice",
    ("invalid/derived/ict-enabled-but-absent", "time-travel"): "inCommitTimestamp",
    ("invalid/golden-tables/deltalog-invalid-protocol-version", "snapshot"): "99",
    ("invalid/golden-tables/deltalog-state-reconstruction-from-checkpoint-missing-metadata", "snapshot"): "metaData",
    ("invalid/golden-tables/deltalog-state-reconstruction-without-metadata", "snapshot"): "metaData",
    ("invalid/golden-tables/deltalog-state-reconstruction-without-protocol", "snapshot"): "protocol",
    ("invalid/golden-tables/no-delta-log-folder", "snapshot"): "not a Delta table|_delta_log",
    ("invalid/golden-tables/versions-not-contiguous", "snapshot"): "version 1|gap|missing",
    ("invalid/golden-tables/data-reader-absolute-paths-escaped-chars", "snapshot"): "metaData|protocol",
    ("invalid/delta-rs/table_c", "snapshot"): "12",
    ("invalid/delta-rs/table_d", "snapshot"): "catalogOwned",
    ("invalid/delta-rs/table_f", "snapshot"): "catalogOwned",
    ("invalid/delta-rs/simple_table_features", "snapshot"): "5|blahabl",
    ("golden-tables/snapshot-vacuumed/delta", "read version 0"): "No such file",
    ("dat/no_replay/delta", "read version 2"): "No such file",
    ("dat/basic_append/delta", "read version 2"): "version 2|latest|newest",
    ("dat/basic_append/delta", "read version -1"): "-1",
    ("delta-rs/checkpoint-cdf-table", "read version 0"): "version 0|earliest",
    ("delta-kernel-rs/table-with-geo", "snapshot"): "geospatial",
}
# Outcomes that INVALID.tsv accepts instead of an error: how many rows there are then.
ACCEPTED_ROWS = {
    "invalid/derived/two-metadata-in-one-commit": 5,
    "invalid/derived/checkpoint-truncated": None,  # as dat/with_checkpoint
    "invalid/derived/same-file-added-twice-in-commit": 5,
}
# (table, operation) -> (statement on the table t, what the message must say)
WRITES = {
    ("invalid/derived/unknown-writer-feature", "write"): ("INSERT INTO {t} SELECT * FROM {t}", "quantumWrites"),
    ("invalid/derived/append-only", "delete"): ("DELETE FROM {t}", "append"),
    ("dat/check_constraints/delta", "insert int=0"): ("INSERT INTO {t} VALUES ('x', 0, DATE '2020-01-01')", "const1 .int > 0. .*violated.*int=0"),
    ("dat/generated_columns/delta", "insert with a wrong value for the generated column"):
        ("INSERT INTO {t} VALUES ('x', 1, DATE '2020-01-01', DATE '1999-01-01')", "generated column creation.*violated"),
    ("duckdb-delta/null_constraints_structs", "insert i=NULL"): ("INSERT INTO {t} (i) VALUES (NULL)", "NOT NULL|null"),
    ("delta-kernel/basic_catalog_managed", "write by path"): ("INSERT INTO {t} SELECT * FROM {t}", "catalogManaged"),
    ("delta-rs/table_with_liquid_clustering", "write"): ("INSERT INTO {t} SELECT * FROM {t}", "liquid"),
    ("delta-kernel-rs/partition_cm-name", "add a second column with an existing name"):
        ("ALTER TABLE {t} ADD COLUMN VALUE BIGINT", "already"),
    ("golden-tables/collations-table", "write"): ("INSERT INTO {t} SELECT * FROM {t}", "collations"),
}
# Operations that this build does not have yet: the change data feed.
NOT_HERE = re.compile(r"cdf .*")


def cases() -> list[tuple[str, str]]:
    path = golden_path()
    return [(line["path"], line["operation"]) for line in read_tsv(path / "INVALID.tsv")] if path else []


def test_every_line_of_the_list_is_covered(golden):
    uncovered = [case for case in cases() if case not in READS and case not in WRITES and not NOT_HERE.fullmatch(case[1])]
    assert uncovered == []
    assert len(cases()) == 54


def run_read(golden, table: str, operation: str) -> list:
    con = open_duckdb()
    version = re.fullmatch(r"read version (-?\d+)", operation)
    source = scan(golden, table, version[1] if version else None)
    if operation == "time-travel":
        source = scan(golden, table)[:-1] + ''', "timestamp" => TIMESTAMPTZ '2100-01-01 00:00:00+00')'''
    return con.execute(f"SELECT * FROM {source}").fetchall()


@pytest.mark.parametrize(("table", "operation"), list(READS), ids=map(" ".join, READS))
def test_a_read_that_cannot_be_right_is_refused(golden, table, operation):
    try:
        rows = run_read(golden, table, operation)
    except duckdb.Error as error:
        assert re.search(READS[table, operation], str(error)), str(error)
        assert "INTERNAL" not in str(error)
        assert table.split("/")[-1].removesuffix("delta") in str(error)  # the message names the table
        return
    assert table in ACCEPTED_ROWS, f"{len(rows)} rows were read"
    expected = ACCEPTED_ROWS[table]
    if expected is None:
        expected = len(run_read(golden, "dat/with_checkpoint/delta", "read"))
    assert len(rows) == expected


@pytest.mark.parametrize(("table", "operation"), list(WRITES), ids=map(" ".join, WRITES))
def test_a_write_that_is_not_allowed_is_refused_and_changes_nothing(golden, tmp_path, table, operation):
    copy = tmp_path / "lake" / "t"
    shutil.copytree(golden / table, copy)
    before = delta_log.everything(copy)
    con = connect_lake(tmp_path / "lake")
    statement, message = WRITES[table, operation]
    with pytest.raises(duckdb.Error, match=message):
        con.execute(statement.format(t="lake.t"))
    con.execute("SELECT count(*) FROM t").fetchall()
    con.close()
    assert delta_log.everything(copy) == before
