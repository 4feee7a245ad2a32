// SPDX-License-Identifier: Apache-2.0
// What schedules are made of: everything that the simulator is to cover is drawn, and a schedule that is wrong becomes small and can be told in words.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/kernel/sim_oracle.h"

namespace braid::sim {
namespace {

constexpr int kSeeds = 500;

const Shape kEverything {
	.transactions = 5, .level = "WriteSerializable", .faults = true, .foreign = true, .mixed = true};

void CountStatement(const Statement& statement, std::map<std::string, int>& seen) {
	static constexpr const char* kNames[] = {"insert", "delete", "update", "merge", "insert-select", "overwrite"};
	seen[kNames[static_cast<int>(statement.kind)]]++;
	seen["a condition that bounds cannot tell"] += statement.exact_needed;
	if (statement.kind != Kind::kMerge) return;
	using Then = Statement::Then;
	seen["merge: matched update"] += statement.matched == Then::kUpdate;
	seen["merge: matched delete"] += statement.matched == Then::kDelete;
	seen["merge: not matched"] += statement.inserts;
	seen["merge: by source update"] += statement.by_source == Then::kUpdate;
	seen["merge: by source delete"] += statement.by_source == Then::kDelete;
	seen["merge that only inserts"] += statement.matched == Then::kNothing && statement.inserts;
}

void CountProgram(const Program& program, std::map<std::string, int>& seen) {
	for (const Statement& statement : program.statements) CountStatement(statement, seen);
	seen["several statements"] += program.statements.size() > 1;
	seen["copy-on-write"] += program.copy_on_write;
	seen["optimize"] += program.rearranges;
	seen["a false optimize"] += program.lies;
	seen["level raised"] += program.raises_level;
	seen["property changed"] += program.adopts;
}

std::map<std::string, int> CountEverything() {
	std::map<std::string, int> seen;
	for (uint64_t seed = 1; seed <= kSeeds; seed++) {
		const Schedule schedule = Draw(seed, kEverything);
		(schedule.partitioned ? seen["partitions"] : seen["no partitions"])++;
		(schedule.row_tracking ? seen["row ids"] : seen["no row ids"])++;
		seen["several files"] += schedule.files > 1;
		seen["a row without key"] += std::ranges::any_of(schedule.start, [](const Row& row) { return !row.k; });
		for (const Plan& plan : schedule.plans) {
			CountProgram(plan.program, seen);
			seen["foreign writer"] += plan.foreign;
			seen["late start"] += plan.starts_after > 0;
			static constexpr const char* kModes[] = {"strict", "sound", "max"};
			seen[kModes[static_cast<int>(plan.mode)]]++;
		}
		static constexpr const char* kFaults[] = {"",        "crash", "lost answer", "not done",
												  "delayed", "twice", "I/O error"};
		for (const PlannedFault& fault : schedule.faults) seen[kFaults[static_cast<int>(fault.fault)]]++;
	}
	return seen;
}

TEST(SimulatorSchedules, HaveEverything) {
	const auto seen = CountEverything();
	EXPECT_EQ(seen.size(), 36U);
	for (const auto& [what, times] : seen) EXPECT_GE(times, 10) << what << " is too rare in " << kSeeds << " schedules";
}

// "Wrong" is that a DELETE is planned beside a rearrangement, and the row (k = 4, ...) is there.
bool Wrong(const Schedule& schedule) {
	const auto has = [&](auto test) {
		return std::ranges::any_of(schedule.plans, [&](const Plan& plan) { return test(plan.program); });
	};
	return has([](const Program& program) { return program.rearranges; }) && has([](const Program& program) {
			   return std::ranges::any_of(program.statements,
										  [](const Statement& statement) { return statement.kind == Kind::kDelete; });
		   }) &&
		   std::ranges::any_of(schedule.start, [](const Row& row) { return row.k == 4; });
}

TEST(SimulatorSchedules, ShrinkToWhatMatters) {
	int shrunk = 0;
	for (uint64_t seed = 1; seed <= kSeeds; seed++) {
		const Schedule schedule = Draw(seed, kEverything);
		if (!Wrong(schedule)) continue;
		const Schedule small = Shrink(schedule, Wrong);
		shrunk++;
		ASSERT_TRUE(Wrong(small));
		EXPECT_EQ(small.plans.size(), 2U);
		EXPECT_EQ(small.faults.size(), 0U);
		EXPECT_EQ(small.start.size(), 1U);
		for (const Plan& plan : small.plans) EXPECT_LE(plan.program.statements.size(), 1U);
		EXPECT_NE(small.Text().find("rows (k, x, y): (4, "), std::string::npos) << small.Text();
		EXPECT_NE(small.Text().find(": DELETE WHERE "), std::string::npos) << small.Text();
		EXPECT_NE(small.Text().find("OPTIMIZE"), std::string::npos) << small.Text();
	}
	EXPECT_GT(shrunk, 10);
}

}  // namespace
}  // namespace braid::sim
