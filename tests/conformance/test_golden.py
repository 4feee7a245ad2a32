# SPDX-License-Identifier: Apache-2.0
"""Every golden table is read exactly as its expectations say, at the latest and at older versions, or refused by the name of a feature."""

import collections

import duckdb
import pytest
from conftest import open_duckdb

from conformance.golden_tables import Walk, compare_facts, compare_rows, compare_version, read_tsv, scan

# Features of the tables that may be refused, and how many tables have them.
OUT_OF_SCOPE = {"variant": 7, "geospatial": 1}


@pytest.fixture(scope="module")
def con():
    connection = open_duckdb()
    connection.execute("SET TimeZone = 'UTC'")
    yield connection
    connection.close()


@pytest.fixture(scope="module")
def walk(con, golden) -> Walk:
    facts = collections.defaultdict(list)
    for fact in read_tsv(golden / "FACTS.tsv"):
        facts[fact["path"]].append(fact)
    versions = collections.defaultdict(list)
    for line in read_tsv(golden / "VERSIONS.tsv"):
        versions[line["path"]].append(line)
    result = Walk()
    for table in read_tsv(golden / "MANIFEST.tsv"):
        path = table["path"]
        try:
            count, = con.execute(f"SELECT count(*) FROM {scan(golden, path)}").fetchone()
        except duckdb.NotImplementedException as error:
            result.refused[path] = str(error)
            continue
        except duckdb.Error as error:
            result.problems[path] = [f"{type(error).__name__}: {error}"]
            continue
        problems = []
        try:
            if str(count) != table["expected_rows"]:
                problems.append(f"count(*) {count}, expected {table['expected_rows']}")
            compare_rows(con, golden, path, problems)
            compare_facts(con, golden, path, facts[path], problems)
            for line in versions[path]:
                if line["rows"] == "":
                    continue  # the data files of this version are gone
                compare_version(con, golden, line, problems)
                result.versions += 1
        except duckdb.Error as error:
            problems.append(f"{type(error).__name__}: {error}")
        if problems:
            result.problems[path] = problems
        else:
            result.read.append(path)
    return result


def feature_of(message: str) -> str:
    return next((feature for feature in OUT_OF_SCOPE if feature in message), "?")


def test_every_table_is_read_exactly_or_refused_by_feature(walk, golden, capsys):
    refused = collections.Counter(feature_of(message) for message in walk.refused.values())
    with capsys.disabled():
        print(f"\ngolden tables: {len(walk.read)} read exactly ({walk.versions} versions), "
              f"{len(walk.refused)} refused {dict(refused)}, {len(walk.problems)} wrong")
        for path, problems in walk.problems.items():
            print(f"  {path}: {problems[0][:300]}" + (f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""))
        for path, message in walk.refused.items():
            if feature_of(message) == "?":
                print(f"  {path}: {message[:300]}")
    assert not walk.problems
    assert dict(refused) == OUT_OF_SCOPE
    assert len(walk.read) + len(walk.refused) == len(read_tsv(golden / "MANIFEST.tsv")) == 175
