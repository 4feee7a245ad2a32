// SPDX-License-Identifier: Apache-2.0
// A schedule: everything that one simulated history depends on, as data, so that it can be told, repeated and made smaller. Playing it runs the committer
// under test for every transaction as a step machine over one log in memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/kernel/sim_statement.h"

namespace braid::sim {

enum class Fault {
	kNone,
	kCrash,       // from now on the writer does nothing
	kLostAnswer,  // the commit file is written, the answer is "unknown"
	kNotDone,     // it is not written, the answer is "unknown"
	kDelayed,     // the answer is "unknown", it is written later if nobody else was faster
	kTwice,       // it is sent twice and written once: the store does not know which of both answers counts
	kIoError,
};
struct PlannedFault {
	size_t transaction;
	int operation;  // the n-th of this transaction on the store; for those that concern a commit file, the n-th put
	Fault fault;
};

// What others find of the map of a rearrangement (kernel/txn/row_map.h). It is only a hint.
enum class Maps { kThere, kGone, kDamaged };

struct Plan {
	Program program;
	ConcurrencyMode mode = ConcurrencyMode::kSound;
	size_t starts_after = 0;  // so many others have ended
	bool foreign = false;     // does not record what it read, nor name a map
	bool by_file = false;     // mode strict: as before row-level concurrency
	uint64_t seed = 0;        // of its choices, e.g. which files it rearranges
};

struct Schedule {
	uint64_t seed = 0;
	std::string level = "Serializable";
	Rows start;
	size_t files = 1;
	bool partitioned = false, row_tracking = false;
	Maps maps = Maps::kThere;
	std::vector<Plan> plans;
	std::vector<PlannedFault> faults;
	std::vector<uint8_t> choices;  // who makes the next step

	std::string Text() const;
};

enum class End { kCommitted, kNothingToDo, kRefused, kUnknown, kFailed, kCrashed };

struct Ending {
	End end = End::kFailed;
	int64_t base = -1, version = -1;  // version: committed as, or that it would have been next
	std::optional<ConflictReport> report;
	std::string message;
	std::shared_ptr<const Transaction> transaction;
	int attempts = 0;
	int64_t rows_repaired = 0;
};

// What a schedule has led to.
struct History {
	explicit History(const Schedule& schedule);
	MemoryTable table;
	std::vector<Ending> endings;      // by plan
	std::vector<std::string> events;  // in words
	int maps_read = 0;                // whole ones, of others
};
std::unique_ptr<History> Play(const Schedule& schedule);

struct Shape {
	size_t transactions = 4;
	std::string level = "Serializable";
	bool near = false;    // around the traps of WriteSerializable
	bool faults = false;  // lost answers, crashes
	bool foreign = false;
	ConcurrencyMode mode = ConcurrencyMode::kSound;
	bool mixed = false;  // each transaction has a mode of its own
};
Schedule Draw(uint64_t seed, const Shape& shape);

}  // namespace braid::sim
