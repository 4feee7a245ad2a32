# SPDX-License-Identifier: Apache-2.0
"""Random programs of every statement that changes rows or columns, on a table of a lake and on a table in DuckDB's memory: the same answers, errors and
rows after each statement, to a reader that comes later, and to one that knows nothing but json and pyarrow. `--seeds 5000` runs more of them; a seed that
fails prints the shortest program that still does."""

import copy

import duckdb
import pytest

from conftest import connect_lake
from judges import plain
from plain_reader import seen_plainly
from random_programs import ProgramGenerator

DOUBLE_MATCH = "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"


class Difference(Exception):
    """`kind`: what a smaller program must show too, to be the same failure."""

    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind


class Bench:
    """A lake and its model; each program runs on fresh tables."""

    def __init__(self, path):
        self.path = path
        self.programs = self.statements = self.refused = 0
        self.open()

    def open(self):
        self.lake = connect_lake(self.path, threads=1)
        self.lake.execute("SET braid_durability = 'none'")
        self.lake.execute("SET GLOBAL TimeZone = 'UTC'")
        self.model = duckdb.connect()
        self.model.execute("SET disabled_optimizers = 'filter_pushdown'")  # it gets some conditions wrong (trap 43)
        self.model.execute("SET GLOBAL TimeZone = 'UTC'")
        self.reader = connect_lake(self.path, threads=1)
        self.reader.execute("SET GLOBAL TimeZone = 'UTC'")

    def contents(self, con, table):
        """Rows as text, in order. -0.0 and 0.0 are one value to SQL and may be stored as either."""
        columns = con.execute(f"SELECT column_name, column_type FROM (DESCRIBE {table})").fetchall()
        texts = (f"if({name} = 0, '0', {name}::VARCHAR)" if kind in ("DOUBLE", "FLOAT") else f"{name}::VARCHAR" for name, kind in columns)
        return [(columns,), *con.execute(f"SELECT {', '.join(texts)} FROM {table} ORDER BY ALL").fetchall()]

    def run(self, program):
        """Raises Difference."""
        self.programs += 1
        self.tables = {self.lake: f"lake.main.t{self.programs}", self.model: "memory.main.t"}
        for con, table in self.tables.items():
            con.execute(program.create(con is self.lake).replace("%T%", table))
        try:
            for block in program.blocks:
                self.run_block(block)
            self.compare(self.contents(self.reader, self.tables[self.lake]), self.contents(self.model, self.tables[self.model]), "what another instance reads")
            rows = plain(self.model.execute("FROM memory.main.t").to_arrow_table())
            self.compare(seen_plainly(self.path / f"t{self.programs}"), rows, "what json and pyarrow read")
        finally:
            for con in self.tables:
                try:
                    con.execute("ROLLBACK")
                except duckdb.Error:
                    pass  # there is none, or the database is broken

    def run_block(self, block):
        for con in self.tables:
            if block.end:
                con.execute("BEGIN")
        for statement in block.statements:
            if not self.run_statement(statement):  # the error has ended the transaction
                for con in self.tables:
                    if block.end:
                        con.execute("ROLLBACK")
                break
        else:
            for con in self.tables:
                if block.end:
                    con.execute(block.end)
        self.compare(*self.both_contents(), "after the block")

    def both_contents(self):
        return [self.contents(con, table) for con, table in self.tables.items()]

    def answer(self, con, statements):
        """Sorted rows of the last one; an error as text."""
        try:
            for sql in statements:
                rows = con.execute(sql.replace("%T%", self.tables[con])).fetchall()
            return sorted(rows, key=repr)
        except (duckdb.InternalException, duckdb.FatalException):
            raise
        except duckdb.Error as error:
            return f"{type(error).__name__}: {error}"

    def run_statement(self, statement):
        self.statements += 1
        doubled = self.answer(self.model, [statement.doubles]) if statement.doubles else [(0,)]
        doubles = not isinstance(doubled, str) and doubled[0][0]  # an error: the statement is one too
        lake = self.answer(self.lake, statement.sql)
        if doubles and not statement.may_double:
            if DOUBLE_MATCH not in lake:
                raise Difference("doubles", f"{statement}\n{doubles} rows are matched twice, and the answer is {lake}")
            return False
        model = self.answer(self.model, statement.model or statement.sql)
        if isinstance(lake, str) and isinstance(model, str):
            self.refused += 1
            return False
        if isinstance(lake, str) or isinstance(model, str) or not (doubles or statement.model):  # DuckDB counts a row as often as it is deleted
            self.compare(lake, model, f"{statement}\nthe answer")
        self.compare(*self.both_contents(), f"{statement}\nthe rows")
        return True

    def compare(self, lake, model, what):
        if lake != model:
            missing = [row for row in model if row not in lake] if isinstance(lake, list) and isinstance(model, list) else model
            extra = [row for row in lake if row not in model] if isinstance(lake, list) and isinstance(model, list) else lake
            errors = [answer[:50] for answer in (lake, model) if isinstance(answer, str)]
            raise Difference(errors or what.split("\n")[-1], f"{what}: the lake lacks {missing} and has {extra}")

    def fails(self, program):
        try:
            self.run(program)
        except Difference as difference:
            return difference
        except Exception as error:  # noqa: BLE001 - told with the program
            self.open()  # an INTERNAL error breaks a database for good
            return Difference(str(error)[:50], f"{type(error).__name__}: {error}")
        return None


def smaller(program):
    """Programs with one block or statement less, or without a transaction."""
    for at in range(len(program.blocks)):
        less = copy.deepcopy(program)
        del less.blocks[at]
        yield less
    for at, block in enumerate(program.blocks):
        for statement in range(len(block.statements)):
            less = copy.deepcopy(program)
            del less.blocks[at].statements[statement]
            yield less
        if block.end:
            less = copy.deepcopy(program)
            less.blocks[at].end = None
            yield less


def shrink(bench, program, difference):
    progress = True
    while progress:
        progress = False
        for less in smaller(program):
            found = bench.fails(less)
            if found and found.kind == difference.kind:
                program, difference, progress = less, found, True
                break
    return program, difference


PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_programs_do_to_a_lake_what_they_do_to_duckdb(tmp_path, pytestconfig, part):
    (tmp_path / "lake").mkdir()
    bench = Bench(tmp_path / "lake")
    for seed in range(part, pytestconfig.getoption("--seeds"), PARTS):
        program = ProgramGenerator(seed).program()
        difference = bench.fails(program)
        if difference:
            program, difference = shrink(bench, program, difference)
            pytest.fail(f"seed {seed}:\n{program.script()}\n-- {difference}", pytrace=False)
