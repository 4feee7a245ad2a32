# SPDX-License-Identifier: Apache-2.0
"""`braid DIR`: the stock shell with the lake attached and in use; its options, streams and exit status are its own."""

import json

import pytest


@pytest.fixture
def filled(lake, braid_command):
    done = braid_command(lake, "-c", "CREATE TABLE t AS SELECT i AS id, 'r' || i AS s FROM range(3) r(i)")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return lake


def test_json(filled, braid_command):
    done = braid_command(filled, "-json", "-c", "SELECT id, s FROM t ORDER BY id")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == [{"id": 0, "s": "r0"}, {"id": 1, "s": "r1"}, {"id": 2, "s": "r2"}]


def test_csv_prints_nothing_but_the_result(filled, braid_command):
    done = braid_command(filled, "-csv", "-c", "SELECT count(*) AS n FROM lake.main.t")
    assert (done.returncode, done.stdout, done.stderr) == (0, "n\n3\n", "")


def test_statements_change_the_table(filled, braid_command):
    script = "UPDATE t SET s = 'x' WHERE id = 1;\nDELETE FROM t WHERE id = 2;\nINSERT INTO t VALUES (7, 'new');\n"
    assert braid_command(filled, "-csv", stdin=script).returncode == 0
    done = braid_command(filled, "-csv", "-noheader", "-c", "SELECT * FROM t ORDER BY id")
    assert done.stdout == "0,r0\n1,x\n7,new\n"


def test_standard_input_stops_at_the_first_error(filled, braid_command):
    done = braid_command(filled, "-csv", "-noheader", stdin="SELECT 1;\nSELECT nope FROM t;\nSELECT 2;\n")
    assert (done.returncode, done.stdout) == (1, "1\n")
    assert "nope" in done.stderr


def test_failing_command(filled, braid_command):
    done = braid_command(filled, "-c", "SELECT * FROM missing_table", "-c", "SELECT 1")
    assert (done.returncode, done.stdout) == (1, "")
    assert "missing_table" in done.stderr


def test_readonly(filled, braid_command):
    assert braid_command(filled, "-readonly", "-csv", "-noheader", "-c", "SELECT count(*) FROM t").stdout == "3\n"
    done = braid_command(filled, "-readonly", "-c", "DELETE FROM t")
    assert done.returncode == 1 and "read-only" in done.stderr
    assert braid_command(filled, "-csv", "-noheader", "-c", "SELECT count(*) FROM t").stdout == "3\n"


@pytest.mark.parametrize("name", ["with space", "it's", 'a "quoted" one', "semi;colon", "dollar$HOME", "line\nbreak", "ünïcode", "%41"])
def test_any_directory_name(tmp_path, braid_command, name):
    path = tmp_path / name
    path.mkdir()
    assert braid_command(path, "-c", "CREATE TABLE t AS SELECT 42 AS x").stderr == ""
    assert (path / "t" / "_delta_log").is_dir()
    assert braid_command(path, "-csv", "-noheader", "-c", "SELECT x FROM t").stdout == "42\n"


def test_a_single_table_is_named_by_its_directory(filled, braid_command):
    done = braid_command(filled / "t", "-csv", "-noheader", "-c", "SELECT count(*) FROM t")
    assert (done.returncode, done.stdout) == (0, "3\n")


def test_the_users_own_settings_are_read(filled, braid_command, tmp_path):
    (tmp_path / ".duckdbrc").write_text(".mode csv\n.headers off\n")
    done = braid_command(filled, "-c", "SELECT count(*) FROM t", env={"HOME": str(tmp_path)})
    assert (done.returncode, done.stdout) == (0, "3\n")


def test_a_directory_that_is_no_table_or_lake_gives_one_clear_error(tmp_path, braid_command):
    log = tmp_path / "broken" / "_delta_log"
    log.mkdir(parents=True)
    (log / "00000000000000000000.json").write_text("not json\n")
    done = braid_command(tmp_path / "broken", "-c", "SELECT * FROM broken")
    assert (done.returncode, done.stdout) == (1, "")
    assert "broken" in done.stderr and "INTERNAL" not in done.stderr
