// SPDX-License-Identifier: Apache-2.0
// Clock and randomness come from outside, so that a simulator can run the kernel a million times with the same outcome.
#pragma once

#include <cstdint>
#include <string>

namespace braid {

class Clock {
public:
	virtual ~Clock() = default;
	virtual int64_t NowMs() = 0;                     // wall clock, milliseconds since the epoch (UTC)
	virtual int64_t MonotonicMs() = 0;               // for budgets and deadlines
	virtual void SleepMs(int64_t milliseconds) = 0;  // back-off after a lost race
};

class Random {
public:
	virtual ~Random() = default;
	virtual uint64_t Next() = 0;
};

// A random (version 4) UUID, lower case with dashes.
std::string NewUuid(Random& random);

// The process's own clock and a randomly seeded generator; safe to use from several threads.
Clock& SystemClock();
Random& SystemRandom();

}  // namespace braid
