# SPDX-License-Identifier: Apache-2.0
"""A process whose COMMIT is watched and can be made to die, or to wait, at any of its steps: `python stepped.py EXTENSION LAKE STATEMENT...` runs the
statements in a transaction, says `open`, and for each line of its input makes a copy of itself that commits. `die N`: it dies before the N-th operation
on a file of the lake (0: never). `wait N`: it says `paused` there, and goes on after one more line of input. The copy's operations come back as lines,
then `acknowledged` if COMMIT has returned (else the error), then `end`. Preloaded: file_steps.c.
"""
import ctypes
import os
import sys

import duckdb


def commit(connection, shim, pipe, last, resume):
    """The copy: never returns."""
    shim.file_steps_start(pipe, ctypes.c_long(last), resume)
    try:
        connection.execute("COMMIT")
        said = "acknowledged"
    except duckdb.Error as error:
        said = " ".join(str(error).split())
    os.write(pipe, f"{said}\n".encode())
    os._exit(0)


def main():
    extension, lake, *statements = sys.argv[1:]
    shim = ctypes.CDLL(None)
    # One thread, so that a copy made by fork is whole: the database that the module opens by itself has another.
    duckdb.default_connection().close()
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true", "threads": 1})
    connection.execute(f"LOAD '{extension}'")
    connection.execute(f"ATTACH '{lake}' AS lake (TYPE braid)")
    connection.execute("USE lake")
    connection.execute("BEGIN")
    for statement in statements:
        connection.execute(statement)
    assert len(os.listdir("/proc/self/task")) == 1
    print("open", flush=True)
    while line := sys.stdin.readline():
        what, last = line.split()
        reading, writing = os.pipe()
        resume, go_on = os.pipe()
        child = os.fork()
        if child == 0:
            commit(connection, shim, writing, int(last), resume if what == "wait" else -1)
        os.close(writing)
        with os.fdopen(reading) as answers:
            for answer in answers:
                print(answer, end="", flush=True)
                if answer == "paused\n":
                    sys.stdin.readline()
                    os.write(go_on, b".")
        os.waitpid(child, 0)
        for descriptor in (resume, go_on):
            os.close(descriptor)
        print("end", flush=True)


if __name__ == "__main__":
    main()
