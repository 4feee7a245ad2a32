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
	Result<CommitOutcome> outcome = CommitOutcome {};

	// An UPDATE that meets one winner, which came between its snapshot and its commit.
	explicit Attempt(const std::function<void(FaultyLogStore&)>& script) {
		const SnapshotPtr base = table.Create({Many()});
		const Transaction update =
			table.Update(base, Predicate::And({Equals("x", 1), Equals("y", 1)}), [](Row& row) { row.y = 9; });
		EXPECT_TRUE(table.Commit(table.Delete(base, Equals("x", 0))));
		before = table.LiveRows(*table.Latest());
		after = before;
		for (Row& row : after) row.y = row.y == 1 ? 9 : row.y;
		script(table.store);
		outcome = table.Commit(update);
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
	for (const auto operation :
		 {kList, kRead, kReadRange, kReadBlocks, kStat, kPut, kCreate, kMakeDurable, kMoveIfAbsent, kDelete}) {
		for (const auto moment : {FaultMoment::kBefore, FaultMoment::kAfter}) {
			faults.push_back({operation, moment, ErrorKind::kIo});
			faults.push_back({operation, moment, ErrorKind::kNoSpace});
		}
	}
	return faults;
}

class EveryFault : public testing::TestWithParam<Fault> {};
INSTANTIATE_TEST_SUITE_P(Operations, EveryFault, testing::ValuesIn(Faults()));

TEST_P(EveryFault, LeavesTheTableAsBeforeOrAfter) {
	const auto [operation, moment, kind] = GetParam();
	int calls_before = 0;
	Attempt clean([&](FaultyLogStore& store) { calls_before = store.Calls(operation); });
	ASSERT_TRUE(clean.outcome) << clean.outcome.error().message;
	const int calls = clean.table.store.Calls(operation) - calls_before;
	for (int n = 1; n <= calls; n++) {
		SCOPED_TRACE("call " + std::to_string(n));
		Attempt attempt([&](FaultyLogStore& store) { store.FailNth(operation, n, kind, moment); });
		EXPECT_TRUE(attempt.table.store.AllFired());
		const Rows now = attempt.table.LiveRows(*attempt.table.Latest());
		if (attempt.outcome) {
			EXPECT_EQ(now, attempt.after);
			EXPECT_EQ(attempt.outcome->version, 2);
		} else {
			EXPECT_EQ(now, attempt.before) << attempt.outcome.error().message;
			EXPECT_NE(attempt.outcome.error().kind, ErrorKind::kOutcomeUnknown);
			if (operation != StoreOperation::kCreate) {
				EXPECT_EQ(attempt.VectorFiles(), 1u) << "only the winner's";
			}
		}
		for (const auto& [path, entries] : attempt.table.LiveEntries(2)) EXPECT_LE(entries, 1) << path;
		// The next writer goes on.
		EXPECT_TRUE(attempt.table.Commit(attempt.table.Insert(attempt.table.Latest(), {{5000, 0, 0}})));
	}
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
