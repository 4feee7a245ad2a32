// SPDX-License-Identifier: Apache-2.0
// The place of a point on the Hilbert curve through a cube of n dimensions: points near each other on the curve are near in every dimension, and
// unlike Z-order the curve has no jumps. J. Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707 (2004).
#pragma once

#include <cstdint>
#include <span>

namespace braid {

// `axes`: one coordinate of `bits` bits, 16 at most, for each of one to four dimensions.
uint64_t HilbertIndex(std::span<const uint32_t> axes, int bits);

}  // namespace braid
