// SPDX-License-Identifier: Apache-2.0
#include "kernel/predicate/scalar.h"

#include <charconv>
#include <cmath>

#include "base/ascii.h"
#include "kernel/predicate/temporal_text.h"

namespace braid {
namespace {

constexpr int64_t kExactInDouble = int64_t {1} << 53;

enum class Family { kNumber, kFloat, kBoolean, kString, kBinary, kDate, kTimestamp, kTimestampNtz, kNone };

Family FamilyOf(TypeKind kind) {
	switch (kind) {
		case TypeKind::kLong:
		case TypeKind::kInteger:
		case TypeKind::kShort:
		case TypeKind::kByte:
		case TypeKind::kDecimal:
			return Family::kNumber;
		case TypeKind::kFloat:
		case TypeKind::kDouble:
			return Family::kFloat;
		case TypeKind::kBoolean:
			return Family::kBoolean;
		case TypeKind::kString:
			return Family::kString;
		case TypeKind::kBinary:
			return Family::kBinary;
		case TypeKind::kDate:
			return Family::kDate;
		case TypeKind::kTimestamp:
			return Family::kTimestamp;
		case TypeKind::kTimestampNtz:
			return Family::kTimestampNtz;
		default:
			return Family::kNone;
	}
}

Decimal AsDecimal(const Scalar& value) {
	if (const auto* decimal = std::get_if<Decimal>(&value.value)) return *decimal;
	return {std::get<int64_t>(value.value), 0};
}

std::strong_ordering CompareFloats(double a, double b) {
	if (std::isnan(a) || std::isnan(b)) return std::isnan(a) <=> std::isnan(b);
	if (a == b) return std::strong_ordering::equal;  // -0.0 and 0.0 too
	return a < b ? std::strong_ordering::less : std::strong_ordering::greater;
}

// Rounding to double never changes the order of two numbers, it can only make them equal.
std::optional<std::strong_ordering> CompareNumberWithFloat(const Scalar& number, double b) {
	const Decimal exact = AsDecimal(number);
	const std::string text = DecimalText(exact);
	double a = 0;
	if (std::from_chars(text.data(), text.data() + text.size(), a).ec != std::errc()) return std::nullopt;
	const std::strong_ordering order = CompareFloats(a, b);
	if (order != 0) return order;
	const auto whole = Rescale(exact, 0);
	if (!whole || whole->unscaled > kExactInDouble || whole->unscaled < -kExactInDouble) return std::nullopt;
	return order;
}

std::string FloatText(double value, bool single) {
	if (std::isnan(value)) return "NaN";
	if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
	char buffer[64];
	const auto end = single ? std::to_chars(buffer, buffer + sizeof(buffer), static_cast<float>(value)).ptr
							: std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
	std::string text(buffer, end);
	if (text.find_first_of(".e") == std::string::npos) text += ".0";
	return text;
}

std::string HexText(std::string_view bytes) {
	std::string text;
	for (const char c : bytes) AppendHex(static_cast<unsigned char>(c), text);
	return text;
}

std::optional<std::string> BytesFromHex(std::string_view text) {
	if (text.size() % 2 != 0) return std::nullopt;
	std::string bytes;
	for (size_t i = 0; i < text.size(); i += 2) {
		const int high = HexDigit(text[i]), low = HexDigit(text[i + 1]);
		if (high < 0 || low < 0) return std::nullopt;
		bytes.push_back(static_cast<char>(high << 4 | low));
	}
	return bytes;
}

template <class T>
std::optional<T> ParseNumber(std::string_view text) {
	if (text.starts_with('+')) text.remove_prefix(1);
	T value {};
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
	if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
	return value;
}

template <class T>
std::optional<Scalar> Wrap(TypeKind kind, const std::optional<T>& value) {
	if (!value) return std::nullopt;
	return Scalar {kind, *value};
}

std::optional<Scalar> ParseInteger(std::string_view text, TypeKind kind, int64_t smallest, int64_t largest) {
	const auto value = ParseNumber<int64_t>(text);
	if (!value || *value < smallest || *value > largest) return std::nullopt;
	return Scalar {kind, *value};
}

std::optional<bool> ParseBoolean(std::string_view text) {
	if (text == "true" || text == "True" || text == "TRUE") return true;
	if (text == "false" || text == "False" || text == "FALSE") return false;
	return std::nullopt;
}

}  // namespace

std::optional<std::strong_ordering> Compare(const Scalar& a, const Scalar& b) {
	if (a.is_null() || b.is_null()) return std::nullopt;
	const Family family_a = FamilyOf(a.kind), family_b = FamilyOf(b.kind);
	if (family_a == Family::kNumber && family_b == Family::kNumber) {
		const auto *integer_a = std::get_if<int64_t>(&a.value), *integer_b = std::get_if<int64_t>(&b.value);
		if (integer_a != nullptr && integer_b != nullptr) return *integer_a <=> *integer_b;
		return CompareDecimals(AsDecimal(a), AsDecimal(b));
	}
	if (family_a == Family::kNumber && family_b == Family::kFloat)
		return CompareNumberWithFloat(a, std::get<double>(b.value));
	if (family_a == Family::kFloat && family_b == Family::kNumber) {
		const auto order = CompareNumberWithFloat(b, std::get<double>(a.value));
		if (!order) return std::nullopt;
		return 0 <=> *order;
	}
	if (family_a != family_b || a.value.index() != b.value.index()) return std::nullopt;
	switch (family_a) {
		case Family::kFloat:
			return CompareFloats(std::get<double>(a.value), std::get<double>(b.value));
		case Family::kBoolean:
			return std::get<bool>(a.value) <=> std::get<bool>(b.value);
		case Family::kString:
		case Family::kBinary:
			return std::get<std::string>(a.value).compare(std::get<std::string>(b.value)) <=> 0;
		case Family::kDate:
		case Family::kTimestamp:
		case Family::kTimestampNtz:
			return std::get<int64_t>(a.value) <=> std::get<int64_t>(b.value);
		default:
			return std::nullopt;
	}
}

std::string ToText(const Scalar& value) {
	if (value.is_null()) return "NULL";
	std::string text;
	switch (value.kind) {
		case TypeKind::kFloat:
		case TypeKind::kDouble:
			return FloatText(std::get<double>(value.value), value.kind == TypeKind::kFloat);
		case TypeKind::kDecimal:
			return DecimalText(std::get<Decimal>(value.value));
		case TypeKind::kBoolean:
			return std::get<bool>(value.value) ? "true" : "false";
		case TypeKind::kBinary:
			return HexText(std::get<std::string>(value.value));
		case TypeKind::kDate:
			AppendDate(std::get<int64_t>(value.value), text);
			return text;
		case TypeKind::kTimestamp:
		case TypeKind::kTimestampNtz:
			AppendTimestamp(std::get<int64_t>(value.value), ' ', 0, text);
			return text;
		case TypeKind::kString:
			return std::get<std::string>(value.value);
		default:
			return std::to_string(std::get<int64_t>(value.value));
	}
}

std::optional<Scalar> ScalarFromText(std::string_view text, TypeKind kind) {
	switch (kind) {
		case TypeKind::kLong:
			return ParseInteger(text, kind, INT64_MIN, INT64_MAX);
		case TypeKind::kInteger:
			return ParseInteger(text, kind, INT32_MIN, INT32_MAX);
		case TypeKind::kShort:
			return ParseInteger(text, kind, INT16_MIN, INT16_MAX);
		case TypeKind::kByte:
			return ParseInteger(text, kind, INT8_MIN, INT8_MAX);
		case TypeKind::kFloat: {
			const auto value = ParseNumber<float>(text);  // also "NaN", "Infinity", "-inf"
			if (!value) return std::nullopt;
			return Scalar {kind, static_cast<double>(*value)};
		}
		case TypeKind::kDouble:
			return Wrap(kind, ParseNumber<double>(text));
		case TypeKind::kDecimal:
			return Wrap(kind, ParseDecimal(text));
		case TypeKind::kBoolean:
			return Wrap(kind, ParseBoolean(text));
		case TypeKind::kDate:
			return Wrap(kind, ParseDate(text));
		case TypeKind::kTimestamp:
		case TypeKind::kTimestampNtz:
			return Wrap(kind, ParseTimestamp(text));
		case TypeKind::kBinary:
			return Wrap(kind, BytesFromHex(text));
		case TypeKind::kString:
			return Scalar {kind, std::string(text)};
		default:
			return std::nullopt;
	}
}

}  // namespace braid
