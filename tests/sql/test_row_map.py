# SPDX-License-Identifier: Apache-2.0
"""The map of a rearrangement (docs/formats/row_map.md): whoever loses against it finds his rows, with it and without it; it is small; none is left behind."""

import json

import duckdb
import pytest

import delta_log
from judges import assert_all_see


def rows(con):
    return con.execute("SELECT * FROM t ORDER BY ALL").fetchall()


def row_map(lake):
    return lake / "t" / delta_log.info(lake / "t")["braid"]["rowMap"]


def files(lake):
    return {path for path in (lake / "t").rglob("*") if path.is_file()}


@pytest.fixture
def ten_files(con):
    con.execute("CREATE TABLE t (id BIGINT, k INT, s VARCHAR)")
    for i in range(10):
        con.execute(f"INSERT INTO t SELECT range, range * 7919 % 1000, 's' || range FROM range({i * 100}, {i * 100 + 100})")


REARRANGEMENTS = ["OPTIMIZE t", "OPTIMIZE t ZORDER BY (k, id)"]


@pytest.mark.parametrize("rearrangement", REARRANGEMENTS)
def test_rows_are_followed_without_the_old_files(con, connect, lake, ten_files, rearrangement):
    """As after a VACUUM: neither content nor row ids of the old files can be read any more."""
    before = rows(con)
    old = [lake / "t" / path for path in delta_log.active(lake / "t")]
    loser = connect(lake)
    loser.execute("BEGIN")
    loser.execute("UPDATE t SET s = 'followed' WHERE id IN (3, 333, 999)")
    con.execute(rearrangement)
    assert row_map(lake).exists()
    for path in old:
        path.unlink()
    loser.execute("COMMIT")
    assert rows(con) == [(*r[:2], "followed") if r[0] in (3, 333, 999) else r for r in before]
    assert_all_see(con, lake / "t")


@pytest.mark.parametrize("rearrangement", REARRANGEMENTS)
@pytest.mark.parametrize("damage", ["none", "empty", "rubbish", "bit", "of another"])
def test_without_a_good_map_rows_are_followed_by_content(con, connect, lake, ten_files, rearrangement, damage):
    before = rows(con)
    con.execute("CREATE TABLE other AS SELECT 1 AS a")
    con.execute("INSERT INTO other VALUES (2)")
    con.execute("OPTIMIZE other")
    other = lake / "other" / delta_log.info(lake / "other")["braid"]["rowMap"]
    loser = connect(lake)
    loser.execute("BEGIN")
    loser.execute("DELETE FROM t WHERE id % 100 = 7")
    con.execute(rearrangement)
    path = row_map(lake)
    good = path.read_bytes()
    path.unlink()
    if damage != "none":
        middle = len(good) // 2
        path.write_bytes({
            "empty": b"",
            "rubbish": b"BRAIDMAP rubbish",
            "bit": good[:middle] + bytes([good[middle] ^ 4]) + good[middle + 1:],
            "of another": other.read_bytes(),
        }[damage])
    loser.execute("COMMIT")
    assert rows(con) == [r for r in before if r[0] % 100 != 7]


@pytest.mark.parametrize("rearrangement", REARRANGEMENTS)
def test_a_rearrangement_that_loses_masks_what_others_changed(con, connect, lake, ten_files, rearrangement):
    before = rows(con)
    loser = connect(lake)
    loser.execute("BEGIN")
    loser.execute(rearrangement)
    con.execute("DELETE FROM t WHERE id BETWEEN 50 AND 149")
    con.execute("UPDATE t SET s = 'new' WHERE id = 500")
    loser.execute("COMMIT")
    assert rows(con) == [(*r[:2], "new") if r[0] == 500 else r for r in before if not 50 <= r[0] <= 149]
    assert_all_see(con, lake / "t")


def test_partitions_and_chains(con, connect, lake):
    con.execute("CREATE TABLE t (id BIGINT, p VARCHAR) PARTITIONED BY (p)")
    for i in range(4):
        con.execute(f"INSERT INTO t SELECT range, ['a b', 'c%d', NULL][1 + range % 3] FROM range({i * 300}, {i * 300 + 300})")
    before = rows(con)
    loser = connect(lake)
    loser.execute("BEGIN")
    loser.execute("DELETE FROM t WHERE id % 50 = 1")
    con.execute("OPTIMIZE t WHERE p = 'a b'")
    con.execute("OPTIMIZE t")
    con.execute("OPTIMIZE t ZORDER BY (id)")
    con.execute("DELETE FROM t WHERE id = 2")
    con.execute("REORG TABLE t APPLY (PURGE)")
    loser.execute("COMMIT")
    assert rows(con) == [r for r in before if r[0] % 50 != 1 and r[0] != 2]


def test_maps_are_small(con, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id, (hash(range) // 2)::BIGINT AS h FROM range(300000)")
    con.execute("INSERT INTO t SELECT range, hash(range) // 2 FROM range(300000)")
    con.execute("DELETE FROM t WHERE hash(id) % 10 < 4")
    count = len(rows(con))
    con.execute("OPTIMIZE t")
    assert row_map(lake).stat().st_size * 8 <= 2 * count
    con.execute("OPTIMIZE t ZORDER BY (h, id)")
    assert row_map(lake).stat().st_size * 8 <= 19.1 * count  # 19 bits number 360 000 rows


def test_a_rearrangement_of_files_without_row_counts(con, connect, lake):
    con.execute("CREATE TABLE t AS SELECT range AS id FROM range(1000)")
    con.execute("INSERT INTO t SELECT range FROM range(1000, 2000)")
    for log in (lake / "t" / "_delta_log").glob("*.json"):  # as some writers leave them out
        actions = [json.loads(line) for line in log.read_text().splitlines()]
        for action in actions:
            action.get("add", {}).pop("stats", None)
        log.write_text("".join(json.dumps(action) + "\n" for action in actions))
    con, loser = connect(lake), connect(lake)
    loser.execute("BEGIN")
    loser.execute("OPTIMIZE t")
    con.execute("DELETE FROM t WHERE id IN (5, 1500)")
    loser.execute("COMMIT")
    assert rows(con) == [(i,) for i in range(2000) if i not in (5, 1500)]


def test_a_rearrangement_that_fails_leaves_no_file(con, connect, lake, ten_files):
    before = files(lake)
    con.execute("BEGIN")
    con.execute("OPTIMIZE t")
    assert files(lake) > before
    con.execute("ROLLBACK")
    assert files(lake) == before
    con.execute("BEGIN")
    con.execute("OPTIMIZE t ZORDER BY (k)")
    connect(lake).execute("ALTER TABLE t ADD COLUMN more INT")
    before = files(lake)
    with pytest.raises(duckdb.Error, match="METADATA"):
        con.execute("COMMIT")
    assert not [path for path in files(lake) if path.suffix == ".map"]
    assert len(list((lake / "t").glob("*.parquet"))) == 10


def test_one_with_nothing_left_to_do_leaves_no_map(con, connect, lake, ten_files):
    loser = connect(lake)
    loser.execute("BEGIN")
    loser.execute("OPTIMIZE t")
    con.execute("OPTIMIZE t")
    loser.execute("COMMIT")
    assert [path for path in files(lake) if path.suffix == ".map"] == [row_map(lake)]
