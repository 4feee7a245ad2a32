// SPDX-License-Identifier: Apache-2.0
// What the demo prints: a progress line, the table of the processes, and the log's own account of the commits.
#include "cli/demo_report.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "cli/launcher.h"

namespace braid::cli {

Result<LogAccount> ReadLog(Database& database, const std::string& table_folder) {
	const std::string actions =
		"read_ndjson_objects(" + QuoteSql(table_folder + "/_delta_log/*.json") + ", filename = true)";
	BRAID_TRY(
		const QueryResult query,
		database.Run(
			"WITH log AS (SELECT regexp_extract(filename, '([0-9]+)[.]json$', 1)::BIGINT AS version, json FROM " +
			actions +
			"), commits AS (SELECT version, version - 1 - (json->>'$.commitInfo.readVersion')::BIGINT AS overtaken "
			"FROM log WHERE version > 0 AND json_exists(json, '$.commitInfo')) "
			"SELECT count(*), count(*) FILTER (overtaken > 0), coalesce(max(overtaken), 0), "
			"(SELECT count(*) FROM log WHERE version = 0 AND json_exists(json, '$.add')), "
			"(SELECT max(version) FROM log) FROM commits"));
	const Row& row = query.rows.at(0);
	const auto number = [&](size_t column) { return std::strtoll(row[column].c_str(), nullptr, 10); };
	return LogAccount {number(0), number(1), number(2), number(3), number(4)};
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
	std::printf("\n  %-10s %11s %10s %9s %9s %9s\n", "process", "statements", "first try", "failures", "rows",
				"seconds");
	ProcessResult total;
	for (size_t i = 0; i < results.size(); i++) {
		const ProcessResult& result = results[i];
		std::printf("  %-10zu %11d %10d %9d %9lld %9.2f\n", i + 1, result.statements, result.first_try, result.failures,
					static_cast<long long>(result.rows_changed), result.seconds);
		total.statements += result.statements;
		total.first_try += result.first_try;
		total.failures += result.failures;
		total.rows_changed += result.rows_changed;
	}
	std::printf("  %-10s %11d %10d %9d %9lld %9.2f\n\n", "all", total.statements, total.first_try, total.failures,
				static_cast<long long>(total.rows_changed), seconds);
	std::printf("  The log's account: %lld commits, of them %lld lost a race and were rebased at row level\n",
				static_cast<long long>(log.commits), static_cast<long long>(log.rebased));
	std::printf("  (up to %lld other commits came in between), none was run a second time.\n",
				static_cast<long long>(log.overtaken_most));
}

}  // namespace braid::cli
