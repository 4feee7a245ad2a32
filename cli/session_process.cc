// SPDX-License-Identifier: Apache-2.0
// A DuckDB in a process of its own. An answer is one line: the word ok or error, the rows changed, the message; line breaks
// in messages travel as the byte 0x1f.
#include "cli/session_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "cli/database.h"
#include "cli/launcher.h"

namespace braid::cli {

namespace {

constexpr char kLineBreak = '\x1f';
constexpr int kPatienceMs = 120'000;  // far above any statement of the demo: a hang must end in an error

void PrintAnswer(const Answer& answer) {
	std::string error = answer.error;
	std::replace(error.begin(), error.end(), '\n', kLineBreak);
	std::cout << (answer.ok ? "ok" : "error") << ' ' << answer.rows_changed << ' ' << error << std::endl;
}

Answer ParseAnswer(const std::string& line) {
	const size_t first = line.find(' ');
	const size_t second = line.find(' ', first + 1);
	if (second == std::string::npos) return {false, 0, "a session answered: " + line};
	Answer answer;
	answer.ok = line.substr(0, first) == "ok";
	answer.rows_changed = std::strtoll(line.c_str() + first, nullptr, 10);
	answer.error = line.substr(second + 1);
	std::replace(answer.error.begin(), answer.error.end(), kLineBreak, '\n');
	return answer;
}

}  // namespace

int ServeSession(const std::string& lake) {
	Database database;
	const auto opened = database.Open(lake, 1);
	PrintAnswer({opened.has_value(), 0, opened ? "" : opened.error().message});
	if (!opened) return 1;
	for (std::string statement; std::getline(std::cin, statement);) {
		const auto done = database.Run(statement);
		PrintAnswer(done ? Answer {true, done->rows_changed, ""} : Answer {false, 0, done.error().message});
	}
	return 0;
}

SessionProcess::~SessionProcess() {
	if (to_child_ >= 0) close(to_child_);
	if (from_child_ >= 0) close(from_child_);
	if (child_ > 0) waitpid(child_, nullptr, 0);
}

Status SessionProcess::Start(const std::string& lake) {
	int input[2];
	int output[2];
	// Close-on-exec: a sibling that inherited our end of the pipe would keep this child alive.
	if (pipe2(input, O_CLOEXEC) != 0) return Fail(ErrorKind::kIo, std::strerror(errno));
	if (pipe2(output, O_CLOEXEC) != 0) return Fail(ErrorKind::kIo, std::strerror(errno));
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
	std::string program = "/proc/self/exe";
	std::string mode = "--session";
	std::string folder = lake;
	char* arguments[] = {program.data(), mode.data(), folder.data(), nullptr};
	const int failure = posix_spawn(&child_, program.c_str(), &actions, nullptr, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(input[0]);
	close(output[1]);
	to_child_ = input[1];
	from_child_ = output[0];
	if (failure != 0) return Fail(ErrorKind::kIo, std::string("cannot start a session: ") + std::strerror(failure));
	return {};
}

Status SessionProcess::Send(const std::string& statement) {
	const std::string line = statement + "\n";
	for (size_t written = 0; written < line.size();) {
		const ssize_t count = write(to_child_, line.data() + written, line.size() - written);
		if (count < 0 && errno == EINTR) continue;
		if (count < 0) return Fail(ErrorKind::kIo, std::string("a session is gone: ") + std::strerror(errno));
		written += static_cast<size_t>(count);
	}
	return {};
}

std::optional<Answer> SessionProcess::Take() {
	const size_t end = received_.find('\n');
	if (end == std::string::npos) return std::nullopt;
	const std::string line = received_.substr(0, end);
	received_.erase(0, end + 1);
	return ParseAnswer(line);
}

std::optional<Answer> SessionProcess::Wait(int timeout_ms) {
	for (;;) {
		if (auto answer = Take()) return answer;
		pollfd waiting {from_child_, POLLIN, 0};
		const int ready = poll(&waiting, 1, timeout_ms);
		if (ready < 0 && errno == EINTR) continue;
		if (ready == 0) return std::nullopt;
		char buffer[4096];
		const ssize_t count = read(from_child_, buffer, sizeof buffer);
		if (count < 0 && errno == EINTR) continue;
		if (count <= 0) return Answer {false, 0, "the process ended before it answered", true};
		received_.append(buffer, static_cast<size_t>(count));
	}
}

Answer SessionProcess::Run(const std::string& statement) {
	if (const auto sent = Send(statement); !sent) return {false, 0, sent.error().message};
	return Wait(kPatienceMs).value_or(Answer {false, 0, "no answer to: " + statement});
}

}  // namespace braid::cli
