// SPDX-License-Identifier: Apache-2.0
// What a transaction asked of its table, whether or not anything matched.
#pragma once

#include <memory>
#include <vector>

#include "kernel/predicate/predicate.h"
#include "kernel/storage/row_probe.h"

namespace braid {

struct Read {
	Predicate bound;                            // superset in kernel form; recorded in commitInfo
	std::shared_ptr<const RowPredicate> exact;  // what the engine can evaluate; null: use `bound`
	bool matches_are_removed =
		false;  // every row that satisfied it is among the rows this transaction removes (plain DELETE, UPDATE)
};

struct ReadSet {
	std::vector<Read> reads;  // OR-ed
	bool empty() const { return reads.empty(); }
};

// What the clauses WHERE, ON and WHEN .. AND of the statements hold that the published rules exclude from row-level concurrency (R14, R15); SET
// and inserted values do not count. Only `strict` asks. The engine sets them as far as it sees; the kernel cannot find out.
struct ConditionTraits {
	bool complex_type = false;       // a struct, array or map
	bool non_deterministic = false;  // rand() and the like
	bool subquery = false;           // on whatever table, correlated or not
	bool merge_without_target_predicate = false;

	ConditionTraits& operator|=(const ConditionTraits& other) {
		complex_type |= other.complex_type;
		non_deterministic |= other.non_deterministic;
		subquery |= other.subquery;
		merge_without_target_predicate |= other.merge_without_target_predicate;
		return *this;
	}
	bool Excluded() const { return complex_type || non_deterministic || subquery; }
};

}  // namespace braid
