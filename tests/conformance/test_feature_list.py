# SPDX-License-Identifier: Apache-2.0
"""The list of table features for people says what the table in the code says."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_documented_features_are_those_of_the_code():
    code = (ROOT / "kernel/feature/feature_support.cc").read_text()
    in_code = [(name, *(flag == "kYes" for flag in (read, append, change))) for name, read, append, change in re.findall(
        r'\{"([\w-]+)", k(?:ReaderWriter|WriterOnly), \d, \d, (\w+), (\w+), (\w+)\}', code)]
    document = (ROOT / "docs/table_features.md").read_text()
    documented = [(name, *(flag == "yes" for flag in flags)) for name, *flags in re.findall(
        r"^\| ([\w-]+) \| (yes|no) \| (yes|no) \| (yes|no) \|", document, re.M)]
    assert len(in_code) > 30
    assert documented == in_code
