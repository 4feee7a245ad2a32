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
	int64_t committed = 0, after_lost_races = 0, repaired = 0, nothing = 0, unknown = 0, crashed = 0, failed = 0;
	int64_t refused = 0, by_file = 0, equal_rows = 0, needless = 0;

	void Count(const Schedule& schedule, History& history) {
		for (size_t i = 0; i < history.endings.size(); i++) {
			const Ending& ending = history.endings[i];
			committed += ending.end == End::kCommitted;
			after_lost_races += ending.end == End::kCommitted && ending.attempts > 1;
			repaired += ending.rows_repaired > 0;
			nothing += ending.end == End::kNothingToDo;
			unknown += ending.end == End::kUnknown;
			crashed += ending.end == End::kCrashed;
			failed += ending.end == End::kFailed;
			if (ending.end != End::kRefused) continue;
			refused++;
			const Reason reason = WhyRefused(schedule, history, i);
			by_file += reason == Reason::kByFile;
			equal_rows += reason == Reason::kEqualRows;
			needless += reason == Reason::kNeedless;
			if (reason == Reason::kNeedless && std::getenv("BRAID_SHOW_NEEDLESS")) {
				std::printf("needless, T%zu of %s\n", i + 1, schedule.Text().c_str());
				for (const std::string& event : history.events) std::printf("  %s\n", event.c_str());
			}
		}
	}
};

std::string Report(const Schedule& schedule) {
	const Schedule small = Shrink(schedule);
	const auto history = Play(small);
	std::string text = Violation(small, *history).value_or("?") + "\n" + small.Text() + "\n";
	for (const std::string& event : history->events) text += "  " + event + "\n";
	return text;
}

// A tenth of the schedules of a run.
void Simulate(const char* name, const Shape& shape) {
	Tally tally;
	const int64_t count = std::max<int64_t>(Number("BRAID_SCHEDULES", kSchedules) / 10, 1);
	const int64_t first = Number("BRAID_FIRST_SEED", 1);
	for (int64_t seed = first; seed < first + count; seed++) {
		const Schedule schedule = Draw(static_cast<uint64_t>(seed), shape);
		const auto history = Play(schedule);
		if (Violation(schedule, *history)) {
			FAIL() << name << ": " << Report(schedule);
		}
		tally.Count(schedule, *history);
	}
	std::printf(
		"%s: %lld schedules, %lld committed (%lld after lost races), %lld repaired, %lld had nothing to do, %lld "
		"refused (%lld by "
		"file, %lld over equal rows, %lld needlessly), "
		"%lld unknown, %lld crashed, %lld failed\n",
		name, static_cast<long long>(count), static_cast<long long>(tally.committed),
		static_cast<long long>(tally.after_lost_races), static_cast<long long>(tally.repaired),
		static_cast<long long>(tally.nothing), static_cast<long long>(tally.refused),
		static_cast<long long>(tally.by_file), static_cast<long long>(tally.equal_rows),
		static_cast<long long>(tally.needless), static_cast<long long>(tally.unknown),
		static_cast<long long>(tally.crashed), static_cast<long long>(tally.failed));
	if (count < 500) return;  // too few to say how often something happens
	EXPECT_GT(tally.refused, 0) << "schedules without conflicts prove nothing";
	EXPECT_GT(tally.after_lost_races, 0);
	EXPECT_EQ(tally.repaired > 0, shape.mode == ConcurrencyMode::kMax);
	if (shape.mode == ConcurrencyMode::kSound) {
		EXPECT_LE(tally.needless * 100, tally.refused);
	}
}

constexpr const char* kS = "Serializable";
constexpr const char* kWS = "WriteSerializable";

TEST(Simulator, Serializable) { Simulate("S", {.transactions = 4, .level = kS}); }
TEST(Simulator, SerializableWithFaults) {
	Simulate("S, faults", {.transactions = 4, .level = kS, .faults = true, .foreign = true});
}
TEST(Simulator, WriteSerializable) { Simulate("WS", {.transactions = 4, .level = kWS}); }
TEST(Simulator, WriteSerializableWithFaults) {
	Simulate("WS, faults", {.transactions = 5, .level = kWS, .faults = true, .foreign = true});
}
TEST(Simulator, NearTheTraps) { Simulate("WS, near", {.transactions = 4, .level = kWS, .near = true}); }
TEST(Simulator, NearTheTrapsOfFive) {
	Simulate("WS, near, five", {.transactions = 5, .level = kWS, .near = true, .foreign = true});
}
TEST(Simulator, Strict) { Simulate("WS, strict", {.transactions = 4, .level = kWS, .mode = ConcurrencyMode::kStrict}); }
TEST(Simulator, SixTransactions) { Simulate("S, six", {.transactions = 6, .level = kS}); }

TEST(Simulator, Max) {
	Simulate("S, max", {.transactions = 4, .level = kS, .faults = true, .mode = ConcurrencyMode::kMax});
}
TEST(Simulator, MaxNearTheTraps) {
	Simulate("WS, max, near", {.transactions = 5, .level = kWS, .near = true, .mode = ConcurrencyMode::kMax});
}

}  // namespace
}  // namespace braid::sim
