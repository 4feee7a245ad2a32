# SPDX-License-Identifier: Apache-2.0
"""The judge is able to fail: histories with something wrong in them."""
import pytest

from histories.judge import Judge, Wrong
from histories.play import play
from histories.program import History, Statement, Transaction, Writer
from histories.writers import Crew

INSERT = Statement("INSERT INTO t VALUES (3, 0, 0)", "insert")
DELETE = Statement("DELETE FROM t WHERE x = 0", "delete", ("x = 0",))
COUNT = Statement("INSERT INTO t SELECT 9, 9, count(*) FROM t WHERE x = 0", "insert-select", ("x = 0",))


@pytest.fixture
def crew():
    crew = Crew(2, 0)
    yield crew
    crew.close()


@pytest.fixture
def played(crew, lake):
    """The first transaction commits while the second is open, on rows (0, 0, 0) and (1, 1, 1)."""

    def run(first, second, level="WriteSerializable"):
        writers = [Writer(False, [Transaction("T1", [first], False)]), Writer(False, [Transaction("T2", [second], True)])]
        history = History(0, level, "sound", "", True, False, 10, [[(0, 0, 0), (1, 1, 1)]], writers, [[1], [1], [0], [1]])
        return play(history, crew, lake)

    return run


def check(played, crew):
    Judge(played, crew.reader.con).check()


def test_an_order_that_only_one_level_allows(played, crew):
    """The delete has missed the appended row: it must be ordered before the append."""
    history = played(INSERT, DELETE)
    assert [ending.end for ending in history.endings] == ["committed", "committed"]
    check(history, crew)
    history.history.level = "Serializable"
    with pytest.raises(Wrong, match="T2 as version 3: removed"):
        check(history, crew)


def test_no_order_at_all(played, crew):
    """As if the engine had let a count commit that should have seen what the first added."""
    history = played(INSERT, DELETE)
    history.endings[1].transaction.statements[0] = COUNT
    history.endings[1].answers = [[(1,)]]
    with pytest.raises(Wrong, match="T2 answered|no order"):
        check(history, crew)


def test_a_commit_that_is_nobodys(played, crew):
    history = played(INSERT, DELETE)
    crew.reader.con.execute("DELETE FROM t WHERE y = 1")
    with pytest.raises(Wrong, match="None is 1 times in the log"):
        check(history, crew)


def test_a_commit_of_a_transaction_that_was_refused(played, crew):
    history = played(INSERT, DELETE)
    history.endings[1].end = "refused"
    with pytest.raises(Wrong, match="T2 is 1 times in the log and was told: refused"):
        check(history, crew)


def test_an_answer_that_was_wrong(played, crew):
    history = played(INSERT, DELETE)
    history.endings[1].answers = [[(2,)]]
    with pytest.raises(Wrong, match="T2 answered"):
        check(history, crew)


def test_an_acknowledged_commit_that_is_gone(played, crew):
    history = played(INSERT, DELETE)
    (history.table / "_delta_log" / f"{history.first + 2:020}.json").unlink()
    with pytest.raises(Wrong, match="T2 answered .* and wrote nothing"):
        check(history, crew)


def test_why_it_was_refused(played, crew):
    history = played(INSERT, DELETE, "Serializable")
    assert [ending.end for ending in history.endings] == ["committed", "refused"]
    judge = Judge(history, crew.reader.con)
    judge.check()
    assert judge.reason(history.endings[1]) == "rows"
    history.endings[1].transaction.statements[0] = Statement("DELETE FROM t WHERE x = 1", "delete", ("x = 1",))
    assert Judge(history, crew.reader.con).reason(history.endings[1]) == "needless"
