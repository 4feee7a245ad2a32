# SPDX-License-Identifier: Apache-2.0
"""Runs SQL statements on a lake in a process of its own: `python child.py EXTENSION LAKE STATEMENT...`.

Prints `done N` after the N-th statement has returned (an acknowledged statement); an error goes to standard error with exit status 1.
"""
import sys

import duckdb


def main():
    extension, lake, *statements = sys.argv[1:]
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    connection.execute(f"LOAD '{extension}'")
    connection.execute(f"ATTACH '{lake}' AS lake (TYPE braid)")
    connection.execute("USE lake")
    for number, statement in enumerate(statements):
        try:
            connection.execute(statement).fetchall()
        except duckdb.Error as error:
            print(error, file=sys.stderr)
            sys.exit(1)
        print(f"done {number}", flush=True)


if __name__ == "__main__":
    main()
