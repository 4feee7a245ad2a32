// SPDX-License-Identifier: Apache-2.0
// The beginning of a text for a message, cut between characters of UTF-8 and never inside one: clients decode messages strictly.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace braid {

// At most `bytes` bytes, then "..." if something is missing.
inline std::string Excerpt(std::string_view text, size_t bytes) {
	if (text.size() <= bytes) return std::string(text);
	while (bytes > 0 && (static_cast<uint8_t>(text[bytes]) & 0xC0) == 0x80) bytes--;
	return std::string(text.substr(0, bytes)) + "...";
}

}  // namespace braid
