// SPDX-License-Identifier: Apache-2.0
// A DuckDB in a process of its own that runs the statements it is sent, one after another, and answers each with one line.
// The child ends when its standard input ends, so that it never outlives the program that started it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace braid::cli {

struct Answer {
	bool ok = false;
	int64_t rows_changed = 0;
	std::string error;
	bool session_ended = false;
};

class SessionProcess {
public:
	SessionProcess() = default;
	SessionProcess(const SessionProcess&) = delete;
	SessionProcess& operator=(const SessionProcess&) = delete;
	~SessionProcess();

	// Starts the child; its first answer says whether the lake could be attached.
	[[nodiscard]] Status Start(const std::string& lake);
	[[nodiscard]] Status Send(const std::string& statement);
	// Waits for the next answer, at most timeout_ms; nothing on a timeout. A child that died is an answer with an error.
	std::optional<Answer> Wait(int timeout_ms);
	// Sends and waits.
	Answer Run(const std::string& statement);
	int descriptor() const { return from_child_; }

private:
	std::optional<Answer> Take();

	pid_t child_ = -1;
	int to_child_ = -1;
	int from_child_ = -1;
	std::string received_;
};

// The child's side: `--session LAKE`. Returns its exit status.
int ServeSession(const std::string& lake);

}  // namespace braid::cli
