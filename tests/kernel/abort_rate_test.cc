// SPDX-License-Identifier: Apache-2.0
// How many transactions fail under the same load: judged by files, by rows, and with repair. The load is small tables and much contention: four
// statements at a time, on a handful of rows.
#include <gtest/gtest.h>

#include "tests/kernel/sim_oracle.h"

namespace braid::sim {
namespace {

constexpr int kHistories = 600;

// INSERT, INSERT ... SELECT, DELETE, UPDATE or MERGE.
Program OneStatement(Dice& dice) {
	for (;;) {
		Program program = AnyProgram(dice);
		if (program.statements.size() != 1 || program.statements[0].kind == Kind::kOverwrite) continue;
		program.copy_on_write = false;
		return program;
	}
}

// Of the transactions that have something to commit.
double PercentRefused(ConcurrencyMode mode, const char* level) {
	int transactions = 0, refused = 0;
	for (uint64_t seed = 1; seed <= kHistories; seed++) {
		Schedule schedule = Draw(seed, {.transactions = 4, .level = level});
		schedule.files = 1;
		schedule.partitioned = false;
		Dice dice(seed);
		for (Plan& plan : schedule.plans) {
			plan.program = OneStatement(dice);
			plan.mode = mode;
			plan.starts_after = 0;
			plan.by_file = mode == ConcurrencyMode::kStrict;
		}
		const auto history = Play(schedule);
		EXPECT_EQ(Violation(schedule, *history), std::nullopt) << schedule.Text();
		for (const Ending& ending : history->endings) {
			transactions += !ending.transaction->changes.empty();
			refused += ending.end == End::kRefused;
		}
	}
	return 100.0 * refused / transactions;
}

void Compare(const char* level) {
	const double by_file = PercentRefused(ConcurrencyMode::kStrict, level);
	const double by_row = PercentRefused(ConcurrencyMode::kSound, level);
	const double repaired = PercentRefused(ConcurrencyMode::kMax, level);
	std::printf("%s: %.1f %% refused by file, %.1f %% by row, %.1f %% with repair\n", level, by_file, by_row, repaired);
	EXPECT_GT(by_file, 20);
	EXPECT_LT(by_row, by_file * 3 / 4);
	EXPECT_LT(repaired, 5);
}

TEST(AbortRate, Serializable) { Compare("Serializable"); }
TEST(AbortRate, WriteSerializable) { Compare("WriteSerializable"); }

}  // namespace
}  // namespace braid::sim
