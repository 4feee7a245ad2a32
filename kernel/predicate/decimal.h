// SPDX-License-Identifier: Apache-2.0
// Decimal: an exact number of at most 38 digits. No operation loses a digit; one that would has no result.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace braid {

struct Decimal {
	__int128 unscaled = 0;
	int scale = 0;  // 0..38: digits behind the point
};

inline constexpr int kMaxDecimalDigits = 38;

// "-12.50" (scale 2), "1.5E+3" (scale 0). nullopt: no number, or more digits than a decimal has.
std::optional<Decimal> ParseDecimal(std::string_view text);
// The same value with another scale, if that is exact and fits.
std::optional<Decimal> Rescale(const Decimal& value, int scale);
std::strong_ordering CompareDecimals(const Decimal& a, const Decimal& b);
std::string DecimalText(const Decimal& value);  // all `scale` digits, no exponent
bool FitsPrecision(const Decimal& value, int precision);

}  // namespace braid
