# SPDX-License-Identifier: Apache-2.0
"""Scenarios 74 to 89, N1, N2, N10b, N16, N17: metadata, protocol, streaming ids, domains, identity columns, constraints, RESTORE."""

import pytest

import delta_log
from conftest import quote
from scenarios.play import NO_VECTORS, Setup, case, judge, plays, txn


def alter(change, plain=()):
    return txn(f"ALTER TABLE t {change}", plain=plain)


def set_properties(**properties):
    listed = ", ".join(f"{quote('delta.' + name)} = {quote(value)}" for name, value in properties.items())
    return alter(f"SET TBLPROPERTIES ({listed})")


def unset(name):
    return alter(f"UNSET TBLPROPERTIES ('delta.{name}')")


def add_feature(feature):
    """An upgrade."""
    return alter(f"SET TBLPROPERTIES ('delta.feature.{feature}' = 'supported')")


INSERT, DELETE, UPDATE = "INSERT INTO t VALUES (500, 5)", "DELETE FROM t WHERE id = 1", "UPDATE t SET v = 50 WHERE id = 1"
STATEMENTS = {"insert": INSERT, "delete": DELETE, "update": UPDATE}
WITHOUT = Setup(properties=NO_VECTORS)
UNCLUSTERED = Setup(altered=("ALTER TABLE t CLUSTER BY (id)", "ALTER TABLE t CLUSTER BY NONE"))
CLOCK = (("delta.enableInCommitTimestamps", "true"),)


def timestamps_grow(place):
    times = [info["inCommitTimestamp"] for info in (delta_log.info(place.table, v) for v in (1, 2))]
    assert times[0] < times[1]
    assert delta_log.metadata(place.table)["configuration"]["delta.inCommitTimestampEnablementVersion"] == "1"


SWITCHED_ON = {
    "vectors": (set_properties(enableDeletionVectors="true"), WITHOUT, "PC"),
    "mapping": (set_properties(**{"columnMapping.mode": "name"}), Setup(), "PC"),
    "v2 checkpoints": (set_properties(checkpointPolicy="v2"), Setup(), "PC"),
    "timestamps": (set_properties(enableInCommitTimestamps="true"), Setup(), "PC"),
    "vectors again": (set_properties(enableDeletionVectors="true"), Setup(altered=("ALTER TABLE t SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')",)), "MC"),
}
SWITCHED_OFF = {
    "vectors": (set_properties(enableDeletionVectors="false"), Setup()),
    "vectors unset": (unset("enableDeletionVectors"), Setup()),
    "v2 checkpoints": (set_properties(checkpointPolicy="classic"), Setup(properties=(("delta.checkpointPolicy", "v2"),))),
    "timestamps": (set_properties(enableInCommitTimestamps="false"), Setup(properties=CLOCK)),
    "row ids": (set_properties(enableRowTracking="false"), Setup(properties=(("delta.enableRowTracking", "true"),))),
}

METADATA = [
    *(case(f"74-{name}", alter("ADD COLUMN w INTEGER", ("ALTER TABLE t ADD COLUMN w INTEGER",)), statement, any="MC") for name, statement in STATEMENTS.items()),
    *(
        case(f"75-{name}-{statement}", change, STATEMENTS[statement], setup=setup, strict=strict, sound="ok")
        for name, (change, setup, strict) in SWITCHED_ON.items()
        for statement in STATEMENTS
    ),
    case("75-timestamps grow", set_properties(enableInCommitTimestamps="true"), DELETE, sound="ok", check=timestamps_grow),
    *(case(f"76-{name}", change, DELETE, setup=setup, any="MC") for name, (change, setup) in SWITCHED_OFF.items()),
    case("77", set_properties(enableInCommitTimestamps="true", checkpointInterval="20"), DELETE, strict="PC", sound="MC"),
    case("78", set_properties(checkpointInterval="20"), set_properties(checkpointInterval="30"), any="MC"),
    case("78-protocol", set_properties(checkpointPolicy="v2"), set_properties(enableInCommitTimestamps="true"), any="PC"),
    *(case(f"80-{name}", alter("DROP FEATURE clustering"), statement, setup=UNCLUSTERED, any="PC") for name, statement in STATEMENTS.items()),
    case("89", set_properties(appendOnly="true"), DELETE, any="MC"),
    # The level itself is metadata; the stricter one counts. A column is a conflict for everybody.
    *(
        case(f"N2-level-{name}", set_properties(isolationLevel="Serializable"), statement, strict_WS="MC", sound_WS="ok")
        for name, statement in STATEMENTS.items()
    ),
    case("N2-level judges", txn("INSERT INTO t VALUES (200, 3)"), txn("ALTER TABLE t SET TBLPROPERTIES ('delta.isolationLevel' = 'Serializable')", starts=1, plain=()),
         "DELETE FROM t WHERE v = 3", strict_WS="MC", sound_WS="CA"),  # fmt: skip
    case("N2-level lowered", "INSERT INTO t VALUES (200, 3)", txn("ALTER TABLE t SET TBLPROPERTIES ('delta.isolationLevel' = 'WriteSerializable')", starts=1, plain=()),
         "DELETE FROM t WHERE v = 3", strict_S="MC", sound_S="CA"),  # fmt: skip
    *(
        case(f"N2-column-{name}", txn("MERGE WITH SCHEMA EVOLUTION INTO t USING (SELECT 500::BIGINT AS id, 1::BIGINT AS v, 7 AS w) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *",
             plain=("ALTER TABLE t ADD COLUMN w INTEGER", "INSERT INTO t VALUES (500, 1, 7)")), statement, any="MC")  # fmt: skip
        for name, statement in STATEMENTS.items()
    ),
    *(case(f"N10b-{name}", add_feature("icebergCompatV1"), statement, any="PC") for name, statement in STATEMENTS.items()),
    case("N10b-optimize", add_feature("icebergCompatV1"), txn("OPTIMIZE t", plain=()), setup=Setup(then=("INSERT INTO t VALUES (500, 5)",)), any="PC"),
    *(case(f"N17a-{name}", add_feature("columnMapping"), statement, strict="PC", sound="ok") for name, statement in STATEMENTS.items()),
]

# 81, N16: one streaming application. Each transaction brings its own name and version.


def as_application(name, version, statement):
    return txn(f"SET braid_txn_app_id = '{name}'", f"SET braid_txn_version = {version}", statement, plain=(statement,))


APPLICATIONS = [
    case("81", as_application("t1", 1, INSERT), as_application("t1", 2, DELETE), any="CT"),
    case("81-other", as_application("t1", 1, INSERT), as_application("t2", 1, DELETE), any="ok"),
    case("N16", as_application("stream", 7, INSERT), as_application("stream", 7, INSERT), any="CT"),
    case("82", alter("CLUSTER BY (v)"), alter("CLUSTER BY (id, v)"), setup=Setup(altered=("ALTER TABLE t CLUSTER BY (id)",)), any="CT"),
    case("82-other", alter("CLUSTER BY (v)"), DELETE, setup=Setup(altered=("ALTER TABLE t CLUSTER BY (id)",)), any="ok"),
]

# 86: ADD CONSTRAINT must see every row, at both levels.
CONSTRAINT = "ALTER TABLE t ADD CONSTRAINT small CHECK (id < 300)"
CONSTRAINTS = [
    case("86", INSERT, txn(CONSTRAINT, plain=()), any="CA"),
    case("86-harmless", "INSERT INTO t VALUES (200, 5)", txn(CONSTRAINT, plain=()), sound="ok"),
    case("86-reverse", txn(CONSTRAINT, plain=()), INSERT, strict="PC", sound="MC"),
]


# 83 to 85: identity columns.
IDENTITY = Setup("SELECT 0::BIGINT AS id, 0::BIGINT AS v WHERE false", altered=("CREATE OR REPLACE TABLE t (id BIGINT GENERATED BY DEFAULT AS IDENTITY, v BIGINT)",),
                 then=("INSERT INTO t (v) SELECT range % 10 FROM range(100)", "INSERT INTO t VALUES (500, 1)"))  # fmt: skip
GENERATED, EXPLICIT = "INSERT INTO t (v) VALUES (1)", "INSERT INTO t VALUES (1000, 1)"
IDENTITIES = [
    case("83", GENERATED, GENERATED, setup=IDENTITY, order=None, any="MC"),
    case("83-explicit", EXPLICIT, EXPLICIT, setup=IDENTITY, order=None, strict="MC", sound="ok"),
    case("83-one of both", GENERATED, EXPLICIT, setup=IDENTITY, order=None, strict="MC", sound="ok"),
    case("84", GENERATED, "DELETE FROM t WHERE v = 3", setup=IDENTITY, order=None, strict="MC", sound="ok"),
    case("85", EXPLICIT, txn("ALTER TABLE t ALTER COLUMN id SYNC IDENTITY"), setup=IDENTITY, order=None, strict="MC", sound="CA"),
]


# 87, 88: RESTORE, as the loser and as the winner. Version 0 has all 100 rows.
GONE = Setup(then=("DELETE FROM t WHERE id IN (1, 2)",))
NAMED = Setup(altered=("ALTER TABLE t SET TBLPROPERTIES ('mine' = 'x')",), then=GONE.then)
RESTORE = txn("RESTORE t TO VERSION AS OF 0", plain=("INSERT INTO t VALUES (1, 1), (2, 2)",))
RESTORES = [
    case("87-insert", INSERT, RESTORE, setup=GONE, strict="MC", sound="CW"),
    case("87-delete", "DELETE FROM t WHERE id = 3", RESTORE, setup=GONE, strict="CDR", sound="CW"),
    case("87-optimize", txn("OPTIMIZE t", plain=()), RESTORE, setup=Setup(then=(*GONE.then, INSERT)), strict="CDR", sound="CW"),
    case("87-restore", RESTORE, RESTORE, setup=GONE, strict="CDR", sound="CW"),
    case("88", RESTORE, "DELETE FROM t WHERE id IN (1, 3)", setup=GONE, any="CA"),
    case("88-other rows", RESTORE, "DELETE FROM t WHERE id = 3", setup=GONE, any="ok"),
    case("88-metadata", RESTORE, "DELETE FROM t WHERE id = 3", setup=NAMED, any="MC"),
]


@pytest.mark.parametrize(**plays(METADATA + CONSTRAINTS + IDENTITIES + RESTORES))
def test_scenario(stage, the_case, mode, level):
    stage.play(the_case, mode, level)


@pytest.mark.parametrize(**plays(APPLICATIONS))
def test_application(stage, the_case, mode, level):
    try:
        stage.play(the_case, mode, level)
    finally:
        for client in stage.take("connections", 2):
            client.run("RESET braid_txn_app_id")
            client.run("RESET braid_txn_version")


CREATE = "CREATE TABLE t AS SELECT {} AS id"
REPLACE = "CREATE OR REPLACE TABLE t AS SELECT {} AS id"
JOIN = ("CREATE TABLE IF NOT EXISTS t (id BIGINT)", "INSERT INTO t VALUES ({})")


CREATORS = {  # statements, whether the table is there, outcome by mode
    "79a": ((CREATE,), False, {"strict": "PC.WRITE_TO_EMPTY_DIRECTORY", "sound": "PC.WRITE_TO_EMPTY_DIRECTORY"}),
    "79b-new-N17b": ((REPLACE,), False, {"strict": "PC", "sound": "PC"}),
    "79b-N17b": ((REPLACE,), True, {"strict": "PC", "sound": "PC"}),
    "79c-N17c": (JOIN, False, {"strict": "PC"}),
}


@pytest.mark.parametrize("number, mode", [(number, mode) for number, (_, _, outcomes) in CREATORS.items() for mode in outcomes])
def test_two_creators(stage, number, mode):
    statements, there, outcomes = CREATORS[number]
    place = stage.new_place(Setup(), "WS") if there else stage.new_schema()
    clients = stage.take("connections", 2)
    for client in clients:
        client.enter(place, {"braid_concurrency_mode": mode})
    try:
        clients[0].run("CREATE TABLE IF NOT EXISTS another AS SELECT 1 AS id")  # a directory without tables is no schema
        for value, client in enumerate(clients, 1):
            client.run("BEGIN")
            for statement in statements:
                client.run(statement.format(value))
        clients[0].run("COMMIT")
        version = place.version()
        error = clients[1].ask("COMMIT").error
        judge(outcomes[mode], error, place.version() - version)
        assert sorted(place.rows()) == ([(1,)] if error else [(1,), (2,)])
    finally:
        for client in clients:
            client.leave()


@pytest.mark.parametrize(
    "change, level",
    [
        pytest.param(None, "WS", id="N1-absent"),
        pytest.param("SET TBLPROPERTIES ('delta.isolationLevel' = 'WriteSerializable')", "WS", id="N1-WriteSerializable"),
        pytest.param("SET TBLPROPERTIES ('delta.isolationLevel' = 'Serializable')", "S", id="N1-Serializable"),
        pytest.param("UNSET TBLPROPERTIES ('delta.isolationLevel')", "WS", id="N1-unset"),
        pytest.param("SET TBLPROPERTIES ('delta.isolationLevel' = 'SnapshotIsolation')", "refused", id="N1-SnapshotIsolation"),
        pytest.param("SET TBLPROPERTIES ('delta.isolationLevel' = 'chaos')", "refused", id="N1-chaos"),
    ],
)
@pytest.mark.parametrize("mode", ["strict", "sound"])
def test_isolation_property(stage, change, level, mode):
    place = stage.new_schema()
    winner, loser = stage.take("connections", 2)
    for client in (winner, loser):
        client.enter(place, {"braid_concurrency_mode": mode})
    try:
        winner.run("CREATE TABLE t AS SELECT range AS id, range % 10 AS v FROM range(100)")
        assert delta_log.metadata(place.table)["configuration"]["delta.isolationLevel"] == "WriteSerializable"
        if level == "refused":
            error = winner.ask(f"ALTER TABLE t {change}").error
            assert "DELTA_INVALID_ISOLATION_LEVEL" in error and "25000" in error and place.version() == 0
            return
        if change is None:
            winner.run("ALTER TABLE t UNSET TBLPROPERTIES ('delta.isolationLevel')")
        elif change.startswith("UNSET"):
            winner.run("ALTER TABLE t SET TBLPROPERTIES ('delta.isolationLevel' = 'Serializable')")
        if change:
            winner.run(f"ALTER TABLE t {change}")
        loser.run("BEGIN")
        loser.run("DELETE FROM t WHERE v = 3")
        winner.run("INSERT INTO t VALUES (200, 3)")
        error = loser.ask("COMMIT").error
        assert (error is None) == (level == "WS"), error
        assert delta_log.info(place.table)["isolationLevel"] == {"WS": "WriteSerializable", "S": "Serializable"}[level]
    finally:
        for client in (winner, loser):
            client.leave()
