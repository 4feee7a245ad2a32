# SPDX-License-Identifier: Apache-2.0
"""The kernel alone (build/braid_bench): a commit that registers a file, opening a log of 100 000 adds, refreshing it by one commit,
finding rows again that a rearrangement has moved.

Opening from a checkpoint goes through SQL, because the kernel reads Parquet by DuckDB: ATTACH and DESCRIBE against read_parquet of the
checkpoint's path and statistics."""

import json
import statistics
import subprocess

import deltalake
import pyarrow
import pyarrow.compute

import data
import engines
from engines import run
from measure import Line, timed


def kernel_bench(recorder, name, mode, root, repetitions):
    command = [str(engines.KERNEL_BENCH), mode, str(root), str(repetitions)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    samples = json.loads(done.stdout)
    for side, values in samples.items():
        for rep, value in enumerate(values):
            recorder.raw(name, side, rep, value)
    return samples["measured"], samples["reference"]


def commit(recorder, tables):
    name = "commit/register"
    root, repetitions = tables.copy("ev-empty"), recorder.reps(301)
    ours, theirs = kernel_bench(recorder, name, "commit", root, repetitions)
    good = len(deltalake.DeltaTable(str(root)).file_uris()) == repetitions
    note = "kernel transaction against temporary file + fsync + link + fsync of the directory"
    recorder.ratio(name, ours, theirs, 2, verified=good, verified_by="deltalake", note=note)


def open_commits(recorder, tables, name, table, commits):
    """braid_bench itself compares the number of files with what simdjson counts."""
    ours, theirs = kernel_bench(recorder, name, "open", tables.copy(table), recorder.reps(15))
    note = f"{data.ADDS:,} adds in {commits} commits against reading and simdjson's parse"
    recorder.ratio(name, ours, theirs, 2, verified=True, verified_by="simdjson", note=note)


def open_json(recorder, tables):
    open_commits(recorder, tables, "log/open-json", "log-json", 1)


def open_split(recorder, tables):
    open_commits(recorder, tables, "log/open-split", "log-split", data.SPLIT)


def refresh(recorder, tables):
    name, root = "log/refresh", tables.copy("log-json")
    ours, _ = kernel_bench(recorder, name, "refresh", root, recorder.reps(101))
    note = f"by one commit, {data.ADDS:,} files"
    recorder.add(Line(name, statistics.median(ours), None, "ms", repetitions=len(ours), limit=1, note=note))


def follow(recorder, tables, order):
    """braid_bench itself counts the rows."""
    name = f"follow/{order}"
    ours, _ = kernel_bench(recorder, name, f"follow-{order}", tables.copy("ev-empty"), recorder.reps(15))
    note = "a delete of 100,000 rows of a file of 10 million that was rewritten, by the map of its rows"
    recorder.add(Line(name, statistics.median(ours), None, "ms", repetitions=len(ours), limit=100, note=note))


def follow_packed(recorder, tables):
    follow(recorder, tables, "packed")


def follow_shuffled(recorder, tables):
    follow(recorder, tables, "shuffled")


def open_checkpoint(recorder, tables):
    name = "log/open-checkpoint"
    root = tables.copy("log-ckpt")
    checkpoint = next((root / "_delta_log").glob("*.checkpoint.parquet"))
    con = engines.connect()
    bare = f"select count(add.path), sum(strlen(add.path)), sum(strlen(add.stats)) from read_parquet('{checkpoint}')"

    def opened(rep):
        taken = timed(lambda: engines.attach(con, root))
        engines.detach(con)
        return taken

    ours, theirs = recorder.pairs(name, opened, lambda rep: timed(lambda: run(con, bare)), repetitions=15, warm=2)
    note = f"{data.ADDS:,} adds: ATTACH and DESCRIBE against read_parquet of path and stats"
    recorder.ratio(name, ours, theirs, 4, verified=same_files(con, root), verified_by="deltalake", note=note)


def same_files(con, root) -> bool:
    """Whether Braid and deltalake see the same number of files, bytes, rows and sum of the smallest ids."""
    engines.attach(con, root)
    sql = "select count(*), sum(size), sum(numRecords), sum(minValues['id']::bigint) from braid_files('ev')"
    ours = run(con, sql)[0]
    engines.detach(con)
    adds = pyarrow.table(deltalake.DeltaTable(str(root)).get_add_actions(flatten=True))
    columns = ("size_bytes", "num_records", "min.id")
    return tuple(map(int, ours)) == (adds.num_rows, *(pyarrow.compute.sum(adds[column]).as_py() for column in columns))
