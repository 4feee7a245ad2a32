// SPDX-License-Identifier: Apache-2.0
#include "kernel/maintenance/hilbert.h"

namespace braid {

// From coordinates to the "transpose" of the index: its bits dealt out to the axes, the highest one to the first.
static void ToTranspose(std::span<uint32_t> x, int bits) {
	for (uint32_t q = 1U << (bits - 1); q > 1; q >>= 1) {
		const uint32_t low = q - 1;
		for (uint32_t& axis : x) {
			if (axis & q) {
				x[0] ^= low;  // invert
			} else {
				const uint32_t swapped = (x[0] ^ axis) & low;
				x[0] ^= swapped;
				axis ^= swapped;
			}
		}
	}
	for (size_t i = 1; i < x.size(); i++) x[i] ^= x[i - 1];  // Gray code
	uint32_t flip = 0;
	for (uint32_t q = 1U << (bits - 1); q > 1; q >>= 1) {
		if (x.back() & q) flip ^= q - 1;
	}
	for (uint32_t& axis : x) axis ^= flip;
}

uint64_t HilbertIndex(std::span<uint32_t> axes, int bits) {
	ToTranspose(axes, bits);
	uint64_t index = 0;
	for (int bit = bits - 1; bit >= 0; bit--) {
		for (const uint32_t axis : axes) index = index << 1 | (axis >> bit & 1);
	}
	return index;
}

}  // namespace braid
