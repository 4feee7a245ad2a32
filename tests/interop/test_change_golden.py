# SPDX-License-Identifier: Apache-2.0
"""Tables of other engines, changed by us on a copy: contents follow a model in Python, and the other engines read the result."""

import shutil

import duckdb
import pyarrow.parquet as pq
import pytest

import delta_log
from conftest import connect_lake
from judges import plain, seen_by_deltalake, seen_by_duckdb_delta

BOTH = ["deltalake", "duckdb"]
READABLE_BY = {
    "delta-kernel/basic-dv-no-checkpoint": BOTH,
    "dat/multi_partitioned/delta": BOTH,
    "dat/multi_partitioned_2/delta": BOTH,
    "dat/column_mapping/delta": BOTH,
    "delta-spark/table-with-dv-large": BOTH,
    "delta-kernel-rs/v2-checkpoints-parquet-with-sidecars": BOTH,
    "delta-kernel-rs/v1-multi-part-struct-stats-only": BOTH,
    "derived/dv-inline": BOTH,
    "dat/check_constraints/delta": BOTH,
    "golden-tables/type-widening": ["duckdb"],  # deltalake refuses it by name
    "derived/row-tracking-materialized": BOTH,
    "golden-tables/table-with-columnmapping-mode-id/delta": BOTH,
    "golden-tables/deltatbl-special-chars-in-partition-column": BOTH,
    "golden-tables/dv-partitioned-with-checkpoint/delta": BOTH,
    "golden-tables/log-replay-dv-key-cases/delta": BOTH,
    "golden-tables/data-reader-partition-values/delta": BOTH,
    "delta-kernel-rs/void-column": ["deltalake"],
}
JUDGES = {"deltalake": seen_by_deltalake, "duckdb": seen_by_duckdb_delta}


def contents(con, table, where="true"):
    return plain(con.execute(f'FROM "{table}" WHERE {where}').to_arrow_table())


def copied(golden, tmp_path, name):
    table = tmp_path / "t"
    shutil.copytree(golden / name, table)
    return table


@pytest.mark.parametrize("name", READABLE_BY)
def test_change_and_read_back(golden, tmp_path, name):
    table = copied(golden, tmp_path, name)
    with connect_lake(table) as con:
        before = contents(con, "t")
        gone = contents(con, "t", "file_row_number = 1")
        assert con.execute("DELETE FROM t WHERE file_row_number = 1").fetchone() == (len(gone),)
        expected = list(before)
        for row in gone:
            expected.remove(row)
        column = con.execute("DESCRIBE t").fetchall()[0][0]
        con.execute(f'UPDATE t SET "{column}" = "{column}" WHERE file_row_number < 3')  # moves rows, changes none
        assert contents(con, "t") == expected
        doubled = contents(con, "t", "true ORDER BY ALL LIMIT 2")
        con.execute("INSERT INTO t SELECT * FROM t ORDER BY ALL LIMIT 2")
        final = contents(con, "t")
        assert doubled and final == sorted(expected + doubled, key=repr)
    for judge in READABLE_BY[name]:
        assert JUDGES[judge](table) == final, judge


@pytest.mark.parametrize(
    "name, feature",
    [
        ("dat/cdf/delta", "changeDataFeed"),
        ("delta-kernel/basic_catalog_managed", "catalogManaged"),
        ("golden-tables/table-with-icebegCompatV2Enabled", "icebergCompatV2"),
    ],
)
def test_what_may_not_be_changed_is_refused_by_name(golden, tmp_path, name, feature):
    table = copied(golden, tmp_path, name)
    files = delta_log.everything(table)
    with connect_lake(table) as con:
        column = con.execute("DESCRIBE t").fetchall()[0][0]
        for statement in ("DELETE FROM t", f'UPDATE t SET "{column}" = NULL'):
            with pytest.raises(duckdb.NotImplementedException, match=feature):
                con.execute(statement)
        assert contents(con, "t") is not None
    assert delta_log.everything(table) == files


def test_a_column_of_no_type_holds_nothing(golden, tmp_path):
    """And is in no file, as deltalake expects it."""
    table = copied(golden, tmp_path, "delta-kernel-rs/void-column")
    with connect_lake(table) as con:
        for statement in ("INSERT INTO t VALUES (8, 5)", "UPDATE t SET void_col = 5 WHERE id = 2", "INSERT INTO t SELECT range, range FROM range(5000)"):
            with pytest.raises(duckdb.InvalidInputException, match='"void_col" has the type void'):
                con.execute(statement)
        con.execute("INSERT INTO t SELECT range, NULL FROM range(5, 5000)")
        con.execute("OPTIMIZE t")
        assert seen_by_deltalake(table) == contents(con, "t") == sorted([(id, None) for id in [1, 2, 3, *range(5, 5000)]], key=repr)
    for path in delta_log.active(table):
        assert pq.ParquetFile(table / path).schema.names == ["id"]
