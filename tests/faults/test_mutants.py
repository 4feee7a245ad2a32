# SPDX-License-Identifier: Apache-2.0
"""The simulator is able to fail: each simpler rule that was ever tempting is put into the code in place of the right one, and must be found out."""

import json
import os
import pathlib
import shlex
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BRAID_BUILD", ROOT / "build")).resolve()

# name: file in kernel/txn, what stands there, what the mutant has
MUTANTS = {
    "union of vectors only": (
        "conflict.cc",
        "	BRAID_TRY(FindReads(delta, removed, &FileEffect::removed));\n	return FindReads(delta, added, &FileEffect::added);",
        "	return {};",
    ),
    "what was read is what was changed": (
        "conflict.cc",
        "	BRAID_TRY(FindReads(delta, removed, &FileEffect::removed));\n",
        "",
    ),
    "every blind append is skipped": (
        "write_serializable.cc",
        "if (closes_a_cycle) return false;",
        "(void)closes_a_cycle;",
    ),
    "who saw the append matters only if he reads what we write": (
        "write_serializable.cc",
        "	for (size_t i = 0; i < append.effects.size(); i++) {\n"
        "		const FileEffect& effect = append.effects[i];\n"
        "		BRAID_TRY(RowSelection rows, AddedRows(effect.before, effect.after, context.vectors));\n"
        "		questions.push_back({std::move(rows), false, &findings[i]});\n"
        "	}\n",
        "	for (const auto& [path, rows] : context.transaction.changes.deleted_rows)\n"
        "		questions.push_back({{context.transaction.base->files->Find(path), false, rows}, false, &findings[0]});\n",
    ),
    "dataChange is trusted": (
        "winning_commit.cc",
        "!any_data_change && RowCountsAgree(winner.effects, *winner.after)",
        "!any_data_change && (RowCountsAgree(winner.effects, *winner.after) || true)",
    ),
    "vectors are united with the one that we read": (
        "row_rebase.cc",
        "vectors_.Get(*live)",
        "vectors_.Get(read ? *read : *live)",
    ),
    "copies of new rows are old rows": (
        "copied_rows.cc",
        "if (whole_files_.contains(path)) return rows;",
        "if (whole_files_.contains(path) || path != \"\") return rows;",
    ),
    "a deleted copy is forgotten": (
        "net_delta.cc",
        "if (delta.first || delta.copied.Empty())",
        "if (delta.first || delta.copied.Empty() || !delta.first)",
    ),
    "rearrangements bring deleted rows back": (
        "mover.cc",
        "masks[i] = std::move(by_target[static_cast<size_t>(target - files.targets.begin())]);",
        "masks[i] = {};",
    ),
    "an equal id is an equal row": (
        "relocation.cc",
        "return winner.data_changing ? CompareContents(winner, candidates) : Status {};",
        "return winner.data_changing && false ? CompareContents(winner, candidates) : Status {};",
    ),
}


def compile_command(file: str) -> tuple[list[str], str]:
    """The command that builds one kernel file, and the directory that it runs in."""
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        if entry["file"].endswith(f"/kernel/txn/{file}") and "braid_kernel" in entry["command"]:
            return shlex.split(entry["command"]), entry["directory"]
    raise AssertionError(f"{file} is not built")


def link_command() -> str:
    """The command that links the kernel's tests."""
    commands = subprocess.run(
        ["ninja", "-C", str(BUILD), "-t", "commands", "braid_kernel_tests"], capture_output=True, text=True, check=True
    )
    return commands.stdout.strip().splitlines()[-1]


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_found_out(name, tmp_path):
    file, right, wrong = MUTANTS[name]
    text = (ROOT / "kernel" / "txn" / file).read_text()
    assert text.count(right) == 1, f"{file} no longer reads as this mutant expects"
    source = tmp_path / file
    source.write_text(text.replace(right, wrong))

    command, directory = compile_command(file)
    command[command.index("-o") + 1] = str(tmp_path / "mutant.o")
    command[command.index("-c") + 1] = str(source)
    subprocess.run([*command, "-w"], cwd=directory, check=True)
    link = link_command()
    assert " -o braid_kernel_tests " in link
    program = tmp_path / "mutant"
    # An object that stands before the library takes the place of the library's own.
    subprocess.run(
        link.replace(" -o braid_kernel_tests ", f" -o {program} {tmp_path / 'mutant.o'} "), shell=True, cwd=BUILD, check=True
    )
    for suite in ("WriteSerializable.*", "Simulator.*"):  # fixed scenarios first, they take no time
        run = subprocess.run(
            [str(program), f"--gtest_filter={suite}", "--gtest_fail_fast", "--gtest_brief=1"],
            capture_output=True,
            text=True,
            env={**os.environ, "BRAID_SCHEDULES": "200000"},
            timeout=600,
        )
        if run.returncode != 0:
            assert "FAILED" in run.stdout
            return
    pytest.fail(f"nobody notices: {name}")
