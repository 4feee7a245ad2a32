// SPDX-License-Identifier: Apache-2.0
// The kernel's Predicate as a DuckDB condition, for reads whose exact form is not known: those that another commit has
// recorded.
#pragma once

#include "engine/scan/row_predicate.h"
#include "kernel/snapshot/snapshot.h"

namespace braid::engine {

// Columns are those of the view's schema; a column that is not there is NULL in every row. `context` needs an active
// transaction.
std::unique_ptr<BoundRowPredicate> ToRowPredicate(duckdb::ClientContext& context, const Snapshot& view,
												  const Predicate& predicate);

}  // namespace braid::engine
