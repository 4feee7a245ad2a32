// SPDX-License-Identifier: Apache-2.0
// Every sum is checked for overflow.
#include "kernel/schema/identity.h"

#include <algorithm>

namespace braid {

std::optional<Identity> IdentityOf(const Field& field) {
	const auto start = MetadataInteger(field, kIdentityStartKey);
	if (!start) return std::nullopt;
	Identity identity;
	identity.start = *start;
	identity.step = MetadataInteger(field, kIdentityStepKey).value_or(1);
	identity.mark = MetadataInteger(field, kIdentityMarkKey);
	const auto allows = field.metadata.find(kIdentityExplicitKey);
	identity.allows_explicit = allows != field.metadata.end() && allows->second == "true";
	return identity;
}

void WriteIdentity(const Identity& identity, FieldMetadata& metadata) {
	metadata[kIdentityStartKey] = std::to_string(identity.start);
	metadata[kIdentityStepKey] = std::to_string(identity.step);
	metadata[kIdentityExplicitKey] = identity.allows_explicit ? "true" : "false";
	if (identity.mark) metadata[kIdentityMarkKey] = std::to_string(*identity.mark);
}

Result<int64_t> TakeIdentities(Identity& identity, uint64_t count) {
	int64_t first = identity.start, last = 0, distance = 0;
	const bool over = (identity.mark && __builtin_add_overflow(*identity.mark, identity.step, &first)) ||
					  __builtin_mul_overflow(count - 1, identity.step, &distance) ||
					  __builtin_add_overflow(first, distance, &last);
	if (over) {
		return Fail(ErrorKind::kInvalidArgument, "an identity column has no values left after " +
													 std::to_string(identity.mark.value_or(identity.start)) +
													 " in steps of " + std::to_string(identity.step));
	}
	identity.mark = last;
	return first;
}

Result<std::optional<int64_t>> MarkCovering(const Identity& identity, int64_t value) {
	const auto is_before = [&](int64_t a, int64_t b) { return identity.step > 0 ? a < b : a > b; };
	if (identity.step == 0 || is_before(value, identity.start)) return identity.mark;
	if (identity.mark && !is_before(*identity.mark, value)) return identity.mark;
	// Up to the next value of the sequence. 128 bits hold every difference.
	const __int128 distance = static_cast<__int128>(value) - identity.start, step = identity.step;
	const __int128 mark = identity.start + (distance + step - (step > 0 ? 1 : -1)) / step * step;
	if (mark > INT64_MAX || mark < INT64_MIN) {
		return Fail(ErrorKind::kInvalidArgument, "the value " + std::to_string(value) +
													 " leaves no later one to an identity column that starts with " +
													 std::to_string(identity.start) + " and goes in steps of " +
													 std::to_string(identity.step));
	}
	return static_cast<int64_t>(mark);
}

DataTypePtr WithIdentityMarks(const StructType& schema, const std::map<std::string, int64_t>& marks) {
	auto copy = std::make_shared<DataType>(schema);
	for (const auto& [name, mark] : marks) {
		const auto field = std::ranges::find(copy->fields, name, &Field::name);
		if (field != copy->fields.end()) field->metadata[kIdentityMarkKey] = std::to_string(mark);
	}
	return copy;
}

}  // namespace braid
