# SPDX-License-Identifier: Apache-2.0
"""A process of which one statement is watched and can be made to die, or to wait, at any of its steps: `python stepped.py EXTENSION LAKE WATCHED STATEMENT...`
runs the statements, in a transaction if WATCHED is COMMIT, says `open`, and for each line of its input makes a copy of itself that executes WATCHED.
`die N`: the copy dies before the N-th operation on a file of the lake (0: never). `wait N`: it says `paused` there, and goes on after one more line of
input. `interrupt N`: the same, but the statement is interrupted before it goes on. The copy's operations come back as lines, then `acknowledged` if the
statement has returned (else the error), then `end`. Preloaded: file_steps.c.

After `late`, in front of these words, only the commit of the statement is watched: when it comes to it, it says `paused` first and waits for a line."""
import ctypes
import os
import sys
import tempfile
import threading

import duckdb

HOLD = "BRAID_HOLD_COMMIT"  # kernel/storage/fault_point.h


def execute(connection, watched, pipe):
    """The copy: never returns."""
    try:
        connection.execute(watched).fetchall()
        said = "acknowledged"
    except duckdb.Error as error:
        said = " ".join(str(error).split())
    os.write(pipe, f"{said}\n".encode())
    os._exit(0)


def interrupt_first(connection, go_on):
    """A descriptor to wait at: a byte comes from there when one has come from `go_on`, and the statement is interrupted by then."""
    waiting, ready = os.pipe()

    def interrupt():
        os.read(go_on, 1)
        connection.interrupt()
        os.write(ready, b".")

    threading.Thread(target=interrupt, daemon=True).start()
    return waiting


def hold_commit(start, pipe, go_on):
    """From now on the copy's next commit waits, and what it does is watched after that."""
    folder = tempfile.mkdtemp()
    held = os.environ[HOLD] = os.path.join(folder, "held")
    os.mkfifo(held)

    def let_go():
        with open(held, "w"):  # which succeeds when the commit has come there
            del os.environ[HOLD]
            os.write(pipe, b"paused\n")
            os.read(go_on, 1)
            os.unlink(held)
            os.rmdir(folder)
            start()

    threading.Thread(target=let_go, daemon=True).start()


def main():
    extension, lake, watched, *statements = sys.argv[1:]
    shim = ctypes.CDLL(None)
    # One thread, so that a copy made by fork is whole: the database that the module opens by itself has another.
    duckdb.default_connection().close()
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true", "threads": 1})
    connection.execute(f"LOAD '{extension}'")
    connection.execute(f"ATTACH '{lake}' AS lake (TYPE braid)")
    connection.execute("USE lake")
    if watched == "COMMIT":
        connection.execute("BEGIN")
    for statement in statements:
        connection.execute(statement)
    assert len(os.listdir("/proc/self/task")) == 1
    print("open", flush=True)
    while line := sys.stdin.readline():
        *late, what, last = line.split()
        reading, writing = os.pipe()
        resume, go_on = os.pipe()
        child = os.fork()
        if child == 0:
            place = {"die": lambda: -1, "wait": lambda: resume, "interrupt": lambda: interrupt_first(connection, resume)}[what]()

            def start():
                shim.file_steps_start(writing, ctypes.c_long(int(last)), place)

            hold_commit(start, writing, resume) if late else start()
            execute(connection, watched, writing)
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
