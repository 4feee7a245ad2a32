// SPDX-License-Identifier: Apache-2.0
// CREATE TABLE: checks what was asked, and stages protocol and metadata of a new (or replaced) Delta table in the
// transaction. Refuses, by name: types without a Delta counterpart, PRIMARY KEY, UNIQUE,
// FOREIGN KEY, SORTED BY, unknown properties.
#pragma once

#include <memory>
#include <string>

#include "duckdb/planner/parsed_data/bound_create_table_info.hpp"
#include "engine/catalog/transaction.h"

namespace braid::engine {

// For Catalog::SupportsCreateTable: an error for what CREATE TABLE of a lake never takes; partition keys and options
// are taken (trap 9).
duckdb::ErrorData CheckCreateTable(duckdb::BoundCreateTableInfo& info);

// Stages the table in the transaction. `table` names its directory, which need not exist. False: it is there already
// and IF NOT EXISTS was said. `as_query`: the statement goes on to insert rows (CREATE TABLE AS).
bool CreateTable(duckdb::ClientContext& context, LakeTransaction& transaction,
				 const std::shared_ptr<TableHandle>& table, duckdb::BoundCreateTableInfo& info, bool as_query);

// What is at the place where a table shall be, as the transaction sees it; null: no table.
SnapshotPtr TableAt(duckdb::ClientContext& context, LakeTransaction& transaction,
					const std::shared_ptr<TableHandle>& table);
// Throws if the directory of the table to be made holds something else: VACUUM would clear it away.
void CheckDirectoryIsFree(const std::string& root, const std::string& name);

// The value of an option of WITH (...) or SET (...) as text: true and false come from the grammar as casts.
std::string OptionText(const duckdb::ParsedExpression& option);

}  // namespace braid::engine
