// SPDX-License-Identifier: Apache-2.0
// What a scan asks of its table enters the transaction's read set when the scan is executed, not when it is bound (EXPLAIN and PREPARE read
// nothing), and whether or not a row matches (design.md, decision 1). When the optimizer answers from statistics without a scan, the
// question is registered while planning, and replaced by the sharper one if the scan runs after all.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "duckdb/catalog/catalog.hpp"
#include "duckdb/main/client_context.hpp"
#include "engine/scan/row_predicate.h"
#include "kernel/predicate/predicate.h"

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
	std::mutex mutex;
	bool feeds_removal = false;  // every row that the scan returns is removed (engine/scan/scan_function.h)
	std::shared_ptr<const RowPredicate> provisional;  // entered while planning; identifies the entry
};

void RegisterRead(duckdb::ClientContext& context, ReadRegistration& registration, const ScanConditions& conditions);
// Before the optimizer is given statistics from which it may answer. False: it must not get them, because the statement may be an EXPLAIN or
// PREPARE inside a longer transaction.
bool RegisterPlannedRead(duckdb::ClientContext& context, ReadRegistration& registration,
						 const ScanConditions& conditions);

}  // namespace braid::engine
