// SPDX-License-Identifier: Apache-2.0
// Random schedules against the oracle. BRAID_SCHEDULES sets how many (by default 30 000, fewer under sanitizers), BRAID_FIRST_SEED where to begin. A
// schedule that fails is made smaller and told in words.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/kernel/sim_oracle.h"

namespace braid::sim {
namespace {

int64_t Number(const char* variable, int64_t by_default) {
	const char* text = std::getenv(variable);
	return text ? std::atoll(text) : by_default;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int64_t kSchedules = 1'000;
#else
constexpr int64_t kSchedules = 30'000;
#endif

struct Tally {
	int64_t schedules = 0, transactions = 0, committed = 0, after_lost_races = 0, repaired = 0, nothing = 0;
	int64_t refused = 0, by_file = 0, equal_rows = 0, needless = 0, unknown = 0, crashed = 0, failed = 0,
			violations = 0;
	int64_t maps_read = 0;

	void Count(const Schedule& schedule, History& history) {
		maps_read += history.maps_read;
		for (size_t i = 0; i < history.endings.size(); i++) {
			const Ending& ending = history.endings[i];
			transactions++;
			committed += ending.end == End::kCommitted;
			after_lost_races += ending.end == End::kCommitted && ending.attempts > 1;
			repaired += ending.rows_repaired > 0;
			nothing += ending.end == End::kNothingToDo;
			unknown += ending.end == End::kUnknown;
			crashed += ending.end == End::kCrashed;
			failed += ending.end == End::kFailed;
			if (ending.end == End::kRefused) CountRefusal(schedule, history, i);
		}
	}

	void CountRefusal(const Schedule& schedule, History& history, size_t transaction) {
		refused++;
		const Reason reason = WhyRefused(schedule, history, transaction);
		by_file += reason == Reason::kByFile;
		equal_rows += reason == Reason::kEqualRows;
		needless += reason == Reason::kNeedless;
		if (reason == Reason::kNeedless && std::getenv("BRAID_SHOW_NEEDLESS")) {
			std::printf("needless, T%zu of %s\n", transaction + 1, schedule.Text().c_str());
			for (const std::string& event : history.events) std::printf("  %s\n", event.c_str());
		}
	}

	// A row of the table in docs/simulator_run.md.
	void Print(const char* name, const Shape& shape, int64_t first) const {
		static bool headed = false;
		if (!headed) {
			std::puts(
				"| workload | level | mode | seeds | schedules | transactions | committed | after lost races | "
				"repaired "
				"| nothing to do | refused | by file | equal rows | needless | unknown | crashed | failed | violations "
				"|\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
			headed = true;
		}
		const char* mode = shape.mixed                              ? "mixed"
						   : shape.mode == ConcurrencyMode::kSound  ? "sound"
						   : shape.mode == ConcurrencyMode::kStrict ? "strict"
																	: "max";
		std::printf("| %s | %s | %s | %lld-%lld |", name, shape.level.c_str(), mode, static_cast<long long>(first),
					static_cast<long long>(first + schedules - 1));
		for (const int64_t number : {schedules, transactions, committed, after_lost_races, repaired, nothing, refused,
									 by_file, equal_rows, needless, unknown, crashed, failed, violations})
			std::printf(" %lld |", static_cast<long long>(number));
		std::puts("");
		std::fflush(stdout);
	}
};

std::string Report(const Schedule& schedule) {
	const Schedule small = Shrink(schedule, [](const Schedule& candidate) {
		const auto history = Play(candidate);
		return Violation(candidate, *history).has_value();
	});
	const auto history = Play(small);
	std::string text = Violation(small, *history).value_or("?") + "\n" + small.Text() + "\n";
	for (const std::string& event : history->events) text += "  " + event + "\n";
	return text;
}

constexpr int64_t kWorkloads = 12;

// Its share of the schedules of a run.
void Simulate(const char* name, const Shape& shape) {
	Tally tally;
	const int64_t count = std::max<int64_t>(Number("BRAID_SCHEDULES", kSchedules) / kWorkloads, 1);
	const int64_t first = Number("BRAID_FIRST_SEED", 1);
	for (int64_t seed = first; seed < first + count && tally.violations == 0; seed++) {
		const Schedule schedule = Draw(static_cast<uint64_t>(seed), shape);
		const auto history = Play(schedule);
		tally.schedules++;
		tally.Count(schedule, *history);
		if (Violation(schedule, *history)) {
			tally.violations++;
			ADD_FAILURE() << name << ": " << Report(schedule);
		}
	}
	tally.Print(name, shape, first);
	if (count < 500 || tally.violations) return;                 // too few to say how often something happens
	if (!(shape.near && shape.mode == ConcurrencyMode::kMax)) {  // where every statement can be repaired
		EXPECT_GT(tally.refused, 0) << "schedules without conflicts prove nothing";
	}
	EXPECT_GT(tally.after_lost_races, 0);
	EXPECT_EQ(tally.maps_read > 0, !shape.near) << "rows that a rearrangement has moved are followed by its map";
	EXPECT_EQ(tally.repaired > 0, shape.mixed || shape.mode == ConcurrencyMode::kMax);
	if (!shape.mixed && shape.mode != ConcurrencyMode::kStrict) {
		EXPECT_LE(tally.needless * 100, tally.refused);
	}
}

constexpr const char* kS = "Serializable";
constexpr const char* kWS = "WriteSerializable";

TEST(Simulator, Serializable) { Simulate("any", {.transactions = 4, .level = kS}); }
TEST(Simulator, SerializableWithFaults) {
	Simulate("any, faults", {.transactions = 4, .level = kS, .faults = true, .foreign = true});
}
TEST(Simulator, SixTransactions) { Simulate("any, six", {.transactions = 6, .level = kS}); }
TEST(Simulator, WriteSerializable) { Simulate("any", {.transactions = 4, .level = kWS}); }
TEST(Simulator, WriteSerializableWithFaults) {
	Simulate("any, five, faults", {.transactions = 5, .level = kWS, .faults = true, .foreign = true});
}
TEST(Simulator, NearTheTraps) { Simulate("near the traps", {.transactions = 4, .level = kWS, .near = true}); }
TEST(Simulator, NearTheTrapsOfFive) {
	Simulate("near the traps, five", {.transactions = 5, .level = kWS, .near = true, .foreign = true});
}
TEST(Simulator, Strict) { Simulate("any", {.transactions = 4, .level = kWS, .mode = ConcurrencyMode::kStrict}); }
TEST(Simulator, StrictSerializableWithFaults) {
	Simulate("any, faults", {.transactions = 4, .level = kS, .faults = true, .mode = ConcurrencyMode::kStrict});
}
TEST(Simulator, Max) {
	Simulate("any, faults", {.transactions = 4, .level = kS, .faults = true, .mode = ConcurrencyMode::kMax});
}
TEST(Simulator, MaxNearTheTraps) {
	Simulate("near the traps, five", {.transactions = 5, .level = kWS, .near = true, .mode = ConcurrencyMode::kMax});
}
TEST(Simulator, MixedModes) {
	Simulate("any, five, faults", {.transactions = 5, .level = kWS, .faults = true, .foreign = true, .mixed = true});
}

}  // namespace
}  // namespace braid::sim
