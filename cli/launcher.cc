// SPDX-License-Identifier: Apache-2.0
// Builds the call of DuckDB's shell that `braid DIR [options]` stands for.
#include "cli/launcher.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace braid::cli {

namespace {

bool IsUrl(const std::string& lake) { return lake.find("://") != std::string::npos; }

}  // namespace

std::filesystem::path ProgramFolder() { return std::filesystem::read_symlink("/proc/self/exe").parent_path(); }

std::string QuoteSql(const std::string& text) {
	std::string quoted = "'";
	for (const char c : text) {
		quoted += c;
		if (c == '\'') quoted += c;
	}
	return quoted + "'";
}

std::string CheckLake(const std::string& lake) {
	if (IsUrl(lake)) return "";
	std::error_code failure;
	const auto status = std::filesystem::status(lake, failure);
	if (status.type() == std::filesystem::file_type::not_found) {
		return "'" + lake + "' does not exist; make a new lake with: mkdir -p '" + lake + "'";
	}
	if (failure) return "'" + lake + "' cannot be opened: " + failure.message();
	if (!std::filesystem::is_directory(status)) return "'" + lake + "' is not a directory";
	return "";
}

std::vector<std::string> SetupStatements(const std::filesystem::path& folder, const std::string& lake, bool read_only) {
	return {"LOAD " + QuoteSql(folder / "braid.duckdb_extension"),
			"ATTACH " + QuoteSql(lake) + " AS lake (TYPE braid" + (read_only ? ", READ_ONLY)" : ")"), "USE lake"};
}

std::vector<std::string> ShellCommand(const std::filesystem::path& folder, const std::string& lake,
									  const std::vector<std::string>& options) {
	std::vector<std::string> passed_on;
	bool read_only = false;
	for (const std::string& option : options) {
		if (option == "-readonly" || option == "--readonly") {
			read_only = true;
		} else {
			passed_on.push_back(option);
		}
	}
	std::string setup;  // one -cmd, so that a user's `.timer on` prints one line for it and not three
	for (const std::string& statement : SetupStatements(folder, lake, read_only)) setup += statement + "; ";
	std::vector<std::string> command {folder / "duckdb", "-unsigned", "-cmd", setup};
	if (!isatty(STDIN_FILENO)) command.push_back("-bail");
	command.push_back(":memory:");
	command.insert(command.end(), passed_on.begin(), passed_on.end());
	return command;
}

std::string Exec(const std::vector<std::string>& command) {
	std::vector<char*> arguments;
	for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
	arguments.push_back(nullptr);
	execv(arguments[0], arguments.data());
	return "cannot start " + command[0] + ": " + std::strerror(errno);
}

}  // namespace braid::cli
