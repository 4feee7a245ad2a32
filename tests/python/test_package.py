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


def test_missing_lake_is_an_error(site, tmp_path):
    done = run(site, f"import braid; braid.connect({str(tmp_path / 'nowhere')!r})")
    assert done.returncode != 0 and "nowhere" in done.stderr


def test_lake_is_attached_and_in_use(site, lake):
    code = f"""
import braid
con = braid.connect({str(lake)!r})
con.execute("CREATE TABLE t AS SELECT i AS id FROM range(5) r(i)")
con.execute("DELETE FROM t WHERE id = 3")
print(con.sql("SELECT list(id ORDER BY id) FROM lake.main.t").fetchall())
print(con.sql("SELECT count(*) AS n FROM t").arrow().read_all().to_pylist())
try:
    braid.connect({str(lake)!r}, read_only=True).execute("DELETE FROM t")
except Exception as refused:
    print("read-only" in str(refused))
"""
    done = run(site, code)
    assert (done.stdout, done.stderr) == ("[([0, 1, 2, 4],)]\n[{'n': 4}]\nTrue\n", "")
