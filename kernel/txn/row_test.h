// SPDX-License-Identifier: Apache-2.0
// Row test: does one of these rows satisfy what a transaction read? Files are pruned
// first by the recorded superset, then the engine evaluates the exact condition on the rows that are left, several
// files per question. When the time budget is used up, pruning goes on and whatever it does not clear counts as
// matched, marked unproven.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/environment.h"
#include "kernel/snapshot/pruning.h"
#include "kernel/txn/net_delta.h"
#include "kernel/txn/read_set.h"

namespace braid {

struct RowQuestion {
	RowSelection selection;
	bool covered_by_deletes = false;  // our own deletes tell which of these rows a plain DELETE or UPDATE read
	Finding* finding = nullptr;
};

class RowTester {
public:
	struct Limits {
		Clock& clock;
		int64_t budget_ms = 0;
		size_t samples = 5;
		const std::function<bool()>& interrupted;
	};
	RowTester(RowProbe& probe, Limits limits) : probe_(probe), limits_(limits) {}

	// Sets finding.matched where a row of the selection satisfies one of the reads. `of` gives schema and partitioning.
	Status Test(std::span<RowQuestion> questions, std::span<const Read> reads, const Snapshot& of);
	int64_t spent_ms() const { return spent_ms_; }
	bool OutOfTime() const { return spent_ms_ >= limits_.budget_ms; }
	// Any other question to the engine, on the same budget. Out of time: kNotFound, as if the rows were gone.
	Status Spend(const std::function<Status()>& question);

private:
	struct Pending;
	Status TestOne(std::vector<Pending>& pending, const Read& read);
	Status Ask(std::span<Pending> batch, const Read& read);

	RowProbe& probe_;
	Limits limits_;
	int64_t spent_ms_ = 0;
};

}  // namespace braid
