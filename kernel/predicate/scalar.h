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
#include "kernel/schema/type.h"

namespace braid {

struct Decimal {
	__int128 unscaled = 0;
	int scale = 0;
};

// Dates: days since the epoch. Timestamps: microseconds since the epoch (UTC; zone-less ones as if UTC).
struct Scalar {
	TypeKind kind = TypeKind::kString;  // byte, short and integer are held as int64_t too
	std::variant<std::monostate, bool, int64_t, double, Decimal, std::string> value;  // monostate: NULL

	bool is_null() const { return value.index() == 0; }
};

// nullopt if either is NULL or the kinds cannot be compared. Integral kinds, decimals and floats compare across by value.
std::optional<std::strong_ordering> Compare(const Scalar& a, const Scalar& b);
std::string ToText(const Scalar& value);  // for messages and JSON

// PROTOCOL: Partition Value Serialization. "" is NULL.
Result<Scalar> ParsePartitionValue(const std::optional<std::string>& text, const DataType& type);
Result<std::string> WritePartitionValue(const Scalar& value);  // precondition: not NULL

}  // namespace braid
