// SPDX-License-Identifier: Apache-2.0
// What the demo prints: a progress line, the table of the processes, and the log's own account of the commits.
#include "cli/demo_report.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "cli/demo_plan.h"
#include "cli/launcher.h"

namespace braid::cli {

Result<LogAccount> ReadLog(Database& database, const std::string& table_folder, std::vector<ProcessResult>& results) {
	const std::string files = QuoteSql(table_folder + "/_delta_log/*.json");
	BRAID_TRY(
		database.Run("CREATE TEMP TABLE log AS SELECT json, "
					 "regexp_extract(filename, '([0-9]+)[.]json$', 1)::BIGINT AS version "
					 "FROM read_ndjson_objects(" +
					 files + ", filename = true)"));
	BRAID_TRY(
		database.Run("CREATE TEMP TABLE commits AS SELECT (json->>'$.commitInfo.userMetadata')::BIGINT "
					 "AS process, version - 1 - (json->>'$.commitInfo.readVersion')::BIGINT AS overtaken "
					 "FROM temp.log WHERE version > 0 AND json_exists(json, '$.commitInfo')"));
	BRAID_TRY(const QueryResult totals,
			  database.Run("SELECT count(*), count(*) FILTER (overtaken > 0), coalesce(max(overtaken), 0), "
						   "(SELECT count(*) FROM temp.log WHERE version = 0 AND json_exists(json, '$.add')) "
						   "FROM temp.commits"));
	BRAID_TRY(const QueryResult shares,
			  database.Run("SELECT process, count(*) FROM temp.commits WHERE overtaken > 0 GROUP BY process"));
	const auto number = [](const std::string& text) { return std::strtoll(text.c_str(), nullptr, 10); };
	for (const Row& share : shares.rows) {
		results.at(static_cast<size_t>(number(share[0]))).rebased = static_cast<int>(number(share[1]));
	}
	const Row& total = totals.rows.at(0);
	return LogAccount {number(total[0]), number(total[1]), number(total[2]), number(total[3])};
}

std::string Wrapped(const std::string& text, const std::string& indent) {
	constexpr size_t kColumns = 110;
	std::string wrapped;
	std::string line = indent;
	std::istringstream words(text);
	for (std::string word; words >> word;) {
		if (line.size() > indent.size() && line.size() + 1 + word.size() > kColumns) {
			wrapped += line + "\n";
			line = indent;
		}
		line += (line.size() > indent.size() ? " " : "") + word;
	}
	return wrapped + line + "\n";
}

void ShowProgress(int done, int total, double seconds) {
	constexpr int kWidth = 40;
	static int last_quarter = 0;
	if (isatty(STDOUT_FILENO)) {
		const std::string bar(static_cast<size_t>(kWidth * done / total), '#');
		std::printf("\r  [%-*s] %d of %d statements, %.1f s", kWidth, bar.c_str(), done, total, seconds);
		if (done == total) std::printf("\n");
		std::fflush(stdout);
	} else if (4 * done / total > last_quarter) {
		last_quarter = 4 * done / total;
		std::printf("  %d of %d statements, %.1f s\n", done, total, seconds);
		std::fflush(stdout);
	}
}

void PrintResults(const std::vector<ProcessResult>& results, const LogAccount& log, double seconds) {
	std::printf("\n  %-10s %11s %10s %9s %9s %9s %9s\n", "process", "statements", "first try", "rebased", "failures",
				"rows", "seconds");
	ProcessResult all;
	const auto print = [](const std::string& name, const ProcessResult& result) {
		std::printf("  %-10s %11d %10d %9d %9d %9lld %9.2f\n", name.c_str(), result.statements, result.first_try,
					result.rebased, result.failures, static_cast<long long>(result.rows_changed), result.seconds);
	};
	for (size_t i = 0; i < results.size(); i++) {
		const ProcessResult& result = results[i];
		print(std::to_string(i + 1), result);
		all.statements += result.statements;
		all.first_try += result.first_try;
		all.rebased += result.rebased;
		all.failures += result.failures;
		all.rows_changed += result.rows_changed;
	}
	all.seconds = seconds;
	print("all", all);
	std::printf(
		"\n  The log's account: %lld commits, of them %lld lost a race to others (up to %lld in between) and were\n"
		"  rebased at row level; no statement was run a second time.\n",
		static_cast<long long>(log.commits), static_cast<long long>(log.rebased),
		static_cast<long long>(log.overtaken_most));
}

}  // namespace braid::cli
