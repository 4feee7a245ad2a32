// SPDX-License-Identifier: Apache-2.0
// Bytes of a deletion vector: the serialized bitmap with its magic number, and the Z85 text of inline vectors
// (PROTOCOL: Deletion Vectors, "Deletion Vector Format"). Reading accepts the portable (…377) and the native (…376)
// form and never reads past the bytes given; writing produces the portable form only.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "kernel/deletion/position_set.h"

namespace braid {

std::string SerializePositions(const PositionSet& positions);      // magic number included
Result<PositionSet> DeserializePositions(std::string_view bytes);  // kCorrupt with the reason

std::string EncodeZ85(std::string_view bytes);         // zero-padded to a multiple of 4
Result<std::string> DecodeZ85(std::string_view text);  // also a last group shortened by leading '#'

}  // namespace braid
