# SPDX-License-Identifier: Apache-2.0
"""Random programs of MERGE, INSERT, UPDATE and DELETE on a table of a lake and on a table in DuckDB's memory: the same answers, errors and rows
after each statement, and to a reader that comes later. `--seeds 5000` runs more of them; a seed that fails prints the shortest program that still
does."""

import copy

import duckdb
import pytest

from conftest import connect_lake
from random_merges import COLUMNS, MergeGenerator

DOUBLE_MATCH = "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"


class Difference(Exception):
    pass


class Bench:
    """Both databases; each program runs on fresh tables."""

    def __init__(self, path):
        self.lake = connect_lake(path, threads=1)
        self.lake.execute("SET braid_durability = 'none'")
        self.model = self.lake.cursor()  # DuckDB writes to one database in a transaction
        self.reader = connect_lake(path, threads=1)
        self.programs = 0

    def contents(self, con, table):
        columns = ", ".join(f"{name}::VARCHAR" for name in COLUMNS)
        return con.execute(f"SELECT {columns} FROM {table} ORDER BY ALL").fetchall()

    def run(self, program):
        """Raises Difference."""
        self.programs += 1
        tables = {self.lake: f"lake.main.t{self.programs}", self.model: "memory.main.t"}
        columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
        partitioned = f" PARTITIONED BY ({program.partitioned_by})" if program.partitioned_by else ""
        self.lake.execute(f"CREATE TABLE {tables[self.lake]} ({columns}){partitioned} WITH ('delta.enableDeletionVectors' = '{str(program.vectors).lower()}')")
        self.model.execute(f"CREATE OR REPLACE TABLE memory.main.t ({columns})")
        try:
            for block in program.blocks:
                self.run_block(block, tables)
            self.compare(self.contents(self.reader, tables[self.lake]), self.contents(self.model, tables[self.model]), "what another instance reads")
        finally:
            for con in tables:
                try:
                    con.execute("ROLLBACK")
                except duckdb.TransactionException:
                    pass

    def run_block(self, block, tables):
        for con in tables:
            if block.end:
                con.execute("BEGIN")
        for statement in block.statements:
            if not self.run_statement(statement, tables):  # the error has ended the transaction
                for con in tables:
                    if block.end:
                        con.execute("ROLLBACK")
                break
        else:
            for con in tables:
                if block.end:
                    con.execute(block.end)
        self.compare(*(self.contents(con, table) for con, table in tables.items()), "after the block")

    def run_statement(self, statement, tables):
        sql = {con: statement.sql.replace("%T%", table) for con, table in tables.items()}
        doubles = statement.doubles and self.model.execute(statement.doubles.replace("%T%", tables[self.model])).fetchone()[0]
        if doubles and not statement.may_double:
            try:
                self.lake.execute(sql[self.lake])
            except duckdb.InvalidInputException as error:
                if DOUBLE_MATCH in str(error):
                    return False
                raise Difference(f"{statement.sql}\n{error}") from error
            raise Difference(f"{statement.sql}\n{doubles} rows are matched twice, and no error")
        answers = []
        for con, text in sql.items():
            try:
                answers.append(sorted(con.execute(text).fetchall(), key=repr))
            except duckdb.Error as error:
                answers.append(f"{type(error).__name__}: {error}" if con is self.lake else f"{type(error).__name__}")
        lake, model = answers
        if isinstance(lake, str) and isinstance(model, str):
            return False
        if not doubles:  # DuckDB counts a row as often as it is deleted
            self.compare(lake, model, f"{statement.sql}\nthe answer")
        self.compare(*(self.contents(con, table) for con, table in tables.items()), f"{statement.sql}\nthe rows")
        return True

    def compare(self, lake, model, what):
        if lake != model:
            missing = [row for row in model if row not in lake] if isinstance(lake, list) and isinstance(model, list) else model
            extra = [row for row in lake if row not in model] if isinstance(lake, list) and isinstance(model, list) else lake
            raise Difference(f"{what}: the lake lacks {missing} and has {extra}")

    def fails(self, program):
        try:
            self.run(program)
        except Difference as difference:
            return difference
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
            if found:
                program, difference, progress = less, found, True
                break
    return program, difference


PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_programs_do_to_a_lake_what_they_do_to_duckdb(tmp_path, pytestconfig, part):
    (tmp_path / "lake").mkdir()
    bench = Bench(tmp_path / "lake")
    for seed in range(part, pytestconfig.getoption("--seeds"), PARTS):
        program = MergeGenerator(seed).program()
        difference = bench.fails(program)
        if difference:
            program, difference = shrink(bench, program, difference)
            pytest.fail(f"seed {seed}:\n{program.script()}\n-- {difference}", pytrace=False)
