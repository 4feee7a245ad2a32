# SPDX-License-Identifier: Apache-2.0
"""What every Python suite shares: the built extension in the stock DuckDB wheel, a lake folder, the command, golden tables."""

import os
import pathlib
import subprocess
import warnings

import duckdb
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("BRAID_BUILD", ROOT / "build"))
EXTENSION = BUILD / "braid.duckdb_extension"


def pytest_addoption(parser):
    parser.addoption("--seeds", type=int, default=300, help="random programs per property test")
    parser.addoption("--histories", type=int, default=200, help="random histories of concurrent transactions")
    parser.addoption("--first-seed", type=int, default=1, help="of the histories")
    parser.addoption("--soak-seconds", type=int, default=30, help="how long writers, maintenance and readers run beside each other")


def quote(text) -> str:
    """A SQL string literal."""
    return "'" + str(text).replace("'", "''") + "'"


def open_duckdb(**config) -> duckdb.DuckDBPyConnection:
    """An in-memory database of its own with the extension loaded and nothing attached."""
    con = duckdb.connect(":memory:", config={"allow_unsigned_extensions": "true", **config})
    con.execute(f"LOAD {quote(EXTENSION)}")
    return con


def connect_lake(path, read_only: bool = False, **config) -> duckdb.DuckDBPyConnection:
    """A connection with the folder (or single table) attached as `lake` and in use."""
    con = open_duckdb(**config)
    con.execute(f"ATTACH {quote(path)} AS lake (TYPE braid{', READ_ONLY' if read_only else ''})")
    con.execute("USE lake")
    return con


@pytest.fixture
def lake(tmp_path) -> pathlib.Path:
    """An empty folder to be attached."""
    path = tmp_path / "lake"
    path.mkdir()
    return path


@pytest.fixture
def connect():
    """connect(path, **config) as connect_lake, closed after the test."""
    opened = []

    def open_one(path, **config):
        opened.append(connect_lake(path, **config))
        return opened[-1]

    yield open_one
    for con in opened:
        con.close()


@pytest.fixture
def con(lake, connect) -> duckdb.DuckDBPyConnection:
    """A connection to the empty lake."""
    return connect(lake)


@pytest.fixture
def braid_command():
    """braid_command(*arguments, stdin=None) runs build/braid and returns the finished process (text output)."""

    def run(*arguments, stdin=None, timeout=60, env=None):
        return subprocess.run(
            [str(BUILD / "braid"), *map(str, arguments)],
            input=stdin if stdin is not None else "",
            capture_output=True,
            text=True,
            timeout=timeout,
            env={**os.environ, **(env or {})},
        )

    return run


def golden_path() -> pathlib.Path | None:
    """The folder of golden tables: $BRAID_GOLDEN, else ../shared/golden beside the project; None if there is none."""
    path = pathlib.Path(os.environ.get("BRAID_GOLDEN", ROOT.parent / "shared" / "golden"))
    return path if path.is_dir() else None


@pytest.fixture(scope="session")
def golden() -> pathlib.Path:
    path = golden_path()
    if path is None:
        warnings.warn("NO GOLDEN TABLES: set BRAID_GOLDEN to their folder; the tests that read them are skipped")
        pytest.skip("no golden tables (set BRAID_GOLDEN)")
    return path
