# SPDX-License-Identifier: Apache-2.0
"""Statements in a process of their own, which a fault may end."""
import os
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


def tree(root):
    """Every file below a folder, as relative paths."""
    return {os.path.relpath(os.path.join(base, name), root) for base, _, names in os.walk(root) for name in names}
