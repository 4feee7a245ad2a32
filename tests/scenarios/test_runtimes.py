# SPDX-License-Identifier: Apache-2.0
"""N12 and N13: which statements older runtimes judge by rows, and a budget of no time at all. The last transaction's kind decides, not the winner's."""

import pytest

from scenarios.play import Setup, case, plays

TABLES = {"plain": Setup(), "liquid": Setup(altered=("ALTER TABLE t CLUSTER BY (id)",))}
STATEMENTS = {
    "DELETE": "DELETE FROM t WHERE id = 1",
    "UPDATE": "UPDATE t SET v = 70 WHERE id = 1",
    "MERGE with a predicate on the target": "MERGE INTO t USING (SELECT 1 AS k) s ON t.id = s.k AND t.id < 50 WHEN MATCHED THEN UPDATE SET v = 70",
    "MERGE": "MERGE INTO t USING (SELECT 1 AS k) s ON t.id = s.k WHEN MATCHED THEN UPDATE SET v = 70",
}
# ok: by rows; no: by files. P: by rows if braid_compat_photon; s: by rows if the preview is switched on.
TABLE = {
    ("13.3", "plain"): ("no", "no", "no", "no"),
    ("13.3", "liquid"): ("ok", "P", "P", "P"),
    ("14.0", "plain"): ("s", "sP", "sP", "sP"),
    ("14.0", "liquid"): ("ok", "P", "P", "P"),
    ("14.1", "plain"): ("s", "sP", "sP", "sP"),
    ("14.1", "liquid"): ("ok", "P", "P", "P"),
    ("14.2", "plain"): ("ok", "ok", "P", "no"),
    ("14.2", "liquid"): ("ok", "ok", "P", "no"),
    ("14.3", "plain"): ("ok", "ok", "ok", "ok"),
    ("14.3", "liquid"): ("ok", "ok", "ok", "ok"),
}
# (photon, preview) and outcome: what just suffices, and what just does not.
SETTINGS = {
    "ok": {(False, False): "ok"},
    "no": {(True, True): "CA"},
    "P": {(True, False): "ok", (False, False): "CA"},
    "s": {(False, True): "ok", (False, False): "CA"},
    "sP": {(True, True): "ok", (False, True): "CA", (True, False): "CA"},
}
ALIAS = "spark.databricks.delta.rowLevelConcurrencyPreview"


def settings(runtime, photon, preview, switch="braid_row_level_concurrency_preview"):
    return {"braid_compat_runtime": runtime, "braid_compat_photon": str(photon).lower(), switch: str(preview).lower()}


CASES = [
    *(
        case(
            f"N12 {runtime} {table} {statement}{' photon' * photon}{' preview' * preview}",
            "DELETE FROM t WHERE id = 90",
            STATEMENTS[statement],
            setup=TABLES[table],
            settings=settings(runtime, photon, preview),
            strict_WS=outcome,
        )
        for (runtime, table), row in TABLE.items()
        for statement, cell in zip(STATEMENTS, row)
        for (photon, preview), outcome in SETTINGS[cell].items()
    ),
    case("N12 sound", "DELETE FROM t WHERE id = 90", STATEMENTS["MERGE"], settings=settings("13.3", False, False), sound="ok"),
    case("N12 alias", "DELETE FROM t WHERE id = 90", STATEMENTS["DELETE"], settings=settings("14.0", False, True, f'"{ALIAS}"'), strict="ok"),
    case("N13a", "DELETE FROM t WHERE id = 7", "DELETE FROM t WHERE id = 1007", setup=Setup(then=("INSERT INTO t SELECT range + 1000, 0 FROM range(100)",)),
         settings={"braid_conflict_time_budget_ms": "0"}, any="ok"),  # fmt: skip
    case("N13b", "DELETE FROM t WHERE id = 7", "DELETE FROM t WHERE id = 8", settings={"braid_conflict_time_budget_ms": "0"}, any="CA.ALLOTTED_TIME_EXCEEDED"),
]


@pytest.mark.parametrize(**plays(CASES))
def test_scenario(stage, the_case, mode, level):
    stage.play(the_case, mode, level)
