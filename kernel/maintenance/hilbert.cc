// SPDX-License-Identifier: Apache-2.0
// The number of dimensions is known to the compiler, so that coordinates stay in registers: this runs once for each row.
#include "kernel/maintenance/hilbert.h"

#include <algorithm>
#include <array>

namespace braid {
namespace {

// From coordinates to the "transpose" of the index: its bits dealt out to the axes, the highest one to the first.
template <size_t kDimensions>
void ToTranspose(std::array<uint32_t, kDimensions>& x, int bits) {
	for (uint32_t q = 1U << (bits - 1); q > 1; q >>= 1) {
		const uint32_t low = q - 1;
#pragma GCC unroll 4
		for (uint32_t& axis : x) {
			// The bit is as good as random, so there is no branch on it.
			const uint32_t set = axis & q ? ~0U : 0;
			const uint32_t swapped = (x[0] ^ axis) & low & ~set;
			x[0] ^= (low & set) ^ swapped;  // inverted, or exchanged
			axis ^= swapped;
		}
	}
	for (size_t i = 1; i < kDimensions; i++) x[i] ^= x[i - 1];  // Gray code
	uint32_t flip = 0;
	for (uint32_t q = 1U << (bits - 1); q > 1; q >>= 1) flip ^= x.back() & q ? q - 1 : 0;
	for (uint32_t& axis : x) axis ^= flip;
}

template <size_t kDimensions>
uint64_t Index(std::span<const uint32_t> axes, int bits) {
	std::array<uint32_t, kDimensions> x;
	std::copy_n(axes.begin(), kDimensions, x.begin());
	ToTranspose(x, bits);
	uint64_t index = 0;
	for (int bit = bits - 1; bit >= 0; bit--) {
#pragma GCC unroll 4
		for (const uint32_t axis : x) index = index << 1 | (axis >> bit & 1);
	}
	return index;
}

}  // namespace

uint64_t HilbertIndex(std::span<const uint32_t> axes, int bits) {
	switch (axes.size()) {
		case 1:
			return axes[0];
		case 2:
			return Index<2>(axes, bits);
		case 3:
			return Index<3>(axes, bits);
		default:
			return Index<4>(axes, bits);
	}
}

}  // namespace braid
