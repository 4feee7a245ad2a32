# SPDX-License-Identifier: Apache-2.0
"""`braid` before it reaches the shell: help, version, and a lake that cannot be opened."""

import pytest


def test_help(braid_command):
    done = braid_command("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "usage: braid DIR" in done.stdout and "braid demo" in done.stdout


def test_no_argument_is_an_error(braid_command):
    done = braid_command()
    assert (done.returncode, done.stdout) == (1, "")
    assert "usage: braid DIR" in done.stderr


def test_version_names_braid_and_duckdb(braid_command):
    assert braid_command("--version").stdout == "braid 0.1.0 (DuckDB 1.5.5)\n"


def test_missing_directory(braid_command, tmp_path):
    missing = tmp_path / "nowhere"
    done = braid_command(missing, "-c", "SELECT 1")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"'{missing}' does not exist" in done.stderr and f"mkdir -p '{missing}'" in done.stderr
    assert not missing.exists()


def test_a_file_is_no_lake(braid_command, tmp_path):
    (tmp_path / "file").write_text("")
    done = braid_command(tmp_path / "file", "-c", "SELECT 1")
    assert (done.returncode, done.stdout) == (1, "")
    assert "is not a directory" in done.stderr


def test_options_before_the_directory_are_refused(braid_command, lake):
    done = braid_command("-json", lake)
    assert done.returncode == 1 and "the directory comes first: braid DIR -json" in done.stderr
