// SPDX-License-Identifier: Apache-2.0
// Executes a statement once more, in a session of its own that acts for the caller, and takes what it has staged: while a commit is under way no
// transaction is active in the caller's (trap 5). Nothing of it is committed here.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "duckdb/main/attached_database.hpp"
#include "engine/catalog/transaction.h"

namespace braid::engine {

// What the statement is to find, if not the newest version.
struct PinnedTable {
	std::shared_ptr<TableHandle> table;
	SnapshotPtr view;
	std::shared_ptr<const RowsByPath> only;  // null: every row
};

// What it has staged; null if it changes no table. kNotFound: what the statement reads or names cannot be found, or its text is not one INSERT, DELETE,
// UPDATE or MERGE without parameters. Any other error is that of the statement, such as a constraint that a row violates now.
Result<std::unique_ptr<TableWork>> ExecuteAgain(duckdb::ClientContext& caller, duckdb::AttachedDatabase& lake,
												const std::shared_ptr<const RepeatableStatement>& statement,
												const std::vector<PinnedTable>& pinned);

}  // namespace braid::engine
