// SPDX-License-Identifier: Apache-2.0
#include "kernel/stats/range_match.h"

#include <algorithm>
#include <cmath>

namespace braid {
namespace {

using Order = std::strong_ordering;

// Whether `order` of (column value, constant) makes the comparison TRUE.
bool Holds(CompareOp op, Order order) {
	switch (op) {
		case CompareOp::kEqual:
			return order == 0;
		case CompareOp::kNotEqual:
			return order != 0;
		case CompareOp::kLess:
			return order < 0;
		case CompareOp::kLessEqual:
			return order <= 0;
		case CompareOp::kGreater:
			return order > 0;
		case CompareOp::kGreaterEqual:
			return order >= 0;
	}
	return true;
}

bool Below(const Scalar& a, const Scalar& b) {
	const auto order = Compare(a, b);
	return order && *order < 0;
}

bool IsNan(const Scalar& value) {
	const auto* number = std::get_if<double>(&value.value);
	return number != nullptr && std::isnan(*number);
}

// Bounds with which a comparison works; `above_max`: some row may lie above max all the same.
struct Range {
	const Scalar* min = nullptr;
	const Scalar* max = nullptr;
	bool above_max = false;
};

bool CannotBeBelow(const Range& range, const Scalar& value, bool or_equal) {
	// No row is < value (<= value): the smallest is not.
	if (range.min == nullptr) return false;
	const auto order = Compare(*range.min, value);
	return order && (or_equal ? *order > 0 : *order >= 0);
}

bool CannotBeAbove(const Range& range, const Scalar& value, bool or_equal) {
	if (range.max == nullptr || range.above_max) return false;
	const auto order = Compare(*range.max, value);
	return order && (or_equal ? *order < 0 : *order <= 0);
}

// The column has only this one value (NULLs aside).
bool IsOnly(const Range& range, const Scalar& value) {
	if (range.min == nullptr || range.max == nullptr || range.above_max) return false;
	return Compare(*range.min, value) == Order::equal && Compare(*range.max, value) == Order::equal;
}

bool MayEqual(const Range& range, const Scalar& value) {
	if (IsNan(value)) return true;
	if (CannotBeBelow(range, value, true)) return false;
	const auto order = range.max != nullptr ? Compare(*range.max, value) : std::nullopt;
	return !order || *order >= 0;  // what hides above max is NaN, and this value is not
}

bool MayCompare(CompareOp op, const Range& range, const Scalar& value) {
	switch (op) {
		case CompareOp::kEqual:
			return MayEqual(range, value);
		case CompareOp::kNotEqual:
			return !IsOnly(range, value);
		case CompareOp::kLess:
			return !CannotBeBelow(range, value, false);
		case CompareOp::kLessEqual:
			return !CannotBeBelow(range, value, true);
		case CompareOp::kGreater:
			return !CannotBeAbove(range, value, false);
		case CompareOp::kGreaterEqual:
			return !CannotBeAbove(range, value, true);
	}
	return true;
}

bool MayBeIn(const ColumnCondition& condition, const Range& range) {
	const auto may_equal = [&](const Scalar& value) { return MayEqual(range, value); };
	if (!condition.sorted || range.min == nullptr || range.min->kind != condition.values.front().kind) {
		return std::ranges::any_of(condition.values, may_equal);
	}
	// The first value that is not below min is the best candidate, and NaN, which stands last, the other.
	const auto first = std::ranges::lower_bound(condition.values, *range.min, Below);
	return (first != condition.values.end() && may_equal(*first)) || IsNan(condition.values.back());
}

bool AllComparable(const std::vector<Scalar>& values) {
	return std::ranges::all_of(values, [&](const Scalar& value) {
		return value.kind == values.front().kind && Compare(value, value).has_value();
	});
}

}  // namespace

ColumnCondition ColumnCondition::Of(const Predicate& leaf) {
	const bool negated = leaf.kind == PredicateKind::kNot;
	const Predicate& inner = negated ? leaf.children.front() : leaf;
	ColumnCondition condition {.kind = inner.kind, .negated = negated, .op = inner.op, .values = inner.values};
	if (inner.kind == PredicateKind::kIn && AllComparable(condition.values)) {
		std::ranges::sort(condition.values, Below);
		condition.sorted = true;
	}
	return condition;
}

bool MayBeTrue(const ColumnCondition& condition, const Scalar& value) {
	if (condition.kind == PredicateKind::kIsNull) return value.is_null() != condition.negated;
	if (value.is_null()) return false;
	if (condition.kind == PredicateKind::kCompare) {
		const auto order = Compare(value, condition.values.front());
		return !order || Holds(condition.op, *order) != condition.negated;
	}
	bool unknown = false, found = false;
	for (const Scalar& member : condition.values) {
		const auto order = Compare(value, member);
		unknown |= !order.has_value();
		found |= order == Order::equal;
	}
	return unknown || found != condition.negated;
}

bool MayBeTrue(const ColumnCondition& condition, const ColumnStats& stats, std::optional<int64_t> num_records,
			   TypeKind kind) {
	// Both readings hold for wide null counts as well: 0 means no NULL, numRecords means that every live row is NULL.
	const bool all_null = stats.null_count && num_records && *stats.null_count >= *num_records;
	if (condition.kind == PredicateKind::kIsNull) return condition.negated ? !all_null : stats.null_count != 0;
	if (all_null) return false;
	// NaN is above everything, but writers that take their bounds from Parquet's leave it out of max.
	const Range range {stats.min ? &*stats.min : nullptr, stats.max ? &*stats.max : nullptr,
					   kind == TypeKind::kFloat || kind == TypeKind::kDouble};
	if (condition.kind == PredicateKind::kCompare) {
		const CompareOp op = condition.op;
		return condition.negated || MayCompare(op, range, condition.values.front());
	}
	if (!condition.negated) return MayBeIn(condition, range);
	return std::ranges::none_of(condition.values, [&](const Scalar& value) { return IsOnly(range, value); });
}

}  // namespace braid
