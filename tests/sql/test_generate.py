# SPDX-License-Identifier: Apache-2.0
"""GENERATE symlink_format_manifest (N21): where the files are, for readers that know no log; refused where such readers would see wrong rows."""

import urllib.parse

import pyarrow.parquet as pq
import pytest

import delta_log
from refusal import refuse

GENERATE = "GENERATE symlink_format_manifest FOR TABLE t"


def manifests(t):
    folder = t / "_symlink_format_manifest"
    return {str(path.parent.relative_to(folder)): path.read_text().splitlines() for path in folder.rglob("manifest")}


def test_n21_deletion_vectors(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(100)")
    con.execute("DELETE FROM t WHERE id = 3")
    refuse(con, lake / "t", GENERATE, "DELTA_UNSUPPORTED_GENERATE_WITH_DELETION_VECTORS", "0A000", "PURGE")
    refuse(con, lake / "t", "ALTER TABLE t SET TBLPROPERTIES ('delta.compatibility.symlinkFormatManifest.enabled' = 'true')", "0A000", "GENERATE")
    con.execute("REORG TABLE t APPLY (PURGE)")
    at = delta_log.version(lake / "t")
    assert con.execute(GENERATE).fetchall() == [(1,)]
    assert delta_log.version(lake / "t") == at
    place, = manifests(lake / "t")["."]
    assert place.startswith("file:/")
    assert pq.read_table(place.removeprefix("file:"))["id"].to_pylist() == [i for i in range(100) if i != 3]


def test_partitions_and_manifests_that_are_out_of_date(con, lake):
    con.execute("CREATE TABLE t (id INT, p VARCHAR, n INT) PARTITIONED BY (p, n)")
    con.execute("INSERT INTO t VALUES (1, 'a b', 1), (2, 'c/d', 1), (3, NULL, 2)")
    con.execute("INSERT INTO t VALUES (4, 'a b', 1)")
    assert con.execute(GENERATE).fetchall() == [(3,)]
    found = manifests(lake / "t")
    assert {folder: len(places) for folder, places in found.items()} == {"p=a b/n=1": 2, "p=c%2Fd/n=1": 1, "p=__HIVE_DEFAULT_PARTITION__/n=2": 1}
    for folder, places in found.items():
        assert {tuple(urllib.parse.unquote(part) for part in place.split("/")[-3:-1]) for place in places} == {tuple(urllib.parse.unquote(part) for part in folder.split("/"))}
    con.execute("DELETE FROM t WHERE p = 'c/d'")
    con.execute(GENERATE)
    assert sorted(manifests(lake / "t")) == ["p=__HIVE_DEFAULT_PARTITION__/n=2", "p=a b/n=1"]
    con.execute("TRUNCATE t")
    assert con.execute(GENERATE).fetchall() == [(0,)] and manifests(lake / "t") == {}


def test_refusals(con, lake):
    con.execute("CREATE TABLE t (id INT) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    refuse(con, lake / "t", GENERATE, "COLUMN_MAPPING")
    refuse(con, lake / "t", "GENERATE csv FOR TABLE t", "DELTA_UNSUPPORTED_GENERATE_MODE")
    refuse(con, lake / "t", "GENERATE symlink_format_manifest t", "syntax error")
    with pytest.raises(Exception, match="missing"):
        con.execute("GENERATE symlink_format_manifest FOR TABLE missing")
