// SPDX-License-Identifier: Apache-2.0
// Scalar: one typed value of a Delta primitive type, comparable with values of the same type in Delta's order
// (strings by bytes, NaN above everything). Partition values and statistics are parsed into it.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "kernel/predicate/decimal.h"
#include "kernel/schema/type.h"

namespace braid {

// Dates: days since the epoch. Timestamps: microseconds since the epoch (UTC; zone-less ones as if UTC).
struct Scalar {
	TypeKind kind = TypeKind::kString;  // byte, short and integer are held as int64_t too
	std::variant<std::monostate, bool, int64_t, double, Decimal, std::string> value;  // monostate: NULL

	bool is_null() const { return value.index() == 0; }
};

// nullopt if either is NULL or the kinds cannot be compared. Integral kinds, decimals and floats compare across by
// value; where a float and another number are equal only after rounding, the answer is nullopt, too.
std::optional<std::strong_ordering> Compare(const Scalar& a, const Scalar& b);
// "7", "1.50", "NaN", "2024-01-01", "2024-01-01 10:00:00.5"; strings as they are, binary as hexadecimal; "NULL".
std::string ToText(const Scalar& value);
// The inverse of ToText for every value but NULL.
std::optional<Scalar> ScalarFromText(std::string_view text, TypeKind kind);

// PROTOCOL: Partition Value Serialization. "" is NULL. kCorrupt: the text is no value of the type; the message
// names both.
Result<Scalar> ParsePartitionValue(const std::optional<std::string>& text, const DataType& type);
// Precondition: not NULL. kConstraintViolation: a value that the log cannot hold (the empty string, binary that is
// not UTF-8).
Result<std::string> WritePartitionValue(const Scalar& value);

}  // namespace braid
