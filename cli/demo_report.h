// SPDX-License-Identifier: Apache-2.0
// What the demo prints: a progress line, the table of the processes, and the log's own account of the commits.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/database.h"

namespace braid::cli {

struct ProcessResult {
	int statements = 0;
	int first_try = 0;  // each statement is run once: acknowledged means at the first try
	int rebased = 0;    // by the log's account
	int failures = 0;
	int64_t rows_changed = 0;
	double seconds = 0;
};

// Read from the commit files, not from what the sessions said.
struct LogAccount {
	int64_t commits = 0;         // after the table was made
	int64_t rebased = 0;         // readVersion < version - 1: other commits came in between
	int64_t overtaken_most = 0;  // the most commits that came in between for one statement
	int64_t first_files = 0;     // data files that version 0 wrote
};

// Also counts the rebased commits of each process: a commit's predicate names rows, and each row has one owner.
[[nodiscard]] Result<LogAccount> ReadLog(Database& database, const std::string& table_folder,
										 std::vector<ProcessResult>& results);

// A bar that redraws itself on a terminal; elsewhere a line each quarter.
void ShowProgress(int done, int total, double seconds);

// The text in lines of at most 110 columns, each indented.
std::string Wrapped(const std::string& text, const std::string& indent);

void PrintResults(const std::vector<ProcessResult>& results, const LogAccount& log, double seconds);

}  // namespace braid::cli
