# SPDX-License-Identifier: Apache-2.0
"""OPTIMIZE of 200 files beside DuckDB's COPY of the same files into one and beside deltalake; ZORDER BY (k, d) beside deltalake.

Both Delta engines know the newest version before the clock starts; Braid is durable, deltalake and COPY do not fsync. The same target size,
codec and row groups for all. DuckDB's delta extension compares every row of both results with the input.

How well ZORDER clusters a column: the mean share of the files whose bounds leave room for a value of it, over 1 000 values of the input (without
any order 1). The bounds are those in the log, read by deltalake for both.
"""

import datetime
import statistics

import deltalake

import engines
from engines import run
from measure import timed

TARGET = 16 << 20
ONE_FILE = 1 << 30
COLUMNS = "id, k, grp, v, s, d"
WRITER = deltalake.WriterProperties(compression="SNAPPY", max_row_group_size=122_880)
COPY = "format parquet, compression snappy, row_group_size 122880"


def compaction(recorder, tables):
    """200 files into one."""
    con = engines.connect()
    results = {}
    one_file = f"alter table ev set tblproperties ('delta.targetFileSize' = '{ONE_FILE}')"

    def braid(rep):
        results["braid"] = root = tables.copy("ev-f200")
        return optimized(con, root, "optimize ev", one_file)

    def copy(rep):
        source = tables.home / "ev-f200" / "*.parquet"
        target = tables.copy("ev-empty") / "copy.parquet"
        return timed(lambda: run(con, f"copy (from read_parquet('{source}')) to '{target}' ({COPY})"))

    def peer(rep):
        results["deltalake"] = root = tables.copy("ev-f200")
        table = deltalake.DeltaTable(str(root))
        return timed(lambda: table.optimize.compact(target_size=ONE_FILE, writer_properties=WRITER))

    if recorder.wants("optimize/200-files/copy"):
        ours, theirs = recorder.pairs("optimize/200-files/copy", braid, copy, 5)
        good = same_rows(tables, results["braid"])
        recorder.ratio("optimize/200-files/copy", ours, theirs, 1.5, verified=good, verified_by="delta extension")
    if recorder.wants("optimize/200-files/deltalake"):
        ours, theirs = recorder.pairs("optimize/200-files/deltalake", braid, peer, 3)
        duel(recorder, tables, "optimize/200-files/deltalake", ours, theirs, results, 2)


def zorder(recorder, tables):
    con = engines.connect()
    results = {}

    def braid(rep):
        results["braid"] = root = tables.copy("ev-f200")
        return optimized(con, root, "optimize ev zorder by (k, d)", f"alter table ev set tblproperties ('delta.targetFileSize' = '{TARGET}')")

    def peer(rep):
        results["deltalake"] = root = tables.copy("ev-f200")
        table = deltalake.DeltaTable(str(root))
        return timed(lambda: table.optimize.z_order(["k", "d"], target_size=TARGET, writer_properties=WRITER))

    line = "optimize/zorder-k-d/deltalake"
    ours, theirs = recorder.pairs(line, braid, peer, 3, warm=0)
    duel(recorder, tables, line, ours, theirs, results, 3)
    shares = {engine: clustering(tables, root) for engine, root in results.items()}
    mine, other = (statistics.mean(shares[engine].values()) for engine in ("braid", "deltalake"))
    each = {engine: ", ".join(f"{column} {100 * share:.0f} %" for column, share in of.items()) for engine, of in shares.items()}
    note = f"files that may hold a value, mean of both columns; {each['braid']} against {each['deltalake']}"
    recorder.ratio("optimize/zorder-k-d/share-of-files", [100 * mine], [100 * other], 1, "%", note=note)


def optimized(con, root, statement, before="") -> float:
    engines.attach(con, root)
    if before:
        run(con, before)
    taken = timed(lambda: run(con, statement))
    engines.detach(con)
    return taken


def duel(recorder, tables, line, ours, theirs, results, limit):
    good = all(same_rows(tables, root) for root in results.values())
    note = f"into {count_files(results['braid'])} files against {count_files(results['deltalake'])}"
    recorder.speedup(line, ours, theirs, limit, verified=good, verified_by="delta extension, both", note=note)


def same_rows(tables, root) -> bool:
    summary = f"select count(*), sum(hash({COLUMNS}))"
    return engines.delta_answers(root, f"{summary} from t", f"{summary} from read_parquet('{tables.parquet()}')")


def count_files(root) -> int:
    return len(deltalake.DeltaTable(str(root)).file_uris())


def clustering(tables, root) -> dict[str, float]:
    files = deltalake.DeltaTable(str(root)).get_add_actions(flatten=True)
    con = engines.delta_reader()
    values = run(con, f"select k, d from read_parquet('{tables.parquet()}') using sample reservoir(1000 rows) repeatable (1)")
    share = {}
    for index, column in enumerate(("k", "d")):
        bounds = [(plain(low), plain(high)) for low, high in zip(files[f"min.{column}"].to_pylist(), files[f"max.{column}"].to_pylist())]
        hits = sum(low <= plain(row[index]) <= high for row in values for low, high in bounds)
        share[column] = hits / (len(values) * len(bounds))
    return share


def plain(value):
    return datetime.date.fromisoformat(value) if isinstance(value, str) else value
