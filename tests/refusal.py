# SPDX-License-Identifier: Apache-2.0
"""What is refused changes nothing."""

import duckdb
import pytest

import delta_log


def refuse(con, table, statement, *parts):
    """The statement fails, the message has these parts, and there is no new version, no new file and no new log entry."""

    def state():
        return delta_log.version(table), delta_log.files_on_disk(table), sorted((table / "_delta_log").iterdir())

    before = state()
    with pytest.raises(duckdb.Error) as error:
        con.execute(statement)
    for part in parts:
        assert part in str(error.value)
    assert state() == before
