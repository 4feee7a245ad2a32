// SPDX-License-Identifier: Apache-2.0
// `braid demo [DIR]`: 8 processes update, delete and merge different rows of one data file at the same time, each statement once
// and durably; then the table is read back and compared with the plan, and one true clash is shown. Exit status 1 if a
// statement fails, a row differs from the plan, no two transactions overlapped, or the clash is not refused.
#include <poll.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/database.h"
#include "cli/demo_plan.h"
#include "cli/demo_report.h"
#include "cli/launcher.h"
#include "cli/session_process.h"

namespace braid::cli {

namespace {

namespace fs = std::filesystem;

constexpr int kPatienceMs = 60'000;

double SecondsSince(std::chrono::steady_clock::time_point start) {
	return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The given folder, made if it is missing, or a new one below the folder for temporary files.
Result<std::string> DemoFolder(const std::vector<std::string>& arguments) {
	std::error_code failure;
	if (arguments.empty()) {
		std::string name = fs::temp_directory_path() / "braid-demo-XXXXXX";
		if (!mkdtemp(name.data())) return Fail(ErrorKind::kIo, "cannot make " + name + ": " + std::strerror(errno));
		return name;
	}
	fs::create_directories(arguments[0], failure);
	if (failure) return Fail(ErrorKind::kIo, "cannot make " + arguments[0] + ": " + failure.message());
	if (fs::exists(fs::path(arguments[0]) / "orders")) {
		return Fail(ErrorKind::kAlreadyExists, arguments[0] + " already holds a table `orders`: name another folder");
	}
	return arguments[0];
}

// A word as a shell reads it.
std::string QuoteShell(const std::string& word) {
	constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+";
	if (word.find_first_not_of(kPlain) == std::string::npos) return word;
	std::string quoted = "'";
	for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
	return quoted + "'";
}

// One answer more of one process.
void Count(const Answer& answer, double seconds, ProcessResult& result) {
	result.statements++;
	result.seconds = seconds;
	if (answer.ok) {
		result.first_try++;
		result.rows_changed += answer.rows_changed;
	} else {
		// The statements that a dead process has not answered count as failed.
		const int lost = answer.session_ended ? kDemoStatements - result.statements : 0;
		result.statements += lost;
		result.failures += 1 + lost;
		std::cerr << "\na statement failed: " << answer.error << "\n";
	}
}

// All sessions are open before the first statement is sent, so that they start together.
Result<std::vector<ProcessResult>> RunProcesses(const std::string& lake, const std::vector<PlannedStatement>& plan,
												double& seconds) {
	std::vector<std::unique_ptr<SessionProcess>> sessions;
	for (int i = 0; i < kDemoProcesses; i++) {
		sessions.push_back(std::make_unique<SessionProcess>());
		BRAID_TRY(sessions.back()->Start(lake));
	}
	for (size_t i = 0; i < sessions.size(); i++) {
		// Its commits carry the number of the process (ReadLog).
		BRAID_TRY(sessions[i]->Send("SET braid_user_metadata = '" + std::to_string(i) + "'"));
		for (int answers = 0; answers < 2; answers++) {
			const auto ready = sessions[i]->Wait(kPatienceMs);
			if (!ready || !ready->ok) return Fail(ErrorKind::kIo, ready ? ready->error : "a process does not start");
		}
	}
	const auto start = std::chrono::steady_clock::now();
	for (const PlannedStatement& statement : plan) {
		BRAID_TRY(sessions[static_cast<size_t>(statement.process)]->Send(statement.sql));
	}
	std::vector<ProcessResult> results(kDemoProcesses);
	const int total = static_cast<int>(plan.size());
	for (int done = 0; done < total;) {
		std::vector<pollfd> waiting;
		for (size_t i = 0; i < sessions.size(); i++) {
			const bool busy = results[i].statements < kDemoStatements;
			waiting.push_back({busy ? sessions[i]->descriptor() : -1, POLLIN, 0});
		}
		const int ready = poll(waiting.data(), waiting.size(), kPatienceMs);
		if (ready < 0 && errno == EINTR) continue;
		if (ready == 0) return Fail(ErrorKind::kIo, "no statement ended within a minute");
		for (size_t i = 0; i < sessions.size(); i++) {
			if (waiting[i].revents == 0) continue;
			while (results[i].statements < kDemoStatements) {
				const auto answer = sessions[i]->Wait(0);
				if (!answer) break;
				Count(*answer, SecondsSince(start), results[i]);
			}
		}
		done = 0;
		for (const ProcessResult& result : results) done += result.statements;
		ShowProgress(done, total, SecondsSince(start));
	}
	seconds = SecondsSince(start);
	return results;
}

// Reads the table in this process, which wrote none of the changes, and compares it with the plan row by row.
Status CheckAgainstPlan(Database& database, const std::vector<PlannedStatement>& plan) {
	int64_t deleted = 0;
	int64_t updated = 0;
	for (const PlannedStatement& statement : plan) (statement.deletes ? deleted : updated) += statement.count;
	BRAID_TRY(const QueryResult query, database.Run(CountDifferences(plan)));
	const Row& row = query.rows.at(0);
	std::printf(
		"  Read back: %s rows (%lld deleted), %s updates applied (%lld planned), %s rows differ from the plan.\n",
		row[1].c_str(), static_cast<long long>(deleted), row[2].c_str(), static_cast<long long>(updated),
		row[0].c_str());
	if (row[0] != "0" || row[2] != std::to_string(updated)) {
		return Fail(ErrorKind::kInternal, "the table is not what the statements say");
	}
	return {};
}

// Both transactions have run their statement before either commits.
Status ShowClash(const std::string& lake) {
	const std::string where = " WHERE id = " + std::to_string(kClashRow);
	const std::string first_sql = "UPDATE orders SET status = 'shipped'" + where;
	const std::string second_sql = "UPDATE orders SET status = 'cancelled'" + where;
	std::printf("\nA true clash: two processes change the same row, both inside BEGIN ... COMMIT.\n");
	SessionProcess first;
	SessionProcess second;
	for (SessionProcess* session : {&first, &second}) {
		BRAID_TRY(session->Start(lake));
		const auto ready = session->Wait(kPatienceMs);
		if (!ready || !ready->ok) return Fail(ErrorKind::kIo, ready ? ready->error : "a process does not start");
	}
	std::vector<std::pair<SessionProcess*, std::string>> steps = {
		{&first, "BEGIN"}, {&second, "BEGIN"}, {&first, first_sql}, {&second, second_sql}, {&first, "COMMIT"}};
	for (const auto& [session, statement] : steps) {
		const Answer answer = session->Run(statement);
		if (!answer.ok) return Fail(ErrorKind::kInternal, statement + ": " + answer.error);
	}
	std::printf("\n  process A: %s\n             COMMIT -> done\n", first_sql.c_str());
	const Answer refused = second.Run("COMMIT");
	std::printf("  process B: %s\n             COMMIT -> %s\n\n%s\n", second_sql.c_str(),
				refused.ok ? "done" : "refused:", Wrapped(refused.error, "    ").c_str());
	const bool explained = refused.error.find("[DELTA_CONCURRENT") != std::string::npos &&
						   refused.error.find("SQLSTATE: 2D521") != std::string::npos;
	if (refused.ok || !explained) return Fail(ErrorKind::kInternal, "the clash was not refused with SQLSTATE 2D521");
	return {};
}

Status CheckClash(Database& database) {
	BRAID_TRY(
		const QueryResult query,
		database.Run("SELECT status, count(*) FROM orders WHERE id = " + std::to_string(kClashRow) + " GROUP BY ALL"));
	if (query.rows != std::vector<Row> {{"shipped", "1"}}) {
		return Fail(ErrorKind::kInternal, "the row of the clash is not as process A left it");
	}
	return {};
}

Status RunDemo(const std::vector<std::string>& arguments) {
	BRAID_TRY(const std::string lake, DemoFolder(arguments));
	const std::vector<PlannedStatement> plan = PlanDemo();
	Database database;
	BRAID_TRY(database.Open(lake, 2));
	std::printf("A Delta table of %lld rows in one file: %s/orders\n", static_cast<long long>(kDemoRows), lake.c_str());
	BRAID_TRY(database.Run(CreateDemoTable()));
	std::printf("%d processes update, delete and merge different rows of that file, %d statements each.\n",
				kDemoProcesses, kDemoStatements);
	double seconds = 0;
	BRAID_TRY(auto results, RunProcesses(lake, plan, seconds));
	BRAID_TRY(const LogAccount log, ReadLog(database, lake + "/orders", results));
	PrintResults(results, log, seconds);
	BRAID_TRY(CheckAgainstPlan(database, plan));
	for (const ProcessResult& result : results) {
		if (result.first_try != kDemoStatements) return Fail(ErrorKind::kInternal, "a statement failed");
	}
	if (log.first_files != 1) return Fail(ErrorKind::kInternal, "the table was not made as one file");
	if (log.rebased == 0) return Fail(ErrorKind::kInternal, "no two transactions overlapped: nothing was shown");
	BRAID_TRY(ShowClash(lake));
	BRAID_TRY(CheckClash(database));
	const fs::path braid = ProgramFolder() / "braid";
	std::printf("Open the same table:\n  %s %s -c \"SELECT status, count(*) FROM orders GROUP BY ALL\"\n",
				QuoteShell(fs::proximate(braid)).c_str(), QuoteShell(lake).c_str());
	return {};
}

}  // namespace

}  // namespace braid::cli

int main(int argc, char** argv) {
	const std::vector<std::string> arguments(argv + 1, argv + argc);
	std::signal(SIGPIPE, SIG_IGN);  // a session that died is reported, not fatal
	if (arguments.size() == 2 && arguments[0] == "--session") return braid::cli::ServeSession(arguments[1]);
	if (arguments.size() > 1 || (arguments.size() == 1 && arguments[0].starts_with("-"))) {
		std::cerr << "usage: braid demo [DIR]\n";
		return 1;
	}
	if (const auto done = braid::cli::RunDemo(arguments); !done) {
		std::cerr << "braid demo: " << done.error().message << "\n";
		return 1;
	}
	return 0;
}
