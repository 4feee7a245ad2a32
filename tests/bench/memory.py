# SPDX-License-Identifier: Apache-2.0
"""Memory: DELETE and UPDATE of the same number of rows in a table and in one ten times smaller; INSERT of 50 million rows within 1 GB, MERGE of
20 million rows into 50 million within 2 GB.

Each figure is the growth of the peak resident memory of a fresh process during the statement.
"""

import contextlib
import pathlib
import statistics
import threading
import time

import crew
import data
import engines
from measure import Line


def delete(recorder, tables):
    change(recorder, tables, "delete")


def update(recorder, tables):
    change(recorder, tables, "update")


def change(recorder, tables, verb):
    """The predicate picks equally many rows in the large table (1 in 1000) and in the small one (1 in 100)."""
    name = f"memory/{verb}"
    head = "delete from ev" if verb == "delete" else "update ev set v = v + 1"
    growth = {"ev": [], "ev-small": [], "ten times the rows": []}
    verified = True
    for rep in range(2 if recorder.quick else 5):
        for key, table, share in ("ev", "ev", 1000), ("ev-small", "ev-small", 10_000), ("ten times the rows", "ev", 10_000):
            mib, good = once(tables, table, head, f"k < {share}")
            growth[key].append(mib)
            verified = verified and good
            recorder.raw(name, key, rep, mib, "MiB")
    more = statistics.median(growth["ten times the rows"])
    note = f"ten times the rows scanned, as many changed; ten times the rows changed: {more:.0f} MiB"
    recorder.ratio(
        name, growth["ev"], growth["ev-small"], 1.5, "MiB", verified=verified, verified_by="delta extension", note=note
    )


def once(tables, table, head, predicate) -> tuple[float, bool]:
    root = tables.copy(table)
    (growth,), _ = crew.together([(statement, (str(root), f"{head} where {predicate}"))])
    base = f"read_parquet('{tables.parquet(table)}')"
    expected = (
        f"select count(*), sum(v) from {base} where not ({predicate})"
        if head.startswith("delete")
        else f"select count(*), sum(v) + count(*) filter ({predicate}) from {base}"
    )
    good = engines.delta_answers(root, "select count(*), sum(v) from t", expected)
    return growth, good


def statement(ready, root, sql) -> float:
    con = engines.connect()
    engines.attach(con, root)
    ready()
    with engines.PeakMemory() as memory:
        con.execute(sql).fetchall()
    return memory.growth


def insert(recorder, tables):
    name, times = "memory/insert-50m", 5
    root = tables.copy("ev-empty")
    source = "read_parquet([" + ", ".join([f"'{tables.parquet()}'"] * times) + "])"
    ((peak, seconds),), _ = crew.together([(insert_limited, (str(root), source, str(tables.work)))])
    recorder.raw(name, "peak", 0, peak, "MiB")
    recorder.raw(name, "time", 0, seconds * 1000, "ms")
    base = f"read_parquet('{tables.parquet()}')"
    good = engines.delta_answers(
        root, "select count(*), sum(v) from t", f"select {times} * count(*), {times} * sum(v) from {base}"
    )
    note = f"{times * tables.rows // 1_000_000} M rows in {seconds:.1f} s with memory_limit = '1GB'"
    recorder.add(
        Line(name, peak, None, "MiB", limit=1024, verified=good, verified_by="delta extension", note="peak resident; " + note)
    )


def insert_limited(ready, root, source, temporary) -> tuple[float, float]:
    con = engines.connect(memory_limit="1GB", temp_directory=f"{temporary}/spill")
    engines.attach(con, root)
    ready()
    start = time.perf_counter()
    with engines.PeakMemory() as memory:
        con.execute(f"insert into ev from {source}").fetchall()
    return memory.peak, time.perf_counter() - start


def merge(recorder, tables):
    """The source has every third id, up to beyond the target's last one: five rows in six are updates."""
    name, rows = "memory/merge-20m-50m", tables.rows
    root = five_times(tables)
    source = f"""select 3 * id + {rows} * 3 * part.i as id, k, grp, v, s, d
                 from read_parquet('{tables.parquet()}'), (values (0), (1)) part(i)"""
    limit = "2GB" if rows == 10_000_000 else "200MB"
    ((peak, seconds, spilled),), _ = crew.together([(merge_limited, (str(root), source, limit, str(tables.work)))])
    recorder.raw(name, "peak", 0, peak, "MiB")
    recorder.raw(name, "time", 0, seconds * 1000, "ms")
    # The merge adds up v, so any sum that gives each id a weight tells the result; these weights keep it exact in a double.
    weighed = "sum(v * (1 + id % 61)), sum(hash(id))"
    base = f"select id + {rows} * i as id, v from read_parquet('{tables.parquet()}'), range(5) part(i)"
    src = f"select id, v from ({source})"
    expected = f"""select 5 * {rows} + (select count(*) from ({src}) where id >= {5 * rows}), sum(a),
                          sum(h) from (select sum(v * (1 + id % 61)) as a, sum(hash(id)) as h from ({base})
                          union all select sum(v * (1 + id % 61)), sum(hash(id)) filter (id >= {5 * rows}) from ({src}))"""
    good = engines.delta_answers(root, f"select count(*), {weighed} from t", expected)
    note = f"peak resident; {2 * rows / 1e6:g} M rows into {5 * rows / 1e6:g} M in {seconds:.1f} s with memory_limit = '{limit}'"
    note += f", {spilled:,.0f} MiB spilled at most"
    recorder.add(Line(name, peak, None, "MiB", limit=2560, verified=good, verified_by="delta extension", note=note))


def five_times(tables):
    """A table of five files, each with the rows of ev under ids of its own."""
    root = tables.work / "ev-five" / "ev"
    root.mkdir(parents=True)
    con = engines.connect()
    adds = []
    for part in range(5):
        sql = f"select id + {part * tables.rows} as id, k, grp, v, s, d from read_parquet('{tables.parquet()}')"
        adds.append({"add": data.write_file(con, root, f"part-{part:05}.parquet", sql)})
    data.write_commit(root, 0, data.head() + adds)
    return root


def merge_limited(ready, root, source, limit, temporary) -> tuple[float, float, float]:
    con = engines.connect(memory_limit=limit, temp_directory=f"{temporary}/spill")
    engines.attach(con, root)
    ready()
    start = time.perf_counter()
    with engines.PeakMemory() as memory, Watch(pathlib.Path(temporary) / "spill") as spill:
        con.execute(f"""merge into ev using ({source}) src on ev.id = src.id when matched then update set v = ev.v + src.v
                        when not matched then insert values (src.id, src.k, src.grp, src.v, src.s, src.d)""").fetchall()
    return memory.peak, time.perf_counter() - start, spill.most


class Watch:
    """The largest size that a folder had meanwhile, in MiB, looked at every tenth of a second."""

    def __init__(self, folder):
        self.folder, self.most, self.end = folder, 0.0, threading.Event()

    def __enter__(self):
        self.thread = threading.Thread(target=self.look)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.end.set()
        self.thread.join()

    def look(self):
        while not self.end.wait(0.1):
            with contextlib.suppress(FileNotFoundError):  # a file may go between the two looks
                self.most = max(self.most, sum(f.stat().st_blocks * 512 for f in self.folder.glob("*")) / 2**20)
