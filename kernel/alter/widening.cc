// SPDX-License-Identifier: Apache-2.0
#include "kernel/alter/widening.h"

#include <algorithm>
#include <initializer_list>

namespace braid {

namespace {

// Decimal digits before the point that every value of an integer type fits into; 0: no integer type.
int IntegerDigits(TypeKind kind) {
	switch (kind) {
		case TypeKind::kByte:
		case TypeKind::kShort:
		case TypeKind::kInteger:
			return 10;
		case TypeKind::kLong:
			return 20;
		default:
			return 0;
	}
}

bool OneOf(TypeKind kind, std::initializer_list<TypeKind> kinds) {
	return std::ranges::find(kinds, kind) != kinds.end();
}

}  // namespace

bool IsWidening(const DataType& from, const DataType& to) {
	using enum TypeKind;
	if (to.kind == kDecimal && from.kind == kDecimal) {
		return to.scale >= from.scale && to.precision - to.scale >= from.precision - from.scale &&
			   (to.scale > from.scale || to.precision > from.precision);
	}
	if (to.kind == kDecimal && IntegerDigits(from.kind) > 0) return to.precision - to.scale >= IntegerDigits(from.kind);
	switch (from.kind) {
		case kByte:
			return OneOf(to.kind, {kShort, kInteger, kLong, kDouble});
		case kShort:
			return OneOf(to.kind, {kInteger, kLong, kDouble});
		case kInteger:
			return OneOf(to.kind, {kLong, kDouble});
		case kFloat:
			return to.kind == kDouble;
		case kDate:
			return to.kind == kTimestampNtz;
		default:
			return false;
	}
}

std::string WiderTypes(const DataType& from) {
	using enum TypeKind;
	std::string list;
	for (const TypeKind kind : {kShort, kInteger, kLong, kDouble, kTimestampNtz}) {
		DataType to;
		to.kind = kind;
		if (IsWidening(from, to)) list += (list.empty() ? "" : ", ") + ToString(to);
	}
	const int digits = IntegerDigits(from.kind);
	if (digits > 0) list += (list.empty() ? "" : ", ") + ("decimal(" + std::to_string(digits) + ",0) or wider");
	if (from.kind == kDecimal) list = "a decimal with at least as many digits before and after the point";
	return list;
}

}  // namespace braid
