# SPDX-License-Identifier: Apache-2.0
"""The tables that the benchmark starts from, made once and cached; each measurement works on its own copy.

Data files come from DuckDB with a fixed seed; the Delta log and the deletion vector are written here by hand, so that no engine under test had
a part in them. Only the checkpoint is deltalake's. Copies share the data files by hard links: no Delta engine changes a data file in place.

  ev         id (dense, sorted), k (hash, 1 M values), grp, v, s, d; one file, deletion vectors enabled
  ev-del1    the same with the rows k % 100 = 7 deleted by one vector
  ev-f16     the rows of ev in 16 files of consecutive ids, ev-f200 in 200
  ev-small   the first tenth of the rows
  ev-empty   no rows
  log-json   100 000 adds in one commit, no data files
  log-ckpt   the same with a checkpoint
"""

import base64
import json
import os
import pathlib
import shutil
import struct
import tempfile
import uuid
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HOME = pathlib.Path(os.environ.get("BRAID_BENCH_DIR", ROOT / "build" / "bench"))
SEED = "braid-1"
LAYOUT = 5  # of the cache; raise it when something below changes
T0 = 1_700_000_000_000
ADDS = 100_000
SPLIT = 100  # commits of the log that is not one commit
NAMES = {"id": "long", "k": "integer", "grp": "integer", "v": "double", "s": "string", "d": "date"}
FILE = "part-00000.parquet"
PARQUET = "format parquet, compression snappy, row_group_size 122880"

# v is a multiple of 1/64 below 15625, so that sums in any order are exact in a double.
ROWS_SQL = """
select i as id,
       cast(h % 1000000 as integer) as k,
       cast((h >> 20) % 100 as integer) as grp,
       ((h >> 24) % 1000000) / 64.0 as v,
       'item-' || lpad(cast((h >> 34) % 1000000 as varchar), 7, '0') as s,
       cast(date '2020-01-01' + cast(i * 1000 // {all} as integer) as date) as d
from (select i, md5_number_lower('{seed}' || cast(i as varchar)) as h from range({rows}) r(i))
"""


def write_commit(root: pathlib.Path, version: int, actions: list[dict]):
    log = root / "_delta_log"
    log.mkdir(parents=True, exist_ok=True)
    (log / f"{version:020}.json").write_text("".join(json.dumps(a, separators=(",", ":")) + "\n" for a in actions))


def head(**configuration) -> list[dict]:
    """The first actions of a table with deletion vectors."""
    fields = [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in NAMES.items()]
    features = {"readerFeatures": ["deletionVectors"], "writerFeatures": ["deletionVectors"]}
    return [
        {"commitInfo": {"timestamp": T0, "operation": "CREATE TABLE", "operationParameters": {}}},
        {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, **features}},
        {
            "metaData": {
                "id": str(uuid.UUID(int=1)),
                "format": {"provider": "parquet", "options": {}},
                "schemaString": json.dumps({"type": "struct", "fields": fields}),
                "partitionColumns": [],
                "configuration": {
                    "delta.enableDeletionVectors": "true",
                    "delta.isolationLevel": "WriteSerializable",
                    **configuration,
                },
                "createdTime": T0,
            }
        },
    ]


def add(path: str, size: int, stats: dict) -> dict:
    text = json.dumps(stats, separators=(",", ":"))
    return {"path": path, "partitionValues": {}, "size": size, "modificationTime": T0, "dataChange": True, "stats": text}


def statistics_of(con, path) -> dict:
    columns = ", ".join(f"min({n}), max({n}), count(*) - count({n})" for n in NAMES)
    row = con.execute(f"select count(*), {columns} from '{path}'").fetchone()
    plain = lambda x: x.isoformat() if hasattr(x, "isoformat") else x
    return {
        "numRecords": row[0],
        "tightBounds": True,
        "minValues": {n: plain(row[1 + 3 * i]) for i, n in enumerate(NAMES)},
        "maxValues": {n: plain(row[2 + 3 * i]) for i, n in enumerate(NAMES)},
        "nullCount": {n: row[3 + 3 * i] for i, n in enumerate(NAMES)},
    }


def z85(raw: bytes) -> str:
    """base64.b85encode has another alphabet, the arithmetic is the same."""
    python = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
    delta = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
    return base64.b85encode(raw).translate(bytes.maketrans(python, delta)).decode()


def roaring64(positions: list[int]) -> bytes:
    """Portable 64-bit Roaring of sorted positions below 2^32 that leave each container at most 4096 of them."""
    parts: dict[int, list[int]] = {}
    for p in positions:
        parts.setdefault(p >> 16, []).append(p & 0xFFFF)
    assert all(len(p) <= 4096 for p in parts.values())
    out = struct.pack("<QI", 1, 0) + struct.pack("<II", 12346, len(parts))
    out += b"".join(struct.pack("<HH", key, len(p) - 1) for key, p in parts.items())
    offset = 8 + 8 * len(parts)
    for p in parts.values():
        out += struct.pack("<I", offset)
        offset += 2 * len(p)
    return out + b"".join(struct.pack(f"<{len(p)}H", *p) for p in parts.values())


def write_vector(root: pathlib.Path, positions: list[int]) -> dict:
    """A file with one deletion vector; its descriptor."""
    blob = struct.pack("<I", 1681511377) + roaring64(positions)
    name = uuid.uuid5(uuid.NAMESPACE_OID, SEED)
    body = b"\x01" + struct.pack(">I", len(blob)) + blob + struct.pack(">I", zlib.crc32(blob))
    (root / f"deletion_vector_{name}.bin").write_bytes(body)
    place = {"storageType": "u", "pathOrInlineDv": z85(name.bytes), "offset": 1}
    return {**place, "sizeInBytes": len(blob), "cardinality": len(positions)}


def make_rows(con, root: pathlib.Path, rows: int, all_rows: int) -> dict:
    """The table in one file; its add action."""
    root.mkdir(parents=True)
    sql = ROWS_SQL.format(rows=rows, all=all_rows, seed=SEED)
    action = write_file(con, root, FILE, sql)
    write_commit(root, 0, head() + [{"add": action}])
    return action


def write_file(con, root: pathlib.Path, name: str, sql: str) -> dict:
    """A data file with the rows of a query; its add."""
    con.execute(f"copy ({sql}) to '{root / name}' ({PARQUET})")
    return add(name, (root / name).stat().st_size, statistics_of(con, root / name))


def make_split(con, root: pathlib.Path, source: pathlib.Path, rows: int, files: int):
    """The rows of the source in that many files of consecutive ids."""
    (root / "_delta_log").mkdir(parents=True)
    bounds = [rows * i // files for i in range(files + 1)]
    adds = []
    for i in range(files):
        sql = f"select * from '{source / FILE}' where id >= {bounds[i]} and id < {bounds[i + 1]} order by id"
        adds.append({"add": write_file(con, root, f"part-{i:05}.parquet", sql)})
    write_commit(root, 0, head() + adds)


def make_deleted(con, root: pathlib.Path, source: pathlib.Path, action: dict):
    root.mkdir()
    os.link(source / FILE, root / FILE)
    write_commit(root, 0, head() + [{"add": action}])
    hits = con.execute(
        f"select file_row_number from read_parquet('{root / FILE}', file_row_number = true) where k % 100 = 7 order by 1"
    ).fetchall()
    wide = {**json.loads(action["stats"]), "tightBounds": False}
    remove = {"path": FILE, "deletionTimestamp": T0 + 1, "dataChange": True, "extendedFileMetadata": True}
    remove |= {"partitionValues": {}, "size": action["size"]}
    vector = write_vector(root, [row for (row,) in hits])
    stats = json.dumps(wide, separators=(",", ":"))
    info = {"timestamp": T0 + 1, "operation": "DELETE", "operationParameters": {}}
    new = {**action, "stats": stats, "deletionVector": vector}
    write_commit(root, 1, [{"commitInfo": info}, {"remove": remove}, {"add": new}])


def log_add(i: int) -> dict:
    low = {"id": i * 1000, "k": i % 7, "v": 0.5, "s": "item-0000001", "d": "2020-01-01"}
    high = {"id": i * 1000 + 999, "k": 999_990 + i % 7, "v": 15624.5, "s": "item-9999999", "d": "2022-09-26"}
    stats = {"numRecords": 1000, "minValues": low, "maxValues": high, "nullCount": dict.fromkeys(NAMES, 0)}
    name = uuid.uuid5(uuid.NAMESPACE_OID, str(i))
    return {"add": add(f"part-{i:05}-{name}-c000.snappy.parquet", 1_000_000 + i, stats)}


def make_logs(home: pathlib.Path):
    import deltalake

    for name in ("log-json", "log-ckpt"):
        write_commit(home / name, 0, head() + [log_add(i) for i in range(ADDS)])
    deltalake.DeltaTable(str(home / "log-ckpt")).create_checkpoint()
    share = ADDS // SPLIT
    for version in range(SPLIT):
        info = {"commitInfo": {"timestamp": T0 + version, "operation": "WRITE", "operationParameters": {}}}
        adds = [log_add(i) for i in range(version * share, (version + 1) * share)]
        write_commit(home / "log-split", version, (head() if version == 0 else [info]) + adds)


class Tables:
    """The cached tables for a number of rows, and private copies of them."""

    def __init__(self, rows: int, say):
        self.rows, self.home, self.work = rows, HOME / f"data-{rows}", HOME / "work"
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        wanted = {"rows": rows, "seed": SEED, "layout": LAYOUT}
        mark = self.home / "made.json"
        if not mark.exists() or json.loads(mark.read_text()) != wanted:
            say(f"making the tables below {self.home} (once)")
            self.make()
            mark.write_text(json.dumps(wanted))

    def make(self):
        import duckdb

        shutil.rmtree(self.home, ignore_errors=True)
        con = duckdb.connect()
        action = make_rows(con, self.home / "ev", self.rows, self.rows)
        make_deleted(con, self.home / "ev-del1", self.home / "ev", action)
        for files in (16, 200):
            make_split(con, self.home / f"ev-f{files}", self.home / "ev", self.rows, files)
        make_rows(con, self.home / "ev-small", self.rows // 10, self.rows)
        # The same checkpoint interval for every engine that appends.
        write_commit(self.home / "ev-empty", 0, head(**{"delta.checkpointInterval": "100"}))
        make_logs(self.home)

    def parquet(self, name: str = "ev") -> str:
        return str(self.home / name / FILE)

    def copy(self, name: str) -> pathlib.Path:
        """A private copy, whose last component is the table's name `ev`."""
        root = pathlib.Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.work)) / "ev"
        shutil.copytree(self.home / name, root, copy_function=lambda a, b: (os.link if a.endswith(".parquet") else shutil.copy)(a, b))
        return root

    def close(self):
        """Only now are copies deleted: for seconds after a deletion ext4 makes new files several times slower, whoever makes them."""
        shutil.rmtree(self.work, ignore_errors=True)
