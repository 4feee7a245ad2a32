// SPDX-License-Identifier: Apache-2.0
// The process's own clock and randomness. Randomness comes from the kernel at every call and is not buffered: a process
// that forks must not hand out the same file name twice.
#include "base/environment.h"

#include <sys/random.h>
#include <time.h>

#include "base/bytes.h"
#include "base/result.h"
#include "base/uuid.h"

namespace braid {
namespace {

constexpr int64_t kMsPerSecond = 1000;
constexpr int64_t kNsPerMs = 1'000'000;

int64_t ReadClockMs(clockid_t clock) {
	timespec now {};
	BRAID_CHECK(clock_gettime(clock, &now) == 0);
	return now.tv_sec * kMsPerSecond + now.tv_nsec / kNsPerMs;
}

class ProcessClock final : public Clock {
public:
	int64_t NowMs() override { return ReadClockMs(CLOCK_REALTIME); }
	int64_t MonotonicMs() override { return ReadClockMs(CLOCK_MONOTONIC); }
	void SleepMs(int64_t milliseconds) override {
		if (milliseconds <= 0) return;
		timespec left {milliseconds / kMsPerSecond, milliseconds % kMsPerSecond * kNsPerMs};
		nanosleep(&left, nullptr);  // a signal ends the pause early, which is right for a back-off
	}
};

class ProcessRandom final : public Random {
public:
	uint64_t Next() override {
		uint64_t value = 0;
		BRAID_CHECK(getrandom(&value, sizeof(value), 0) == sizeof(value));
		return value;
	}
};

}  // namespace

std::string NewUuid(Random& random) {
	constexpr uint64_t kVersion4 = 0x4000;
	constexpr uint64_t kVariant = uint64_t {1} << 63;
	std::string bytes;
	AppendBigEndian(bytes, (random.Next() & ~uint64_t {0xF000}) | kVersion4);
	AppendBigEndian(bytes, (random.Next() & ~(uint64_t {3} << 62)) | kVariant);
	return UuidText(bytes);
}

Clock& SystemClock() {
	static ProcessClock clock;
	return clock;
}

Random& SystemRandom() {
	static ProcessRandom random;
	return random;
}

}  // namespace braid
