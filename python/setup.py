# SPDX-License-Identifier: Apache-2.0
"""Puts what `make` has built into the package: the extension, and the DuckDB library that it is linked to.

BRAID_BUILD names another build folder than ../build.
"""

import os
import pathlib
import shutil

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

BUILD = pathlib.Path(os.environ.get("BRAID_BUILD", pathlib.Path(__file__).resolve().parent.parent / "build"))
NATIVE_FILES = ["braid.duckdb_extension", "libduckdb.so"]


class BuildWithExtension(build_py):
    def run(self):
        super().run()
        target = pathlib.Path(self.build_lib) / "braid" / "native"
        target.mkdir(parents=True, exist_ok=True)
        for name in NATIVE_FILES:
            if not (BUILD / name).exists():
                raise SystemExit(f"{BUILD / name} is missing: run make first")
            shutil.copyfile(BUILD / name, target / name)


class PlatformDistribution(Distribution):
    def has_ext_modules(self):
        return True


setup(cmdclass={"build_py": BuildWithExtension}, distclass=PlatformDistribution)
