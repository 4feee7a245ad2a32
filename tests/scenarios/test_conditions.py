# SPDX-License-Identifier: Apache-2.0
"""N11, N11b, N12, N14: which conditions `strict` does not judge by rows (R14, R15), and which statements older runtimes do not. `sound` judges them all
by rows: what a condition asks of another table is pinned, and what cannot be asked again is asked of every row."""

import pytest

from scenarios.play import Setup, case, plays

# id 0..99 in one file; u is another table of the same lake, with keys 0 to 9.
NESTED = Setup("SELECT range AS id, range % 10 AS v, {'a': range} AS s, [range] AS l, MAP {'k': range} AS m FROM range(100)")
U = "CREATE TEMP TABLE IF NOT EXISTS u AS SELECT range AS id FROM range(10)"
# What the WHERE of an UPDATE, the ON and the WHEN .. AND of a MERGE add to "id < 10".
EXCLUDED = {
    "a-struct": (NESTED, "t.s.a < 10"),
    "a-array": (NESTED, "t.l[1] < 10"),
    "a-map": (NESTED, "t.m['k'] < 10"),
    "a-struct as a whole": (NESTED, "t.s <> {'a': 700::BIGINT}"),
    "b-rand": (Setup(), "random() < 2"),
    "c-in": (Setup(), "t.id IN (SELECT id FROM u)"),
    "c-not in": (Setup(), "t.id NOT IN (SELECT id + 1000 FROM u)"),
    "c-scalar": (Setup(), "t.id < (SELECT max(id) + 1 FROM u)"),
    "c-exists": (Setup(), "EXISTS (SELECT 1 FROM u WHERE id = 3)"),
    "d-exists": (Setup(), "EXISTS (SELECT 1 FROM u WHERE u.id = t.id)"),
    "d-scalar": (Setup(), "t.v = (SELECT max(u.id) FROM u WHERE u.id = t.id)"),
    "e": (Setup(), "t.v <= (SELECT max(v) FROM t AS w WHERE w.id < 50)"),
    "f": (Setup(), "t.v <= (SELECT max(v) FROM t AS w WHERE w.id >= 50)"),
}
CLAUSES = {
    "where": "UPDATE t SET v = 70 WHERE id < 10 AND {condition}",
    "delete": "DELETE FROM t WHERE id < 10 AND {condition}",
    "on": "MERGE INTO t USING (SELECT range AS k FROM range(10)) src ON t.id = src.k AND t.id < 10 AND {condition} WHEN MATCHED THEN UPDATE SET v = 70",
    "when": "MERGE INTO t USING (SELECT range AS k FROM range(10)) src ON t.id = src.k AND t.id < 10 WHEN MATCHED AND {condition} THEN UPDATE SET v = 70",
}
IN_SET = {  # (g): only SET, inserted values or the source hold it
    "struct": (NESTED, "UPDATE t SET v = s.a + l[1] + m['k'] WHERE id < 10"),
    "rand": (Setup(), "UPDATE t SET v = (random() * 0)::INT WHERE id < 10"),
    "subquery": (Setup(), "UPDATE t SET v = (SELECT max(id) FROM u) WHERE id < 10"),
    "correlated": (Setup(), "UPDATE t SET v = (SELECT max(u.id) FROM u WHERE u.id <= t.id) WHERE id < 10"),
    "merge": (
        Setup(),
        "MERGE INTO t USING (SELECT range AS k FROM range(10)) src ON t.id = src.k AND t.id < 10 "
        "WHEN MATCHED AND t.v >= 0 THEN UPDATE SET v = (SELECT max(id) FROM u)",
    ),
    "using": (Setup(), "DELETE FROM t USING u WHERE t.id = u.id AND t.id < 10"),
    "source": (
        Setup(),
        "UPDATE t SET v = x.n FROM (SELECT id, count(*) AS n FROM u WHERE id IN (SELECT id FROM u) GROUP BY id) x WHERE t.id = x.id AND t.id < 10",
    ),
    "source of a merge": (
        NESTED,
        "MERGE INTO t USING (SELECT id, {'a': 1} AS s FROM u WHERE id < (SELECT max(id) FROM u)) x ON t.id = x.id AND t.id < 10 "
        "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id) VALUES ((SELECT max(id) FROM u))",
    ),
    "insert": (NESTED, "INSERT INTO t (id, s, v) SELECT id + 1000, s, (SELECT max(id) FROM u) FROM t WHERE id < 10"),
}
# An INSERT that reads its table has the concurrency of MERGE (R7), and so the same limits.
INSERTS = {
    "a": (NESTED, "INSERT INTO t (id) SELECT id + 1000 FROM t WHERE id < 10 AND s.a < 10"),
    "b": (Setup(), "INSERT INTO t SELECT id + 1000, v FROM t WHERE id < 10 AND random() < 2"),
    "c": (Setup(), "INSERT INTO t SELECT id + 1000, v FROM t WHERE id < 10 AND id IN (SELECT id FROM u)"),
}
REMOVES_OTHERS = "DELETE FROM t WHERE id >= 90"
APPENDS = "INSERT INTO t (id, v) VALUES (5, 1), (105, 1)"


def beside(number, first, setup, second, **outcomes):
    return case(number, first, second, setup=setup, prepared=(U,), **outcomes)


CASES = [
    *(
        beside(f"N11{name} in {clause}", REMOVES_OTHERS, setup, text.format(condition=condition), strict="CA.PREDICATES_NEED_REWRITE", sound="CDR" if name == "f" else "ok")
        for name, (setup, condition) in EXCLUDED.items()
        for clause, text in CLAUSES.items()
    ),
    *(beside(f"N11g {name}", REMOVES_OTHERS, setup, statement, any="ok") for name, (setup, statement) in IN_SET.items()),
    *(beside(f"N11{name} in insert", REMOVES_OTHERS, setup, statement, strict="CA", sound="ok") for name, (setup, statement) in INSERTS.items()),
    # N11b: a blind append, under WriteSerializable.
    *(
        beside(f"N11b {name}", APPENDS, setup, CLAUSES["where"].format(condition=condition), WS="before")
        for name, (setup, condition) in EXCLUDED.items()
        if name != "f"
    ),
]


@pytest.mark.parametrize(**plays(CASES))
def test_scenario(stage, the_case, mode, level):
    stage.play(the_case, mode, level)


def test_explain_and_prepare_leave_no_trace(stage):
    """Conditions count when their statement is executed."""
    place = stage.new_place(NESTED, "WS")
    mine, theirs = stage.take("connections", 2)
    for client in (mine, theirs):
        client.enter(place, {"braid_concurrency_mode": "strict"})
    try:
        mine.run("BEGIN")
        mine.run("PREPARE p AS DELETE FROM t WHERE s.a < 5")
        mine.run("EXPLAIN DELETE FROM t WHERE s.a < 5")
        mine.run("DELETE FROM t WHERE id = 1")
        theirs.run(REMOVES_OTHERS)
        mine.run("COMMIT")
        mine.run("BEGIN")
        mine.run("EXECUTE p")
        theirs.run("DELETE FROM t WHERE id = 80")
        assert "PREDICATES_NEED_REWRITE" in mine.ask("COMMIT").error
    finally:
        for client in (mine, theirs):
            client.leave()
