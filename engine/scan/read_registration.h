// SPDX-License-Identifier: Apache-2.0
// What a scan asks of its table enters the transaction's read set when the scan is executed, not when it is bound (EXPLAIN and PREPARE read
// nothing), and whether or not a row matches (design.md, decision 1). When the optimizer answers from statistics without a scan, the
// question is registered while planning, and replaced by the sharper one if the scan runs after all.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "duckdb/catalog/catalog.hpp"
#include "duckdb/main/client_context.hpp"
#include "engine/scan/row_predicate.h"
#include "kernel/predicate/predicate.h"
#include "kernel/txn/read_set.h"

namespace braid::engine {

// The conditions that one scan has been shown; all of them hold for every row that it returns.
struct ScanConditions {
	std::vector<Predicate> bound;                                 // AND-ed
	std::vector<std::shared_ptr<const BoundRowPredicate>> exact;  // AND-ed
	bool complete = true;                                         // every condition is in `exact`
};

// Shared by all copies of one bound scan.
struct ReadRegistration {
	std::string root;  // of the table
	duckdb::optional_ptr<duckdb::Catalog>
		catalog;  // whose transaction reads; null: the past, or a table outside of any lake
	// The statement changes a table of a lake: no statistics, from which the optimizer would leave out rows of other tables that
	// match nothing today; what is read is then taken from what was left (trap 36).
	bool of_write = false;
	std::mutex mutex;
	// Of the statement (engine/write/condition_traits.h), and what it says of this table alone, if that is not all that its rows are chosen by.
	ConditionTraits conditions;
	std::optional<Predicate> stated;
	bool feeds_removal = false;  // every row that the scan returns is removed (engine/scan/scan_function.h)
	std::shared_ptr<const RowPredicate> provisional;  // entered while planning; identifies the entry
	// Rows that fail one of them take no part in the join above the scan (engine/write/join_keys.h). AND-ed.
	std::vector<std::shared_ptr<const BoundRowPredicate>> key_tests;
};

void RegisterRead(duckdb::ClientContext& context, ReadRegistration& registration, const ScanConditions& conditions);
// Before the optimizer is given statistics from which it may answer. False: it must not get them, because the statement may be an EXPLAIN or
// PREPARE inside a longer transaction.
bool RegisterPlannedRead(duckdb::ClientContext& context, ReadRegistration& registration,
						 const ScanConditions& conditions);

// When all statements are over: what the joins above the scans let pass enters the kernel's form of each read.
void FinishReads(ReadSet& reads);

}  // namespace braid::engine
