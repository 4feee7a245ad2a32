# SPDX-License-Identifier: Apache-2.0
"""Statements in a process of their own, which a fault may end."""
import functools
import os
import shutil
import subprocess
import sys

import pytest

from conftest import EXTENSION

CHILD = os.path.join(os.path.dirname(__file__), "child.py")


@pytest.fixture
def child():
    """child(lake, *statements, env={}, prefix=[]) runs them in a new process and returns it finished (text output)."""

    def run(lake, *statements, env=None, prefix=()):
        return subprocess.run([*prefix, sys.executable, CHILD, str(EXTENSION), str(lake), *statements],
                              env={**os.environ, **(env or {})}, capture_output=True, text=True, timeout=120)

    return run


@pytest.fixture(scope="session")
def preloaded(tmp_path_factory):
    """preloaded(name) builds faults/name.c as a library for LD_PRELOAD and returns its path."""

    @functools.cache
    def build(name):
        library = tmp_path_factory.mktemp("shim") / f"{name}.so"
        source = os.path.join(os.path.dirname(__file__), f"{name}.c")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-D_LARGEFILE64_SOURCE", "-o", library, source, "-ldl"], check=True)
        return str(library)

    return build


class Stepped:
    """A process of which one statement is watched, as often as one likes (stepped.py): COMMIT of a transaction that is open, or another one."""

    def __init__(self, shim, lake, statements, watched):
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(os.path.dirname(__file__), "stepped.py"), str(EXTENSION), str(lake), watched, *statements],
            env={**os.environ, "LD_PRELOAD": shim, "STEPS_PATH": str(lake)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # fmt: skip
        assert self.process.stdout.readline() == "open\n"

    def run(self, last=0, late=None):
        """The steps, as (operation, path), and what it says at its end; nothing if it died before step `last`. `late`: what others do before its commit;
        only this is watched then."""
        self.begin(f"die {last}", late)
        return self.listen("end")

    def die_before_each(self, steps, lake, saved):
        """Once for each of the statement's steps and once for none of them, from the copy `saved` of the lake: the steps done, and what to call the place."""
        for last in range(1, len(steps) + 2):
            shutil.rmtree(lake)
            shutil.copytree(saved, lake)
            done, said = self.run(last)
            place = f"before step {last}, {steps[last - 1] if last <= len(steps) else 'none'}"
            assert len(done) == last - 1 and said == ("acknowledged" if last > len(steps) else None), place
            yield done, place

    def run_with_pause(self, last, meanwhile, late=None):
        """The same, with others acting before step `last`."""
        self.begin(f"wait {last}", late)
        before, _ = self.listen("paused")
        meanwhile()
        self.say("go on")
        after, said = self.listen("end")
        return before + after, said

    def run_interrupted(self, last):
        """The same, interrupted before step `last`."""
        self.begin(f"interrupt {last}", None)
        before, said = self.listen("paused", "end")
        if said:
            return before, said
        self.say("go on")
        after, said = self.listen("end")
        return before + after, said

    def begin(self, what, late):
        self.say(f"late {what}" if late else what)
        if late:
            self.listen("paused")
            late()
            self.say("go on")

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def listen(self, *until):
        lines = []
        while (line := self.process.stdout.readline()).rstrip("\n") not in until:
            assert line, "the process is gone"
            lines.append(line.rstrip("\n"))
        steps = [tuple(line.split(" ", 1)) for line in lines if line.split(" ", 1)[-1].startswith("/")]
        return steps, lines[-1] if len(lines) > len(steps) else None


@pytest.fixture
def stepped(preloaded):
    """stepped(lake, *statements) runs them in an open transaction of a process whose COMMIT is watched; `watched` is another statement, before which they
    are run."""
    shim, started = preloaded("file_steps"), []

    def start(lake, *statements, watched="COMMIT"):
        started.append(Stepped(shim, lake, statements, watched))
        return started[-1]

    yield start
    for each in started:
        each.process.stdin.close()
        each.process.wait()


def tree(root):
    """Every file below a folder, as relative paths; leases of open connections left out."""
    return {os.path.relpath(os.path.join(base, name), root) for base, _, names in os.walk(root) for name in names if not base.endswith("/_braid/leases")}
