# SPDX-License-Identifier: Apache-2.0
"""The built extension loads into the stock wheel and the stock shell, and only exports its entry point."""

import subprocess

from conftest import BUILD, EXTENSION, open_duckdb, quote


def test_loads_into_the_wheel():
    with open_duckdb() as con:
        loaded = con.execute("SELECT loaded FROM duckdb_extensions() WHERE extension_name = 'braid'").fetchall()
    assert loaded == [(True,)]


def test_loads_into_the_shell():
    done = subprocess.run(
        [BUILD / "duckdb", "-unsigned", "-csv", "-noheader", "-c", f"LOAD {quote(EXTENSION)}", "-c", "SELECT 41 + 1"],
        capture_output=True, text=True, timeout=60,
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "42", "")


def test_exports_only_the_entry_point():
    symbols = subprocess.run(["nm", "-D", "--defined-only", EXTENSION], capture_output=True, text=True, check=True).stdout
    assert [line.split()[-1] for line in symbols.splitlines()] == ["braid_duckdb_cpp_init"]
