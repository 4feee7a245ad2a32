// SPDX-License-Identifier: Apache-2.0
// Every call of every store operation during a commit fails once, before and after its effect: the table reads as before or as after, the
// answer fits, and nothing that nobody names stays behind.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernel/log/log_path.h"
#include "tests/kernel/memory_table.h"

namespace braid {
namespace {

Rows Many() {
	Rows rows;
	for (int64_t k = 0; k < 1000; k++) rows.push_back({k, k % 2, k % 3});
	return rows;
}

struct Attempt {
	MemoryTable table;
	Rows before, after;
	size_t winners = 0;
	Result<CommitOutcome> outcome = CommitOutcome {};

	// An UPDATE that meets a winner, which came between its snapshot and its commit; contested: and another one between its look at the log
	// and its put, so that its first vector is stale.
	explicit Attempt(const std::function<void(FaultyLogStore&)>& script, bool contested = false) {
		const SnapshotPtr base = table.Create({Many()}, {{"delta.checkpointInterval", "2"}});
		const Transaction update =
			table.Update(base, Predicate::And({Equals("x", 1), Equals("y", 1)}), [](Row& row) { row.y = 9; });
		EXPECT_TRUE(table.Commit(table.Delete(base, Equals("x", 0))));
		Expect();
		if (contested) {
			table.store.BeforeNth(StoreOperation::kPutIfAbsent, 1, [this, base] {
				EXPECT_TRUE(Commit({table.memory, table.parquet, table.probe, table.clock, table.random, {}, {}},
								   table.Delete(base, Predicate::And({Equals("x", 1), Equals("y", 2)}))));
				Expect();
			});
		}
		script(table.store);
		outcome = table.Commit(update);
	}

	void Expect() {
		before = after = table.LiveRows(*table.Latest());
		for (Row& row : after) row.y = row.y == 1 ? 9 : row.y;
		winners = static_cast<size_t>(table.Latest()->version);
	}

	size_t VectorFiles() {
		const auto paths = table.memory.Paths();
		return static_cast<size_t>(std::ranges::count_if(
			paths, [](const std::string& path) { return path.find("deletion_vector_") != std::string::npos; }));
	}
};

struct Fault {
	StoreOperation operation;
	FaultMoment moment;
	ErrorKind kind;
};

// Only a commit file's answer can be unknown, and a store that wrote one never says that it did not.
std::vector<Fault> Faults() {
	using enum StoreOperation;
	std::vector<Fault> faults = {{kPutIfAbsent, FaultMoment::kBefore, ErrorKind::kIo},
								 {kPutIfAbsent, FaultMoment::kBefore, ErrorKind::kNoSpace},
								 {kPutIfAbsent, FaultMoment::kBefore, ErrorKind::kOutcomeUnknown},
								 {kPutIfAbsent, FaultMoment::kAfter, ErrorKind::kOutcomeUnknown}};
	for (const auto operation : {kRead, kReadRange, kStat, kPut, kCreate, kMakeDurable, kMoveIfAbsent, kDelete}) {
		for (const auto moment : {FaultMoment::kBefore, FaultMoment::kAfter}) {
			faults.push_back({operation, moment, ErrorKind::kIo});
			faults.push_back({operation, moment, ErrorKind::kNoSpace});
		}
	}
	return faults;
}

class EveryFault : public testing::TestWithParam<Fault> {};
INSTANTIATE_TEST_SUITE_P(Operations, EveryFault, testing::ValuesIn(Faults()));

void FailOnce(const Fault& fault, int n, bool contested) {
	SCOPED_TRACE("call " + std::to_string(n) + (contested ? ", contested" : ""));
	Attempt attempt([&](FaultyLogStore& store) { store.FailNth(fault.operation, n, fault.kind, fault.moment); },
					contested);
	MemoryTable& table = attempt.table;
	const Rows now = table.LiveRows(*table.Latest());
	if (attempt.outcome) {
		EXPECT_EQ(now, attempt.after);
		EXPECT_EQ(attempt.outcome->version, static_cast<int64_t>(attempt.winners) + 1);
	} else {
		EXPECT_EQ(now, attempt.before) << attempt.outcome.error().message;
		EXPECT_NE(attempt.outcome.error().kind, ErrorKind::kOutcomeUnknown);
		const bool leaves_files =
			fault.operation == StoreOperation::kCreate || fault.operation == StoreOperation::kDelete;
		EXPECT_TRUE(leaves_files || attempt.VectorFiles() == attempt.winners) << "only the winners'";
	}
	for (const auto& [path, entries] : table.LiveEntries(table.Latest()->version)) EXPECT_LE(entries, 1) << path;
	// The next writer goes on.
	EXPECT_TRUE(table.Commit(table.Insert(table.Latest(), {{5000, 0, 0}})));
}

TEST_P(EveryFault, LeavesTheTableAsBeforeOrAfter) {
	const Fault& fault = GetParam();
	int all_calls = 0;
	for (const bool contested : {false, true}) {
		int calls_before = 0;
		Attempt clean([&](FaultyLogStore& store) { calls_before = store.Calls(fault.operation); }, contested);
		ASSERT_TRUE(clean.outcome) << clean.outcome.error().message;
		EXPECT_EQ(clean.outcome->attempts, contested ? 2 : 1);
		const int calls = clean.table.store.Calls(fault.operation) - calls_before;
		for (int n = 1; n <= calls; n++) FailOnce(fault, n, contested);
		all_calls += calls;
	}
	EXPECT_GT(all_calls, 0) << "this operation is not part of a commit";
}

TEST(UnknownOutcome, OwnCommitIsFoundByItsTransactionId) {
	Attempt attempt([](FaultyLogStore& store) {
		store.FailNth(StoreOperation::kPutIfAbsent, 1, ErrorKind::kOutcomeUnknown, FaultMoment::kAfter);
	});
	ASSERT_TRUE(attempt.outcome) << attempt.outcome.error().message;
	EXPECT_EQ(attempt.outcome->version, 2);
	EXPECT_EQ(attempt.table.CommitText(3), "") << "one commit only";
	EXPECT_EQ(attempt.table.LiveRows(*attempt.table.Latest()), attempt.after);
}

TEST(UnknownOutcome, NotWrittenIsTriedAgain) {
	Attempt attempt([](FaultyLogStore& store) {
		store.FailNth(StoreOperation::kPutIfAbsent, 1, ErrorKind::kOutcomeUnknown, FaultMoment::kBefore);
	});
	ASSERT_TRUE(attempt.outcome) << attempt.outcome.error().message;
	EXPECT_EQ(attempt.outcome->attempts, 2);
	EXPECT_EQ(attempt.table.LiveRows(*attempt.table.Latest()), attempt.after);
}

TEST(UnknownOutcome, SomebodyElsesCommitIsALostRace) {
	Attempt attempt([](FaultyLogStore&) {});
	MemoryTable& table = attempt.table;
	const SnapshotPtr base = table.Latest();
	const Transaction erase = table.Delete(base, Equals("k", 3));
	table.store.BeforeNth(StoreOperation::kPutIfAbsent, 1, [&] {
		EXPECT_TRUE(Commit({table.memory, table.parquet, table.probe, table.clock, table.random, {}, {}},
						   table.Insert(base, {{7000, 0, 0}})));
	});
	table.store.FailNth(StoreOperation::kPutIfAbsent, 1, ErrorKind::kOutcomeUnknown, FaultMoment::kAfter);
	const auto outcome = table.Commit(erase);
	ASSERT_TRUE(outcome) << outcome.error().message;
	EXPECT_EQ(outcome->version, base->version + 2);
}

// Nobody can read the version back: the answer says so, and the files that it may name stay.
TEST(UnknownOutcome, UnreadableVersionKeepsTheFiles) {
	Attempt attempt([](FaultyLogStore& store) {
		store.FailNth(StoreOperation::kPutIfAbsent, 1, ErrorKind::kOutcomeUnknown, FaultMoment::kAfter);
		store.FailNth(StoreOperation::kRead, 2, ErrorKind::kIo, FaultMoment::kBefore, CommitPath(2));
	});
	ASSERT_FALSE(attempt.outcome);
	EXPECT_EQ(attempt.outcome.error().kind, ErrorKind::kOutcomeUnknown);
	EXPECT_NE(attempt.outcome.error().message.find("txnId"), std::string::npos);
	EXPECT_EQ(attempt.VectorFiles(), 2u);
	EXPECT_EQ(attempt.table.LiveRows(*attempt.table.Latest()), attempt.after) << "it had been written";
}

// Written, but the store could not make it durable: that has to be made up for before anybody is told.
TEST(UnknownOutcome, FoundCommitIsMadeDurableFirst) {
	Attempt attempt([](FaultyLogStore& store) {
		store.FailNth(StoreOperation::kPutIfAbsent, 1, ErrorKind::kOutcomeUnknown, FaultMoment::kAfter);
		store.FailNth(StoreOperation::kMakeDurable, 1, ErrorKind::kIo, FaultMoment::kBefore, CommitPath(2));
	});
	ASSERT_FALSE(attempt.outcome);
	EXPECT_EQ(attempt.outcome.error().kind, ErrorKind::kOutcomeUnknown);
}

TEST(UnknownOutcome, GarbledWinnerIsAnErrorNotAGuess) {
	MemoryTable table;
	const SnapshotPtr base = table.Create({Many()});
	ASSERT_TRUE(table.memory.PutIfAbsent(CommitPath(1), "{\"add\":{\"path\":"));
	const auto outcome = table.Commit(table.Delete(base, Equals("k", 1)));
	ASSERT_FALSE(outcome);
	EXPECT_EQ(outcome.error().kind, ErrorKind::kCorrupt);
	EXPECT_EQ(table.CommitText(2), "");
}

}  // namespace
}  // namespace braid
