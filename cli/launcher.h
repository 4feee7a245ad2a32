// SPDX-License-Identifier: Apache-2.0
// Builds the call of DuckDB's shell that `braid DIR [options]` stands for: the extension loaded, the folder attached as
// `lake` and in use, every other argument passed on as it is.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace braid::cli {

// The folder that this program was started from: the shell, the extension and the other commands lie there.
std::filesystem::path ProgramFolder();

// A SQL string literal.
std::string QuoteSql(const std::string& text);

// Why `lake` cannot be attached, in words for the user; empty if it looks right. URLs are left to the engine.
std::string CheckLake(const std::string& lake);

// What a connection runs first: the extension is loaded, the lake attached as `lake` and in use.
std::vector<std::string> SetupStatements(const std::filesystem::path& folder, const std::string& lake, bool read_only);

// The shell's arguments, its own name first. -readonly becomes a property of the attached lake, not of the empty database
// that the shell itself opens. A script on standard input ends at its first error.
std::vector<std::string> ShellCommand(const std::filesystem::path& folder, const std::string& lake,
									  const std::vector<std::string>& options);

// Replaces this process by the program; returns only on failure, with the message.
std::string Exec(const std::vector<std::string>& command);

}  // namespace braid::cli
