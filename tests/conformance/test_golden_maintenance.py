# SPDX-License-Identifier: Apache-2.0
"""Maintenance of tables that other engines have written, on copies: each statement leaves the contents as they were, or refuses by the name of the
feature that stands in the way. RESTORE brings back what the list of versions says. Judges: deltalake and DuckDB's delta extension, where they can read."""

import collections
import shutil

import duckdb
import pytest

import delta_log
from conformance.golden_tables import read_tsv
from conftest import connect_lake, golden_path
from judges import plain, seen_by_braid, seen_by_deltalake, seen_by_duckdb_delta

MANY_ROWS = 3000  # comparing more takes long
STATEMENTS = ["VACUUM t RETAIN 0 HOURS DRY RUN", "FSCK REPAIR TABLE t DRY RUN", "CHECKPOINT lake.t", "OPTIMIZE t", "REORG TABLE t APPLY (PURGE)",
              "VACUUM t RETAIN 0 HOURS", "VACUUM t LITE RETAIN 0 HOURS"]  # fmt: skip
NOT_READ = ("variant", "geo")  # in the names of tables that are refused (test_golden.py)
# Tables that must not be changed, and the feature that a refusal names.
NOT_CHANGED = {
    "delta-kernel-rs/catalog_managed_0": "catalogManaged",
    "delta-kernel-rs/partitioned_with_materialize_feature": "materializePartitionColumns",
    "delta-kernel/basic_catalog_managed": "catalogManaged",
    "delta-kernel/catalog-owned-preview": "catalogManaged",
    "delta-rs/table_with_liquid_clustering": "liquid",
    "golden-tables/collations-preview-table": "collations-preview",
    "golden-tables/collations-table": "collations",
    "golden-tables/table-with-icebegCompatV2Enabled": "icebergCompatV2",
}
# Their logs do not begin with version 0, so LITE asks for FULL; here FULL has been run before, and has found nothing that it could record.
NO_LITE = {"dat/no_replay/delta": "DELTA_CANNOT_VACUUM_LITE"}


def tables():
    path = golden_path()
    manifest = read_tsv(path / "MANIFEST.tsv") if path else []
    return [table["path"] for table in manifest if int(table["expected_rows"]) <= MANY_ROWS and not any(word in table["path"] for word in NOT_READ)]


def first_versions():
    """The oldest version of each table whose files are all there, as VERSIONS.tsv describes it."""
    lines = collections.OrderedDict()
    for line in read_tsv(golden_path() / "VERSIONS.tsv") if golden_path() else []:
        if line["rows"]:
            lines.setdefault(line["path"], line)
    return lines


FIRST = first_versions()


@pytest.fixture
def open_copy(golden, tmp_path):
    opened = []

    def open_one(name):
        shutil.copytree(golden / name, tmp_path / "lake" / "t")
        opened.append(connect_lake(tmp_path / "lake"))
        opened[-1].execute("SET braid_retention_check = false")
        opened[-1].execute("SET braid_durability = 'none'")
        return opened[-1], tmp_path / "lake" / "t"

    yield open_one
    for con in opened:
        con.close()


def judges(path, rows):
    """Those that read these rows: deltalake misreads some old timestamps, both refuse some features."""

    def reads(judge):
        try:
            return judge(path) == rows
        except BaseException:  # noqa: BLE001 - a panic of deltalake is no Exception
            return False

    return [judge for judge in (seen_by_deltalake, seen_by_duckdb_delta) if reads(judge)]


def run(con, path, statement, refusal):
    """As it must go: with an answer, or with an error that names the feature and leaves everything as it was."""
    before = delta_log.everything(path)
    if not refusal:
        con.execute(statement).fetchall()
    else:
        with pytest.raises(duckdb.Error, match=refusal) as error:
            con.execute(statement)
        assert isinstance(error.value, duckdb.NotImplementedException), error.value
    if refusal or "DRY RUN" in statement:
        assert delta_log.everything(path) == before, statement


@pytest.mark.parametrize("name", tables())
def test_contents_stay(name, open_copy):
    con, path = open_copy(name)
    rows = seen_by_braid(con)
    able = judges(path, rows)
    for statement in STATEMENTS:
        free = statement.startswith(("FSCK", "CHECKPOINT"))  # they change nothing, or nothing that a feature says anything of
        refusal = None if free else NOT_CHANGED.get(name) or (" LITE " in statement and NO_LITE.get(name))
        run(con, path, statement, refusal)
        assert seen_by_braid(con) == rows, statement
    for judge in able:
        assert judge(path) == rows, judge.__name__


@pytest.mark.parametrize("name", [name for name in tables() if name in FIRST])
def test_restore_the_oldest_version(name, open_copy):
    con, path = open_copy(name)
    version = FIRST[name]["version"]
    wanted = plain(con.execute(f"FROM t AT (VERSION => {version})").to_arrow_table())
    assert str(len(wanted)) == FIRST[name]["rows"]
    try:
        judged = seen_by_deltalake(path, int(version)) == wanted
    except BaseException:  # noqa: BLE001
        judged = False
    able = judges(path, seen_by_braid(con)) if judged else []
    refusal = NOT_CHANGED.get(name)
    run(con, path, f"RESTORE t TO VERSION AS OF {version}", refusal)
    if not refusal:
        assert seen_by_braid(con) == wanted
        for judge in able:
            assert judge(path) == wanted, judge.__name__


def test_the_tables_that_are_judged(golden):
    """Most tables can be read by one of the judges at least; so that a change of them does not make this suite empty unseen."""
    assert len(tables()) >= 150 and sum(name in FIRST for name in tables()) >= 140
