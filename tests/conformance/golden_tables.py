# SPDX-License-Identifier: Apache-2.0
"""The golden tables' files of expectations, and values in the spelling that these files use."""

import csv
import json
import math
import re
from dataclasses import dataclass, field

import pyarrow as pa


def read_tsv(path) -> list[dict]:
    with open(path, newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def text_literal(text) -> str:
    return "'" + str(text).replace("'", "''") + "'"


def identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def scan(golden, table: str, version=None) -> str:
    at = "" if version is None else f", version => {version}"
    return f"braid_scan({text_literal(golden / table)}{at})"


def _instant(micros: int, zoned: bool) -> str:
    seconds, fraction = divmod(micros, 1_000_000)
    days, second_of_day = divmod(seconds, 86_400)
    # The proleptic Gregorian calendar by hand: Python's ends before the year 10000 and has no year 0.
    z = days + 719_468
    era, day_of_era = divmod(z, 146_097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month_index = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month_index + 2) // 5 + 1
    month = month_index + 3 if month_index < 10 else month_index - 9
    year = year_of_era + era * 400 + (1 if month <= 2 else 0)
    text = f"{year:04d}-{month:02d}-{day:02d} "
    text += f"{second_of_day // 3600:02d}:{second_of_day // 60 % 60:02d}:{second_of_day % 60:02d}"
    if fraction:
        text += f".{fraction:06d}".rstrip("0")
    return text + ("Z" if zoned else "")


def canonical(scalar):
    """An Arrow scalar as the rows/ files spell it."""
    kind = scalar.type
    if not scalar.is_valid:
        return None
    if pa.types.is_struct(kind):
        return {name: canonical(value) for name, value in scalar.items()}
    if pa.types.is_map(kind):
        entries = scalar.values
        return sorted(([canonical(e["key"]), canonical(e["value"])] for e in entries), key=json.dumps)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [canonical(value) for value in scalar.values]
    if pa.types.is_timestamp(kind):
        return _instant(scalar.value, kind.tz is not None)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return scalar.as_py().hex()
    if pa.types.is_decimal(kind):
        return format(scalar.as_py(), "f")
    if pa.types.is_date(kind):
        return scalar.as_py().isoformat()
    return scalar.as_py()


def sort_maps(value, kind):
    """The expected value with its maps in the order that canonical() gives them."""
    if value is None:
        return None
    if pa.types.is_struct(kind):
        return {f.name: sort_maps(value[f.name], f.type) for f in kind}
    if pa.types.is_map(kind):
        pairs = ([sort_maps(k, kind.key_type), sort_maps(v, kind.item_type)] for k, v in value)
        return sorted(pairs, key=json.dumps)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [sort_maps(v, kind.value_type) for v in value]
    return value


def expected_rows(golden, table: str):
    """(version, columns, rows) of rows/, or None if the table is too big to be listed there."""
    source = re.sub(r"/delta$", "", table)
    path = golden / "rows" / (source + ".jsonl")
    if not path.exists():
        return None
    lines = path.read_text(encoding="utf-8").splitlines()
    head = json.loads(lines[0])
    return int(head["version"]), head["columns"], [json.loads(line) for line in lines[1:]]


def compare_rows(con, golden, table: str, problems: list) -> None:
    expected = expected_rows(golden, table)
    if expected is None:
        return
    version, columns, rows = expected
    got = con.execute(f"SELECT * FROM {scan(golden, table, version)}").to_arrow_table()
    if got.column_names != columns:
        problems.append(f"columns {got.column_names}, expected {columns}")
        return
    names = range(len(columns))
    mine = sorted(json.dumps([canonical(got.column(c)[i]) for c in names]) for i in range(got.num_rows))
    kinds = [f.type for f in got.schema]
    theirs = sorted(json.dumps([sort_maps(v, k) for v, k in zip(row, kinds)]) for row in rows)
    if mine != theirs:
        differing = [pair for pair in zip(mine, theirs) if pair[0] != pair[1]][:1]
        problems.append(f"rows differ ({len(mine)} read, {len(theirs)} expected): {differing}")


def _column(con, source: str, path: str) -> str:
    """SQL for a.b, where the names may hold dots themselves: the longest name that fits is taken at each level."""
    kind = con.execute(f"SELECT * FROM {source} LIMIT 0").to_arrow_table().schema
    rest, parts = path, []
    while rest:
        fits = [f for f in kind if rest == f.name or rest.startswith(f.name + ".")]
        if not fits:
            raise KeyError(f"no column {path}")
        best = max(fits, key=lambda f: len(f.name))
        parts.append(identifier(best.name))
        kind, rest = best.type, rest[len(best.name) + 1:]
    return ".".join(parts)


def _fact_query(column: str, kind: str) -> str:
    count = f"count({column}), count(*) - count({column})"
    if kind.startswith("{") or kind.startswith("array") or kind.startswith("map"):
        size = f"cardinality({column})" if '"type":"map"' in kind[:14] else f"len({column})"
        return f"{count}, NULL, min({size})::VARCHAR, max({size})::VARCHAR, sum({size})::VARCHAR"
    if kind in ("variant", "void"):
        return f"{count}, NULL, NULL, NULL, NULL"
    distinct = f"count(DISTINCT {column})"
    if kind == "binary":
        return f"{count}, {distinct}, lower(hex(min({column}))), lower(hex(max({column}))), sum(octet_length({column}))::VARCHAR"
    total = "NULL"
    if kind in ("byte", "short", "integer", "long", "boolean", "float", "double") or kind.startswith("decimal"):
        total = f"fsum({column})::VARCHAR" if kind in ("float", "double") else f"sum({column})::VARCHAR"
        if kind == "boolean":
            total = f"(count(*) FILTER ({column}))::VARCHAR"
    elif kind == "string":
        total = f"sum(length({column}))::VARCHAR"
    return f"{count}, {distinct}, min({column})::VARCHAR, max({column})::VARCHAR, {total}"


def _same(mine, theirs: str, kind: str) -> bool:
    if theirs == "":
        return True
    if mine is None:
        return False
    if kind in ("float", "double"):
        return math.isclose(float(mine), float(theirs), rel_tol=1e-9, abs_tol=1e-9) or str(mine) == theirs
    return re.sub(r"\+00$", "", str(mine)) == theirs


def compare_facts(con, golden, table: str, facts: list[dict], problems: list) -> None:
    for fact in facts:
        source = scan(golden, table, fact["version"])
        kind = fact["type"]
        row = con.execute(f"SELECT {_fact_query(_column(con, source, fact['column']), kind)} FROM {source}").fetchone()
        total = fact["sum"] or re.sub(r"^(fsum|sum_chars|sum_octets)=", "", fact["extra"] if "=" in fact["extra"] else "")
        wanted = [fact["nonnull"], fact["nulls"], fact["distinct"], fact["min"], fact["max"], total]
        kinds = ["count", "count", "count", kind, kind, kind]
        for what, mine, theirs, as_kind in zip(("nonnull", "nulls", "distinct", "min", "max", "sum"), row, wanted, kinds):
            if not _same(mine, theirs, as_kind):
                problems.append(f"{fact['column']} ({kind}) {what}: {mine}, expected {theirs}")


def compare_version(con, golden, line: dict, problems: list) -> None:
    """Row count (by statistics and by reading), number of files and check sum of one version."""
    source = scan(golden, line["path"], line["version"])
    where = f"version {line['version']}"
    counted, = con.execute(f"SELECT count(*) FROM {source}").fetchone()
    read, = con.execute(f"SELECT count(file_row_number) FROM {source}").fetchone()
    if [str(counted), str(read)] != [line["rows"]] * 2:
        problems.append(f"{where}: count(*) {counted}, {read} rows read, expected {line['rows']}")
    check = re.fullmatch(r"sum\((.*)\)=(.*)", line["check"])
    if check:
        total, = con.execute(f"SELECT sum({_column(con, source, check[1])})::VARCHAR FROM {source}").fetchone()
        if (total or "NULL") != check[2]:
            problems.append(f"{where}: sum({check[1]}) = {total}, expected {check[2]}")
    plan = con.execute(f"EXPLAIN SELECT * FROM {source}").fetchone()[1]
    files = re.search(r"Files:\s*(\d+) of", plan)
    if line["active_files"] and (files is None or files[1] != line["active_files"]):
        problems.append(f"{where}: {files[1] if files else 'no'} files, expected {line['active_files']}")


@dataclass
class Walk:
    """What became of each table."""

    read: list = field(default_factory=list)
    refused: dict = field(default_factory=dict)   # table -> message
    problems: dict = field(default_factory=dict)  # table -> list of differences
    versions: int = 0
