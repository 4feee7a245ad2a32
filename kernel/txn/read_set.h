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

}  // namespace braid
