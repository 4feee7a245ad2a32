# SPDX-License-Identifier: Apache-2.0
"""The same random statements on a table of a lake and on a table in DuckDB's memory: equal answers and equal contents after each of
them, in transactions and without, at older versions, and to a reader that comes later."""

import duckdb
import pytest

import delta_log
from conftest import connect_lake
from random_statements import COLUMNS, Generator

STEPS = 16
LAYOUTS = {  # partition columns, deletion vectors
    "vectors": ("", True),
    "copy on write": ("", False),
    "vectors, by string": ("p", True),
    "copy on write, by moment and number": ("tz, sm", False),
    "vectors, by float and decimal": ("d, dec", True),
    "copy on write, by date": ("dt", False),
}


def contents(con, table):
    # -0.0 and 0.0 are one value to SQL and may be stored as either.
    fields = (f"if({name} = 0, '0', {name}::VARCHAR)" if kind in ("DOUBLE", "FLOAT") else f"{name}::VARCHAR" for name, kind in COLUMNS.items())
    return con.execute(f"SELECT [{', '.join(fields)}]::VARCHAR FROM {table} ORDER BY 1").fetchall()


class Pair:
    """A table of a lake and its model, each changed over a connection of its own: DuckDB writes to one database in a transaction."""

    def __init__(self, lake, partitioned_by, vectors):
        self.path = lake
        self.lake = connect_lake(lake, threads=2)
        self.model = self.lake.cursor()
        columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
        partitioned = f" PARTITIONED BY ({partitioned_by})" if partitioned_by else ""
        self.lake.execute("SET GLOBAL TimeZone = 'UTC'")
        self.lake.execute("SET braid_durability = 'none'")
        self.lake.execute(f"CREATE TABLE t ({columns}){partitioned} WITH ('delta.enableDeletionVectors' = '{str(vectors).lower()}')")
        self.model.execute(f"CREATE TABLE memory.main.t ({columns})")

    def both(self, statement):
        """Answers of the lake and of the model; an error stands as its kind."""
        answers = []
        for con, table in ((self.lake, "lake.main.t"), (self.model, "memory.main.t")):
            try:
                answers.append(con.execute(statement.replace("%T%", table)).fetchall())
            except (duckdb.ConversionException, duckdb.OutOfRangeException) as error:
                answers.append(type(error))
        return answers

    def check(self, statement):
        lake, model = self.both(statement)
        assert lake == model, statement
        assert contents(self.lake, "lake.main.t") == contents(self.model, "memory.main.t"), statement


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_lake_answers_as_duckdb_does(lake, layout):
    partitioned_by, vectors = LAYOUTS[layout]
    generator = Generator(layout)
    pair = Pair(lake, partitioned_by, vectors)
    history = {0: []}
    for _ in range(STEPS):
        if generator.random.random() < 0.2:
            pair.both("BEGIN")
            for _ in range(generator.random.randrange(1, 5)):
                pair.check(generator.change())
                pair.check(generator.question())
            pair.check(generator.random.choice(["COMMIT", "COMMIT", "ROLLBACK"]))
        else:
            pair.check(generator.change())
        pair.check(generator.question())
        now = contents(pair.model, "memory.main.t")
        history[delta_log.version(lake / "t")] = now
        version = generator.random.choice(list(history))
        assert contents(pair.lake, f"lake.main.t AT (VERSION => {version})") == history[version]
        if len(now) > 150:
            pair.check("DELETE FROM %T% WHERE hash(id) % 2 = 0")
            history[delta_log.version(lake / "t")] = contents(pair.model, "memory.main.t")
    with connect_lake(lake) as later:
        later.execute("SET TimeZone = 'UTC'")
        assert contents(later, "t") == contents(pair.model, "memory.main.t")
        for version in generator.random.sample(sorted(history), min(5, len(history))):
            assert contents(later, f"t AT (VERSION => {version})") == history[version]
    pair.lake.close()
