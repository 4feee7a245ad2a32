# SPDX-License-Identifier: Apache-2.0
"""Paired measurements and the lines that judge them.

A line compares what was measured with a reference of the same run. Where both are repeated they alternate (A B A B), so that a slow moment
of the machine meets both; the line's figures are medians, its spread the quartiles of the ratio pair by pair. Every single value goes to the
results file as one JSON line.
"""

import dataclasses
import json
import os
import statistics
import tempfile
import time


@dataclasses.dataclass
class Line:
    name: str
    measured: float | None
    reference: float | None
    unit: str
    ratio: float | None = None
    spread: tuple[float, float] | None = None  # quartiles of the ratio, pair by pair
    repetitions: int = 1
    limit: float | None = None  # None: shown for context, not judged
    at_least: bool = False  # the limit is a lower bound
    verified: bool | None = None
    verified_by: str = ""
    note: str = ""
    error: str = ""

    @property
    def judged(self) -> float:
        return self.measured if self.ratio is None else self.ratio

    @property
    def verdict(self) -> str:
        if self.error:
            return "FAILED"
        if self.verified is False:
            return "WRONG"
        if self.limit is None:
            return "-"
        return "ok" if (self.judged >= self.limit if self.at_least else self.judged <= self.limit) else "over"

    @property
    def target(self) -> str:
        if self.limit is None:
            return "-"
        unit = f" {self.unit}" if self.ratio is None and self.unit else ""
        return f"{'>=' if self.at_least else '<='} {self.limit:g}{unit}"

    def as_json(self) -> dict:
        return {**dataclasses.asdict(self), "verdict": self.verdict, "target": self.target}


def timed(action) -> float:
    """Milliseconds that action() takes."""
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1000


def quartiles(values: list[float]) -> tuple[float, float]:
    if len(values) < 2:
        return values[0], values[0]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high


def calibrate(folder) -> dict:
    """A fixed loop of memory copies and fsyncs: tells a noisy block from a quiet one."""
    block = bytearray(32 << 20)
    copies = [timed(lambda: bytes(block)) for _ in range(9)]
    with tempfile.TemporaryFile(dir=folder) as file:

        def sync():
            file.write(b"x" * 1500)
            file.flush()
            os.fsync(file.fileno())

        syncs = [timed(sync) for _ in range(50)]
    return {"copy_ms": round(statistics.median(copies), 3), "fsync_ms": round(statistics.median(syncs), 3)}


class Recorder:
    """Collects the lines of a run and writes every repetition to the results file."""

    def __init__(self, path, quick: bool, wanted: list[str], say):
        self.file = open(path, "w")
        self.quick, self.wanted, self.say = quick, wanted, say
        self.lines: list[Line] = []
        self.tables: list[dict] = []
        self.calibrations: list[dict] = []

    def wants(self, name: str) -> bool:
        """Whether a line (scan/clean) or a family of lines (appends) was asked for, by itself or by its group."""
        return not self.wanted or any(name == w or name.startswith(f"{w}/") or w.startswith(f"{name}/") for w in self.wanted)

    def reps(self, full: int) -> int:
        return max(2, full // 5) if self.quick else full

    def raw(self, name: str, side: str, repetition: int, value: float, unit: str = "ms", **more):
        line = {"time": time.strftime("%Y-%m-%dT%H:%M:%S"), "line": name, "side": side, "repetition": repetition}
        line |= {"value": round(value, 6), "unit": unit, "load1": round(os.getloadavg()[0], 2), **more}
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()

    def calibrated(self, name: str, folder, body):
        before = calibrate(folder)
        body()
        block = {"name": name, "before": before, "after": calibrate(folder)}
        drift = [block["after"][k] / before[k] for k in before]
        block["noisy"] = any(not 0.9 <= d <= 1.1 for d in drift)
        self.calibrations.append(block)
        self.file.write(json.dumps({"calibration": block}) + "\n")

    def pairs(self, name: str, measured, reference, repetitions: int, warm: int = 1):
        """Alternates measured(rep) and reference(rep), each answering milliseconds. Warm-up repetitions have numbers below 0."""
        ours, theirs = [], []
        for rep in range(-warm, self.reps(repetitions)):
            a, b = measured(rep), reference(rep)
            if rep >= 0:
                ours.append(a)
                theirs.append(b)
                self.raw(name, "measured", rep, a)
                self.raw(name, "reference", rep, b)
        return ours, theirs

    def ratio(self, name: str, ours: list[float], theirs: list[float], limit: float | None, unit: str = "ms", **more) -> Line:
        """The line for two paired series."""
        a, b = statistics.median(ours), statistics.median(theirs)
        spread = quartiles([x / y for x, y in zip(ours, theirs)])
        return self.add(Line(name, a, b, unit, a / b, spread, len(ours), limit, **more))

    def speedup(self, name: str, ours: list[float], theirs: list[float], limit: float | None, **more) -> Line:
        """The line for two paired series of times, whose ratio says how many times faster ours is."""
        a, b = statistics.median(ours), statistics.median(theirs)
        spread = quartiles([y / x for x, y in zip(ours, theirs)])
        return self.add(Line(name, a, b, "ms", b / a, spread, len(ours), limit, at_least=True, **more))

    def table(self, title: str, head: list[str], rows: list[list]):
        """Figures that need more columns than a line has; shown below the lines."""
        self.tables.append({"title": title, "head": head, "rows": rows})

    def add(self, line: Line) -> Line:
        self.lines.append(line)
        self.say(f"  {line.name}: {line.verdict}")
        return line
