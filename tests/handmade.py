# SPDX-License-Identifier: Apache-2.0
"""Tables and commits as other writers would lay them out, written with nothing of ours but the rows of a query."""

import json

import pyarrow as pa
import pyarrow.parquet as pq

import delta_log


def write_commit(table, version, *actions):
    """Actions with a value None in them are written without it."""
    lines = [{kind: {key: value for key, value in action.items() if value is not None} for kind, action in line.items()} for line in actions]
    (table / "_delta_log").mkdir(parents=True, exist_ok=True)
    (table / "_delta_log" / f"{version:020}.json").write_text("".join(json.dumps(line) + "\n" for line in lines))


def make_table(directory, fields: list[tuple[str, object]], rows: pa.Table, stats=None, configuration=None, **parquet) -> None:
    """One data file and a log that names it. Fields: (name, Delta type)."""
    directory.mkdir(parents=True)
    pq.write_table(rows, directory / "part-0.parquet", **parquet)
    schema = {"type": "struct", "fields": [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in fields]}
    write_commit(
        directory,
        0,
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {"metaData": {"id": "0", "format": {"provider": "parquet", "options": {}}, "schemaString": json.dumps(schema),
                      "partitionColumns": [], "configuration": configuration or {}}},
        {"add": {"path": "part-0.parquet", "partitionValues": {}, "modificationTime": 0, "dataChange": True,
                 "size": (directory / "part-0.parquet").stat().st_size, "stats": json.dumps({"numRecords": rows.num_rows, **(stats or {})})}},
    )  # fmt: skip


def removal(add: dict, data_change: bool) -> dict:
    return {"path": add["path"], "deletionTimestamp": 1, "dataChange": data_change, "size": add["size"],
            "partitionValues": add["partitionValues"], "deletionVector": add.get("deletionVector")}  # fmt: skip


def rearrange(con, table, queries, version, tags=None, drop=0, of=lambda add: True, parameters=None):
    """Replaces the files `of` a table (all; of one partition) by one file for each query, as OPTIMIZE would. `drop`: rows that its statistics claim
    too many."""
    replaced = [add for add in delta_log.active(table).values() if of(add)]
    adds = []
    for number, query in enumerate([queries] if isinstance(queries, str) else queries):
        name = f"rearranged-{version}-{number}.parquet"
        con.execute(f"COPY ({query}) TO '{table / name}' (FORMAT parquet)")
        rows = con.execute(f"SELECT count(*) FROM '{table / name}'").fetchone()[0]
        adds.append({"path": name, "partitionValues": replaced[0]["partitionValues"], "size": (table / name).stat().st_size, "modificationTime": 1, "dataChange": False,
                     "stats": json.dumps({"numRecords": rows + drop}), "baseRowId": 1000 if tags else None,
                     "defaultRowCommitVersion": version if tags else None})  # fmt: skip
    write_commit(
        table,
        version,
        {"commitInfo": {"operation": "OPTIMIZE", "engineInfo": "another engine", "operationParameters": parameters, "tags": tags}},
        *({"remove": removal(add, False)} for add in replaced),
        *({"add": add} for add in adds),
    )
