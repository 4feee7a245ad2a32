# SPDX-License-Identifier: Apache-2.0
"""A second opinion on what is in a table's directory: the log read with nothing but json, files listed with nothing but os."""

import json
import pathlib
import urllib.parse


def commits(table) -> dict[int, list[dict]]:
    """Actions of every commit file by version."""
    log = pathlib.Path(table) / "_delta_log"
    return {
        int(path.stem): [json.loads(line) for line in path.read_text().splitlines() if line]
        for path in sorted(log.glob("*.json"))
        if path.stem.isdigit()
    }


def version(table) -> int:
    return max(commits(table))


def actions(table, kind: str, at: int | None = None) -> list[dict]:
    """The actions of one kind ("add", "remove", "metaData", ...) in one commit, by default the newest."""
    history = commits(table)
    return [action[kind] for action in history[max(history) if at is None else at] if kind in action]


def info(table, at: int | None = None) -> dict:
    return actions(table, "commitInfo", at)[0]


def key(action: dict):
    dv = action.get("deletionVector")
    return urllib.parse.unquote(action["path"]), dv and (dv["storageType"], dv["pathOrInlineDv"], dv.get("offset"))


def active(table) -> dict[str, dict]:
    """Adds that are live at the newest version, by decoded path. Fails if a path is live twice."""
    live = {}
    for _, lines in sorted(commits(table).items()):
        removed = [key(line["remove"]) for line in lines if "remove" in line]
        for name in removed:
            live.pop(name, None)
        for line in lines:
            if "add" in line:
                live[key(line["add"])] = line["add"]
    assert len({path for path, _ in live}) == len(live), "one file is live under two deletion vectors"
    return {path: add for (path, _), add in live.items()}


def metadata(table) -> dict:
    return [line["metaData"] for _, lines in sorted(commits(table).items()) for line in lines if "metaData" in line][-1]


def files_on_disk(table) -> set[str]:
    """Everything but the log and the leases of open connections, relative."""
    root = pathlib.Path(table)
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file() and not {"_delta_log", "leases"} & set(path.parts)}


def everything(table) -> list[pathlib.Path]:
    """Every path, relative and sorted, but for what the leases of open connections need."""
    root = pathlib.Path(table)
    return sorted(path.relative_to(root) for path in root.rglob("*") if "_braid" not in path.parts)


def stats(add: dict) -> dict:
    return json.loads(add["stats"])
