# SPDX-License-Identifier: Apache-2.0
"""Several processes that begin at the same moment."""

import multiprocessing
import queue
import time
import traceback

CAP = 900  # seconds that one crew may take, on a busy machine too


def together(jobs: list[tuple], warm: bool = False) -> tuple[list, float]:
    """Runs each (body, arguments) in a process of its own as body(ready, *arguments). Each prepares, calls ready(), which waits for all, and then
    works; answers their values and the seconds from the first start to the last end. An exception in any of them is raised here. Warm: processes
    start with the engines' modules imported already, which is quick; what their memory was used for is then not theirs alone."""
    context = multiprocessing.get_context("forkserver" if warm else "spawn")
    if warm:
        context.set_forkserver_preload(["deltalake", "duckdb", "duckdb_extension_delta", "pyarrow.parquet"])
    barrier, answers = context.Barrier(len(jobs)), context.Queue()
    members = [
        context.Process(target=member, args=(i, body, arguments, barrier, answers), daemon=True)
        for i, (body, arguments) in enumerate(jobs)
    ]
    for process in members:
        process.start()
    try:
        got = [next_answer(answers, members) for _ in jobs]
    finally:
        for process in members:
            process.join(timeout=10)
            if process.is_alive():
                process.kill()
    for answer in got:
        if "error" in answer:
            raise RuntimeError(answer["error"])
    values = [answer["value"] for answer in sorted(got, key=lambda a: a["index"])]
    return values, max(a["end"] for a in got) - min(a["start"] for a in got)


def next_answer(answers, members):
    """Of whoever is done next; a process that dies without one does not leave the others waiting for it."""
    for _ in range(CAP):
        try:
            return answers.get(timeout=1)
        except queue.Empty:
            if any(process.exitcode for process in members):
                raise RuntimeError("a process of the crew has died")
    raise TimeoutError(f"no answer within {CAP} s")


def member(index, body, arguments, barrier, answers):
    times = {}

    def ready():
        barrier.wait(timeout=CAP)
        times["start"] = time.monotonic()

    try:
        value = body(ready, *arguments)
        answers.put({"index": index, "value": value, "start": times["start"], "end": time.monotonic()})
    except Exception:
        barrier.abort()
        answers.put({"index": index, "error": traceback.format_exc(limit=3)})
