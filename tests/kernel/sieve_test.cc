// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/sieve.h"

#include <gtest/gtest.h>

namespace braid {

TEST(Sieve, KeepsWhatWasAddedAndHoldsBackMostOfTheRest) {
	for (const size_t count : {0, 1, 100, 10'000}) {
		Sieve sieve(count);
		for (size_t i = 0; i < count; i++) sieve.Add(i * 1000);
		for (size_t i = 0; i < count; i++) EXPECT_TRUE(sieve.MayHold(i * 1000)) << i;
		size_t passed = 0;
		for (size_t i = 0; i < 100'000; i++) passed += i % 1000 != 0 && sieve.MayHold(i + 17'000'000'001);
		EXPECT_LT(passed, 15'000) << count;
	}
}

}  // namespace braid
