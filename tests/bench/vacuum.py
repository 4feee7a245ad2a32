# SPDX-License-Identifier: Apache-2.0
"""VACUUM of a table of which nearly every file is to go, against listing and deleting as many files without looking at any log."""

import os
import shutil
import time

import engines
from engines import run
from measure import timed

FILES = 100_000
DIRECTORIES = 100


def measure(recorder, tables):
    files = FILES // 10 if recorder.quick else FILES
    root = tables.work / "vacuum"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    con = engines.connect()
    run(con, f"attach '{root}' as lake (type braid)")
    run(con, "use lake")
    run(con, "create table t as select range as id, range % 7 as v from range(100000)")
    run(con, "set braid_retention_check = false")
    rows = con.execute("select count(*), sum(id) from t").fetchone()
    left = []

    def ours(_):
        fill(root / "t", files)
        took = timed(lambda: run(con, "vacuum t retain 0 hours"))
        left.append(sum(len(names) for base, _, names in os.walk(root / "t") if "_delta_log" not in base and "_braid" not in base))
        return took

    def theirs(_):
        fill(root / "plain", files)
        return timed(lambda: list_and_delete(root / "plain"))

    a, b = recorder.pairs("maintenance/vacuum", ours, theirs, 5)
    same = con.execute("select count(*), sum(id) from t").fetchone() == rows and set(left) == {left[0]} and left[0] < 10
    engines.detach(con)
    con.close()
    recorder.ratio("maintenance/vacuum", a, b, 2, verified=same, verified_by="count of files", note=f"{files:,} files; against listing and deleting them")


def fill(folder, files):
    old = time.time() - 3600
    for d in range(DIRECTORIES):
        directory = folder / f"p={d}"
        directory.mkdir(parents=True, exist_ok=True)
        for i in range(files // DIRECTORIES):
            path = f"{directory}/part-{i:05}-00000000-0000-4000-8000-000000000000.c000.snappy.parquet"
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
            os.utime(path, (old, old))
        os.utime(directory, (old, old))


def list_and_delete(folder):
    """What `rm -r` does."""
    shutil.rmtree(folder)
