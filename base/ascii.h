// SPDX-License-Identifier: Apache-2.0
// Letters and hexadecimal digits of ASCII, independent of the locale. Other bytes are equal to themselves only.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace braid {

constexpr char AsciiLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

inline bool SameIgnoringCase(std::string_view a, std::string_view b) {
	return std::ranges::equal(a, b, {}, AsciiLower, AsciiLower);
}

// -1: not a hexadecimal digit.
constexpr int HexDigit(char c) {
	if (c >= '0' && c <= '9') return c - '0';
	const char lower = AsciiLower(c);
	return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

inline void AppendHex(unsigned char byte, std::string& out) {
	constexpr std::string_view kDigits = "0123456789abcdef";
	out.push_back(kDigits[byte >> 4]);
	out.push_back(kDigits[byte & 0xF]);
}

}  // namespace braid
