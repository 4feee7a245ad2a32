// SPDX-License-Identifier: Apache-2.0
// Sieve: a set of hashes that says "surely not there" of nearly every one that is not. For looking up millions of rows where few are wanted: one bit
// is read for each, instead of a path through a map.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace braid {

class Sieve {
public:
	explicit Sieve(size_t expected) {
		const size_t bits = std::bit_ceil(std::max<size_t>(expected, 64) * kBitsForEach);
		shift_ = 64 - std::countr_zero(bits);
		words_.resize(bits / 64);
	}
	void Add(uint64_t hash) {
		const uint64_t bit = Bit(hash);
		words_[bit / 64] |= uint64_t {1} << bit % 64;
	}
	bool MayHold(uint64_t hash) const {
		const uint64_t bit = Bit(hash);
		return words_[bit / 64] >> bit % 64 & 1;
	}

private:
	static constexpr size_t kBitsForEach = 16;

	// Neighbouring numbers are spread out (Fibonacci hashing).
	uint64_t Bit(uint64_t hash) const { return hash * 0x9E3779B97F4A7C15 >> shift_; }

	int shift_;
	std::vector<uint64_t> words_;
};

}  // namespace braid
