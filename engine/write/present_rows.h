// SPDX-License-Identifier: Apache-2.0
// Rows that are in a table already, against what a changed schema or a new constraint demands of them.
#pragma once

#include "engine/catalog/catalog.h"
#include "engine/catalog/transaction.h"

namespace braid::engine {

// Throws a ConstraintException that shows the first row which `after` forbids and the table as it is allows. What was looked for enters the
// read set: a concurrent commit that adds such a row is a conflict. Reads nothing if `after` demands nothing new.
void CheckPresentRows(duckdb::ClientContext& context, LakeCatalog& lake, TableWork& work, const SnapshotPtr& after);

// The highest (or lowest) value of a BIGINT column; nullopt: there is none. Every row counts as read.
std::optional<int64_t> ExtremeValue(duckdb::ClientContext& context, TableWork& work, const std::string& column,
									bool highest);

}  // namespace braid::engine
