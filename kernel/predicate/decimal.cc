// SPDX-License-Identifier: Apache-2.0
#include "kernel/predicate/decimal.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace braid {
namespace {

constexpr std::array<__int128, kMaxDecimalDigits + 1> MakePowers() {
	std::array<__int128, kMaxDecimalDigits + 1> powers {};
	powers[0] = 1;
	for (size_t i = 1; i < powers.size(); i++) powers[i] = powers[i - 1] * 10;
	return powers;
}
constexpr std::array<__int128, kMaxDecimalDigits + 1> kPowersOfTen = MakePowers();

constexpr int kMaxExponent = 1000;

}  // namespace

bool FitsPrecision(const Decimal& value, int precision) {
	const __int128 limit = kPowersOfTen[static_cast<size_t>(precision)];
	return value.unscaled < limit && value.unscaled > -limit;
}

std::optional<Decimal> ParseDecimal(std::string_view text) {
	const bool negative = text.starts_with('-');
	if (negative || text.starts_with('+')) text.remove_prefix(1);
	int exponent = 0;
	if (const size_t e = text.find_first_of("eE"); e != std::string_view::npos) {
		std::string_view digits = text.substr(e + 1);
		if (digits.starts_with('+')) digits.remove_prefix(1);
		const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
		if (error != std::errc() || end != digits.data() + digits.size() || exponent > kMaxExponent ||
			exponent < -kMaxExponent)
			return std::nullopt;
		text = text.substr(0, e);
	}
	Decimal value;
	int digits = 0;
	bool point = false;
	for (const char c : text) {
		if (c == '.' && !point) {
			point = true;
			continue;
		}
		if (c < '0' || c > '9') return std::nullopt;
		digits++;
		if (value.unscaled >= kPowersOfTen[kMaxDecimalDigits - 1]) {
			// No room for another digit; a zero behind the point may go.
			if (c != '0' || !point) return std::nullopt;
			continue;
		}
		value.unscaled = value.unscaled * 10 + (c - '0');
		if (point) value.scale++;
	}
	if (digits == 0) return std::nullopt;
	value.scale -= exponent;
	while (value.scale > kMaxDecimalDigits && value.unscaled % 10 == 0 && value.unscaled != 0)
		value.unscaled /= 10, value.scale--;
	if (value.unscaled == 0) value.scale = std::clamp(value.scale, 0, kMaxDecimalDigits);
	for (; value.scale < 0; value.scale++) {
		if (!FitsPrecision(value, kMaxDecimalDigits - 1)) return std::nullopt;
		value.unscaled *= 10;
	}
	if (value.scale > kMaxDecimalDigits) return std::nullopt;
	if (negative) value.unscaled = -value.unscaled;
	return value;
}

std::optional<Decimal> Rescale(const Decimal& value, int scale) {
	if (scale < 0 || scale > kMaxDecimalDigits) return std::nullopt;
	if (scale >= value.scale) {
		const int more = scale - value.scale;
		if (!FitsPrecision(value, kMaxDecimalDigits - more)) return std::nullopt;
		return Decimal {value.unscaled * kPowersOfTen[static_cast<size_t>(more)], scale};
	}
	const __int128 divisor = kPowersOfTen[static_cast<size_t>(value.scale - scale)];
	if (value.unscaled % divisor != 0) return std::nullopt;
	return Decimal {value.unscaled / divisor, scale};
}

std::strong_ordering CompareDecimals(const Decimal& a, const Decimal& b) {
	// Whole parts first, then fractions brought to one scale: neither can overflow. Both are truncated towards
	// zero, so that their signs agree.
	const __int128 power_a = kPowersOfTen[static_cast<size_t>(a.scale)],
				   power_b = kPowersOfTen[static_cast<size_t>(b.scale)];
	const __int128 whole_a = a.unscaled / power_a, whole_b = b.unscaled / power_b;
	if (whole_a != whole_b) return whole_a < whole_b ? std::strong_ordering::less : std::strong_ordering::greater;
	const int scale = std::max(a.scale, b.scale);
	const __int128 fraction_a = a.unscaled % power_a * kPowersOfTen[static_cast<size_t>(scale - a.scale)];
	const __int128 fraction_b = b.unscaled % power_b * kPowersOfTen[static_cast<size_t>(scale - b.scale)];
	if (fraction_a == fraction_b) return std::strong_ordering::equal;
	return fraction_a < fraction_b ? std::strong_ordering::less : std::strong_ordering::greater;
}

std::string DecimalText(const Decimal& value) {
	const bool negative = value.unscaled < 0;
	unsigned __int128 rest =
		negative ? -static_cast<unsigned __int128>(value.unscaled) : static_cast<unsigned __int128>(value.unscaled);
	std::string text;  // from the last digit to the first
	for (int digit = 0; rest != 0 || digit <= value.scale; digit++, rest /= 10) {
		if (digit == value.scale && digit > 0) text.push_back('.');
		text.push_back(static_cast<char>('0' + static_cast<int>(rest % 10)));
	}
	if (negative) text.push_back('-');
	std::ranges::reverse(text);
	return text;
}

}  // namespace braid
