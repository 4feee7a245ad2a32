# SPDX-License-Identifier: Apache-2.0
"""Connections to the engines: Braid in the stock DuckDB, plain DuckDB, and the second opinions on what Braid wrote."""

import os
import pathlib

import duckdb
import duckdb_extension_delta

from data import ROOT

BUILD = pathlib.Path(os.environ.get("BRAID_BUILD", ROOT / "build"))
EXTENSION = BUILD / "braid.duckdb_extension"
KERNEL_BENCH = BUILD / "braid_bench"
DELTA = next(pathlib.Path(duckdb_extension_delta.__path__[0]).rglob("delta.duckdb_extension"))


def connect(**config) -> duckdb.DuckDBPyConnection:
    """A database of its own with Braid loaded."""
    con = duckdb.connect(":memory:", config={"allow_unsigned_extensions": "true", **config})
    con.execute("set enable_progress_bar = false")
    con.execute(f"load '{EXTENSION}'")
    return con


def attach(con, root):
    """The single table at root as lake.ev, in use, with its newest version known."""
    con.execute(f"attach '{root}' as lake (type braid)")
    con.execute("use lake")
    con.execute("describe ev").fetchall()


def detach(con):
    con.execute("use memory")
    con.execute("detach lake")


def run(con, sql: str):
    """A statement to its end; all its rows."""
    return con.execute(sql).fetchall()


def durable_commit(folder, name: str, size: int = 1500):
    """What a commit costs at least: temporary file, fsync, link, fsync of the directory."""
    temporary = f"{folder}/.{name}.tmp"
    file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    os.write(file, b"x" * size)
    os.fsync(file)
    os.close(file)
    os.link(temporary, f"{folder}/{name}")
    os.unlink(temporary)
    directory = os.open(folder, os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)


def delta_reader() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect(":memory:", config={"allow_unsigned_extensions": "true"})
    con.execute(f"load '{DELTA}'")
    return con


def delta_answers(root, sql: str, expected: str) -> bool:
    """Whether DuckDB's delta extension answers `sql` over the table t as plain DuckDB answers `expected`."""
    con = delta_reader()
    con.execute(f"create temp view t as select * from delta_scan('{root}')")
    return run(con, sql) == run(con, expected)


def deltalake_rows(root) -> int:
    """Rows by deltalake, counted by reading a column."""
    import deltalake

    query = deltalake.QueryBuilder().register("t", deltalake.DeltaTable(str(root)))
    return query.execute("select count(id) as n from t").read_all()["n"][0].as_py()


class PeakMemory:
    """Peak resident memory of this process above where it began, in MiB."""

    def __enter__(self):
        pathlib.Path("/proc/self/clear_refs").write_text("5")
        self.start = self.read("VmRSS")
        return self

    def __exit__(self, *_):
        self.peak = self.read("VmHWM")
        self.growth = self.peak - self.start

    @staticmethod
    def read(field: str) -> float:
        for line in pathlib.Path("/proc/self/status").read_text().splitlines():
            if line.startswith(field):
                return int(line.split()[1]) / 1024
        raise RuntimeError(f"no {field} in /proc/self/status")
