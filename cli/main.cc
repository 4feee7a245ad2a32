// SPDX-License-Identifier: Apache-2.0
// The `braid` command: `braid DIR [shell options]` becomes DuckDB's shell on that lake; `braid NAME` becomes the program
// braid-NAME beside it. It does no work of its own, so that the exit status and the streams are those of what it starts.
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "cli/launcher.h"

namespace braid::cli {

namespace {

constexpr const char* kHelp = R"help(usage: braid DIR [SHELL OPTIONS]   open DuckDB's shell with the Delta tables of DIR
       braid demo [DIR]            8 processes change one file of one table at the same time
       braid --help | --version

DIR is a directory of Delta tables, or one table. It is attached as `lake` and in use:
    mkdir lake
    braid lake -c "CREATE TABLE t (id BIGINT, s VARCHAR)"
    braid lake -json -c "SELECT * FROM t"
    braid lake < script.sql
Every option of the shell is passed on (braid DIR -help lists them); -readonly attaches DIR read-only.
The exit status is 1 when a statement fails; a script on standard input ends there. A directory with the name of a subcommand: braid ./demo
)help";

int Fail(const std::string& message) {
	std::cerr << "braid: " << message << "\n";
	return 1;
}

int Run(const std::vector<std::string>& arguments) {
	if (arguments.empty()) {
		std::cerr << kHelp;
		return 1;
	}
	const std::string& first = arguments[0];
	const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
	if (first == "--help" || first == "-help" || first == "-h") {
		std::cout << kHelp;
		return 0;
	}
	if (first == "--version" || first == "-version") {
		std::cout << "braid " BRAID_VERSION " (DuckDB " BRAID_DUCKDB_VERSION ")\n";
		return 0;
	}
	if (first.starts_with("-")) return Fail("the directory comes first: braid DIR " + first + " ...");

	const std::filesystem::path folder = ProgramFolder();
	const std::filesystem::path subcommand = folder / ("braid-" + first);
	if (first.find('/') == std::string::npos && std::filesystem::exists(subcommand)) {
		std::vector<std::string> command {subcommand};
		command.insert(command.end(), rest.begin(), rest.end());
		return Fail(Exec(command));
	}
	if (const std::string problem = CheckLake(first); !problem.empty()) return Fail(problem);
	return Fail(Exec(ShellCommand(folder, first, rest)));
}

}  // namespace

}  // namespace braid::cli

int main(int argc, char** argv) { return braid::cli::Run({argv + 1, argv + argc}); }
