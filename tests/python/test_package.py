# SPDX-License-Identifier: Apache-2.0
"""The package `braid`, installed by pip as a user would, gives ordinary DuckDB connections on a lake."""

import os
import shutil
import subprocess
import sys

import pytest

from conftest import BUILD, EXTENSION, ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the installed package and nothing else. The sources are copied: pip leaves its work beside them."""
    folder = tmp_path_factory.mktemp("package")
    shutil.copytree(ROOT / "python", folder / "python", ignore=shutil.ignore_patterns("build", "*.egg-info"))
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*command, "--target", folder / "site", folder / "python"], check=True, timeout=300,
                   env={**os.environ, "BRAID_BUILD": str(BUILD)})
    yield folder / "site"
    shutil.rmtree(folder)


def run(site, code, **env):
    clean = {k: v for k, v in os.environ.items() if k != "BRAID_EXTENSION"}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120,
                          env={**clean, "PYTHONPATH": str(site), **env})


def test_carries_its_own_extension(site):
    done = run(site, "import braid; print(braid.extension_path())")
    assert done.stdout.strip() == str(site / "braid" / "native" / "braid.duckdb_extension")


def test_the_named_extension_wins(site):
    done = run(site, "import braid; print(braid.extension_path())", BRAID_EXTENSION=str(EXTENSION))
    assert done.stdout.strip() == str(EXTENSION)


def test_connection_without_a_lake(site):
    done = run(site, "import braid; print(type(braid.connect(threads=1)).__name__, "
                     "braid.connect(threads=1).sql(\"SELECT current_setting('threads')\").fetchall())")
    assert (done.stdout, done.stderr) == ("DuckDBPyConnection [(1,)]\n", "")
