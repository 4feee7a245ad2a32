#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make bench: Braid's speed and memory as ratios, each against what the same machine did in the same minute.

usage: run.py [--only NAME[,NAME]] [--quick] [--json]

NAME is a line (scan/clean) or a group (scan). --quick: a tenth of the rows and few repetitions, to see that everything works; its ratios mean
nothing. --json prints the lines for programs. Every repetition goes to build/bench/results.jsonl. The tables are made once, below build/bench
or $BRAID_BENCH_DIR. Exit status 1: a line failed, or another engine found a result wrong; a ratio over its target is reported, not an error.
"""

import argparse
import json
import platform
import sys
import traceback

import appends
import changes
import compaction
import contention
import data
import duckdb
import engines
import kernel
import memory
import merges
import optimize
import peers
import resolve
import scan
import vacuum
import writers
from measure import Line, Recorder

ROWS = 10_000_000
BODIES = {
    "scan/clean": scan.clean,
    "scan/deleted-1pct": scan.deleted,
    "delete/one-row": changes.delete_row,
    "delete/1pct": changes.delete_share,
    "update/one-row": changes.update_row,
    "update/1pct": changes.update_share,
    "merge/one-row": merges.one,
    "merge/upsert-1pct": merges.upsert,
    "merge/insert-only-5pct": merges.insert_only,
    "peer/1-file": peers.one_file,
    "peer/16-files": peers.files_16,
    "peer/200-files": peers.files_200,
    "commit/register": kernel.commit,
    "log/open-json": kernel.open_json,
    "log/open-split": kernel.open_split,
    "log/open-checkpoint": kernel.open_checkpoint,
    "log/refresh": kernel.refresh,
    "follow/packed": kernel.follow_packed,
    "follow/shuffled": kernel.follow_shuffled,
    "writers/8-processes": writers.measure,
    "appends": appends.measure,
    "resolve/1-winner": resolve.one_winner,
    "resolve/1000-winners": resolve.many_winners,
    "resolve/moved-by-row-ids": resolve.moved_by_ids,
    "resolve/moved-by-content": resolve.moved_by_content,
    "maintenance/vacuum": vacuum.measure,
    "c1": contention.disjoint,
    "c2": contention.overlapping,
    "c3": compaction.beside_writers,
    "optimize/200-files": optimize.compaction,
    "optimize/zorder-k-d": optimize.zorder,
    "memory/delete": memory.delete,
    "memory/update": memory.update,
    "memory/insert-50m": memory.insert,
    "memory/merge-20m-50m": memory.merge,
}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="lines or groups, separated by commas")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main() -> int:
    options = parse_arguments()
    say = lambda text: print(text, file=sys.stderr, flush=True)
    if not engines.EXTENSION.exists():
        say(f"bench: {engines.EXTENSION} is missing: run make first")
        return 1
    data.HOME.mkdir(parents=True, exist_ok=True)
    tables = data.Tables(ROWS // 10 if options.quick else ROWS, say)
    recorder = Recorder(data.HOME / "results.jsonl", options.quick, [w for w in options.only.split(",") if w], say)
    for name, body in BODIES.items():
        if recorder.wants(name):
            recorder.calibrated(name, tables.work, lambda: guarded(recorder, name, body, tables))
    tables.close()
    if options.json:
        print(json.dumps(summary(recorder, options.quick), indent=1))
    else:
        show(recorder)
    return int(any(line.verdict in ("FAILED", "WRONG") for line in recorder.lines))


def guarded(recorder, name, body, tables):
    """What fails is a line of the report; the rest still runs."""
    try:
        body(recorder, tables)
    except Exception as error:
        traceback.print_exc()
        text = str(error).strip().splitlines()
        recorder.add(Line(name, None, None, "", error=text[-1][:300] if text else type(error).__name__))


def summary(recorder, quick) -> dict:
    machine = {"kernel": platform.release(), "python": platform.python_version(), "duckdb": duckdb.__version__}
    lines = [line.as_json() for line in recorder.lines]
    return {"quick": quick, "machine": machine, "calibrations": recorder.calibrations, "lines": lines, "tables": recorder.tables}


def amount(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    digits = 0 if value >= 1000 else 1 if value >= 20 else 2 if value >= 1 else 3
    return f"{value:,.{digits}f} {unit}".strip()


def cell_text(cell) -> str:
    if isinstance(cell, float):
        return f"{cell:,.0f}" if cell >= 1000 else f"{cell:.1f}" if cell >= 10 else f"{cell:.2f}"
    return "-" if cell is None else f"{cell:,}" if isinstance(cell, int) else cell


def align(rows: list[list[str]]):
    """Columns of the same width, figures to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    figures = [any(row[i][:1].isdigit() for row in rows[1:]) for i in range(len(widths))]
    for row in rows:
        cells = [cell.rjust(width) if figure else cell.ljust(width) for cell, width, figure in zip(row, widths, figures)]
        print("  ".join(cells).rstrip())


def show(recorder):
    head = ["line", "measured", "reference", "ratio", "quartiles", "target", "verdict", "verified by", ""]
    rows = [head]
    for line in recorder.lines:
        ratio = f"{line.ratio:.2f}" if line.ratio is not None else "-"
        spread = f"{line.spread[0]:.2f}-{line.spread[1]:.2f}" if line.spread else "-"
        figures = [amount(line.measured, line.unit), amount(line.reference, line.unit), ratio, spread]
        note = line.error or line.note
        rows.append([line.name, *figures, line.target, line.verdict, line.verified_by or "-", note])
    align(rows)
    for table in recorder.tables:
        print(f"\n{table['title']}")
        align([table["head"]] + [[cell_text(cell) for cell in row] for row in table["rows"]])
    noisy = [c["name"] for c in recorder.calibrations if c["noisy"]]
    if noisy:
        print(f"\nThe machine's own speed moved by more than 10 % during: {', '.join(noisy)}")
    print(f"\nEvery repetition: {recorder.file.name}")


if __name__ == "__main__":
    sys.exit(main())
