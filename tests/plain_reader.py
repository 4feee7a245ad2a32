# SPDX-License-Identifier: Apache-2.0
"""The plainest reader of a Delta table: json, pyarrow and arithmetic. Slow, but it reads what other engines refuse or read wrongly: column mapping with
partitions, deletion vectors, widened types, all together. Commits only, no checkpoints."""

import base64
import datetime
import decimal
import json
import pathlib
import struct
import urllib.parse
import uuid

import pyarrow as pa
import pyarrow.parquet as pq

import delta_log

EPOCH = datetime.datetime(1970, 1, 1)
Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
B85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"


def from_z85(text: str) -> bytes:
    return base64.b85decode(text.translate(str.maketrans(Z85, B85)))


def roaring(data: bytes, at: int) -> tuple[set[int], int]:
    """One 32-bit bitmap in the portable format, and where it ends."""
    (cookie,) = struct.unpack_from("<I", data, at)
    at += 4
    if cookie & 0xFFFF == 12347:
        containers = (cookie >> 16) + 1
        runs = {i for i in range(containers) if data[at + i // 8] >> (i % 8) & 1}
        at += (containers + 7) // 8
    else:
        assert cookie == 12346
        (containers,), runs = struct.unpack_from("<I", data, at), set()
        at += 4
    headers = [struct.unpack_from("<HH", data, at + 4 * i) for i in range(containers)]
    at += 4 * containers
    if not (cookie & 0xFFFF == 12347 and containers < 4):
        at += 4 * containers  # offsets
    values = set()
    for i, (high, less_one) in enumerate(headers):
        if i in runs:
            (count,) = struct.unpack_from("<H", data, at)
            for run in range(count):
                first, length = struct.unpack_from("<HH", data, at + 2 + 4 * run)
                values.update((high << 16) + low for low in range(first, first + length + 1))
            at += 2 + 4 * count
        elif less_one + 1 > 4096:
            bits = int.from_bytes(data[at : at + 8192], "little")
            values.update((high << 16) + low for low in range(65536) if bits >> low & 1)
            at += 8192
        else:
            values.update((high << 16) + low for low in struct.unpack_from(f"<{less_one + 1}H", data, at))
            at += 2 * (less_one + 1)
    return values, at


def deleted_rows(root: pathlib.Path, vector: dict | None) -> set[int]:
    if not vector:
        return set()
    text = vector["pathOrInlineDv"]
    if vector["storageType"] == "i":
        data = from_z85(text)
    else:
        prefix, name = text[:-20], uuid.UUID(bytes=from_z85(text[-20:]))
        stored = (root / prefix / f"deletion_vector_{name}.bin").read_bytes()
        at = vector["offset"]
        assert struct.unpack_from(">I", stored, at) == (vector["sizeInBytes"],)
        data = stored[at + 4 : at + 4 + vector["sizeInBytes"]]
    magic, bitmaps = struct.unpack_from("<IQ", data)
    assert magic == 1681511377
    rows, at = set(), 12
    for _ in range(bitmaps):
        (key,) = struct.unpack_from("<I", data, at)
        low, at = roaring(data, at + 4)
        rows.update((key << 32) + value for value in low)
    assert len(rows) == vector["cardinality"]
    return rows


def physical(field: dict) -> str:
    return field["metadata"].get("delta.columnMapping.physicalName", field["name"])


def micros(value) -> int:
    if not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    return (value.replace(tzinfo=None) - EPOCH) // datetime.timedelta(microseconds=1)


def convert(value, kind, nested=False):
    """A value of a file as one of the table's type; points in time as microseconds."""
    if value is None:
        return None
    if isinstance(kind, dict):
        if kind["type"] == "struct":
            return {field["name"]: convert(value.get(physical(field)), field["type"], True) for field in kind["fields"]}
        if kind["type"] == "array":
            return [convert(item, kind["elementType"], True) for item in value]
        return [(convert(key, kind["keyType"], True), convert(item, kind["valueType"], True)) for key, item in value]
    if kind in ("double", "float"):
        return str(float(value))
    if kind.startswith("timestamp"):
        return value if isinstance(value, int) else micros(value)
    if kind.startswith("decimal"):
        return decimal.Decimal(value).quantize(decimal.Decimal(1).scaleb(-int(kind[:-1].split(",")[1])), context=decimal.Context(40))
    return value


def partition_value(text: str | None, kind: str):
    if text in (None, ""):
        return None
    if kind in ("byte", "short", "integer", "long"):
        return int(text)
    if kind == "boolean":
        return text == "true"
    if kind == "date":
        return datetime.date.fromisoformat(text)
    if kind.startswith("timestamp"):
        return micros(datetime.datetime.fromisoformat(text.replace("Z", "")))
    return text.encode("latin-1") if kind == "binary" else text


def seen_plainly(path) -> list[tuple]:
    """Rows as judges.plain gives them, sorted."""
    root = pathlib.Path(path)
    metadata = delta_log.metadata(root)
    fields = json.loads(metadata["schemaString"])["fields"]
    found = []
    for name, add in delta_log.active(root).items():
        assert urllib.parse.unquote(add["path"]) == name
        file = pq.read_table(root / name, partitioning=None)
        deleted = deleted_rows(root, add.get("deletionVector"))
        columns = []
        for field in fields:
            stored = physical(field)
            if field["name"] in metadata["partitionColumns"]:
                values = [partition_value(add["partitionValues"][stored], field["type"])] * file.num_rows
            elif stored in file.column_names:
                column = file.column(stored)
                if pa.types.is_timestamp(column.type):
                    column = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())
                values = column.to_pylist()
            else:
                values = [None] * file.num_rows
            columns.append([convert(value, field["type"]) for value in values])
        assert not file.num_rows or max(deleted, default=0) < file.num_rows
        found += [row for position, row in enumerate(zip(*columns)) if position not in deleted]
    return sorted(found, key=repr)
