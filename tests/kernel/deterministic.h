// SPDX-License-Identifier: Apache-2.0
// A clock that only moves when told and a generator with a seed: the environment of reproducible tests.
#pragma once

#include <atomic>
#include <random>

#include "base/environment.h"

namespace braid {

class ManualClock final : public Clock {
public:
	explicit ManualClock(int64_t start_ms = 1'700'000'000'000) : now_ms_(start_ms) {}
	int64_t NowMs() override { return now_ms_; }
	int64_t MonotonicMs() override { return now_ms_; }
	void SleepMs(int64_t milliseconds) override { now_ms_ += milliseconds; }

private:
	std::atomic<int64_t> now_ms_;
};

class SeededRandom final : public Random {
public:
	explicit SeededRandom(uint64_t seed) : engine_(seed) {}
	uint64_t Next() override { return engine_(); }

private:
	std::mt19937_64 engine_;
};

}  // namespace braid
