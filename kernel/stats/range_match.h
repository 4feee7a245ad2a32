// SPDX-License-Identifier: Apache-2.0
// Whether a condition on one column can be TRUE for some row, given what is known of the column: one value, or
// statistics of a file. Guarantees: "false" is a proof. Deleted rows and wide bounds do no harm, they only make the
// proof rarer (PROTOCOL: Per-file Statistics).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernel/predicate/predicate.h"
#include "kernel/stats/file_stats.h"

namespace braid {

// A condition on one column, ready to be asked of many files: kCompare, kIn or kIsNull, possibly under a kNot.
struct ColumnCondition {
	PredicateKind kind = PredicateKind::kIsNull;
	bool negated = false;
	CompareOp op = CompareOp::kEqual;
	std::vector<Scalar> values;  // of kIn: ascending if `sorted`
	bool sorted = false;

	static ColumnCondition Of(const Predicate& leaf);
};

// The column has this value in every row.
bool MayBeTrue(const ColumnCondition& condition, const Scalar& value);
// The column's values lie within these bounds. `num_records`: physical rows of the file.
bool MayBeTrue(const ColumnCondition& condition, const ColumnStats& stats, std::optional<int64_t> num_records,
			   TypeKind kind);

}  // namespace braid
