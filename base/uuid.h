// SPDX-License-Identifier: Apache-2.0
// UUIDs as 16 bytes (big-endian) and as text: lower case with dashes. A new random one: NewUuid in base/environment.h.
#pragma once

#include <string>
#include <string_view>

#include "base/ascii.h"

namespace braid {

inline std::string UuidText(std::string_view bytes) {
	std::string text;
	for (size_t i = 0; i < bytes.size(); i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10) text.push_back('-');
		AppendHex(static_cast<unsigned char>(bytes[i]), text);
	}
	return text;
}

// Precondition: text that UuidText has made.
inline std::string UuidBytes(std::string_view text) {
	std::string bytes;
	int high = -1;
	for (const char c : text) {
		const int digit = HexDigit(c);
		if (digit < 0) continue;
		if (high >= 0) bytes.push_back(static_cast<char>(high << 4 | digit));
		high = high >= 0 ? -1 : digit;
	}
	return bytes;
}

}  // namespace braid
