# SPDX-License-Identifier: Apache-2.0
"""Delta tables in DuckDB, changed by many processes at once.

    import braid
    con = braid.connect("lake/")           # an ordinary duckdb connection
    con.sql("SELECT * FROM t").show()

There is no engine here: the work is done by the DuckDB extension that this package carries.
"""

import os
import pathlib

import duckdb

__all__ = ["connect", "extension_path"]
__version__ = "0.1.0"


def extension_path() -> pathlib.Path:
    """The extension file: $BRAID_EXTENSION, else the one in this package, else the one that `make` left in the checkout."""
    if named := os.environ.get("BRAID_EXTENSION"):
        return pathlib.Path(named)
    package = pathlib.Path(__file__).resolve().parent
    candidates = [package / "native", package.parent.parent / "build"]
    for folder in candidates:
        if (folder / "braid.duckdb_extension").exists():
            return folder / "braid.duckdb_extension"
    raise FileNotFoundError(
        "braid.duckdb_extension is not in " + " or ".join(map(str, candidates)) + "; run make, or set BRAID_EXTENSION"
    )


def connect(lake=None, *, read_only: bool = False, **config) -> duckdb.DuckDBPyConnection:
    """Opens a DuckDB in memory with Braid loaded and the directory `lake` (of tables, or one table) attached and in use.

    Without a directory nothing is attached; ATTACH 'dir' AS name (TYPE braid) does it later. Further keywords are
    DuckDB's settings, such as memory_limit="1GB" or threads=2.
    """
    con = duckdb.connect(":memory:", config={**config, "allow_unsigned_extensions": "true"})
    try:
        con.execute(f"LOAD {_quote(extension_path())}")
        if lake is not None:
            options = "TYPE braid, READ_ONLY" if read_only else "TYPE braid"
            con.execute(f"ATTACH {_quote(os.fspath(lake))} AS lake ({options})")
            con.execute("USE lake")
    except BaseException:
        con.close()
        raise
    return con


def _quote(text) -> str:
    return "'" + str(text).replace("'", "''") + "'"
