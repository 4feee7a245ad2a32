// SPDX-License-Identifier: Apache-2.0
// The table that an argument of one of Braid's functions names, as statements write it: [catalog.][schema.]table, 'path' or delta.`path`.
#pragma once

#include <memory>
#include <string>

#include "duckdb/function/table_function.hpp"
#include "duckdb/main/client_context.hpp"
#include "engine/catalog/catalog.h"
#include "engine/catalog/table_entry.h"
#include "engine/catalog/table_handle.h"

namespace duckdb {
class ExtensionLoader;
}

namespace braid::engine {

struct NamedTable {
	duckdb::optional_ptr<LakeCatalog> lake;  // null: a path outside of every attached lake, which can be read only
	std::shared_ptr<TableHandle> table;
	SnapshotPtr view;  // as the transaction sees it, without the files that it has staged
	std::string name;  // for messages
};

// Throws if there is no such table or if it is not a Delta table; `statement` ("OPTIMIZE") begins the message.
NamedTable FindNamedTable(duckdb::ClientContext& context, const std::string& name, const std::string& statement);
// The table of a lake that these parts of a name stand for; null if it is another's, or with RETURN_NULL if there is none.
duckdb::optional_ptr<LakeTableEntry> FindLakeTable(duckdb::ClientContext& context, std::string catalog,
												   std::string schema, const std::string& table,
												   duckdb::OnEntryNotFound if_not_found);
// Whether the parts of a name are those of delta.`/path`.
bool IsPathName(const std::string& catalog, const std::string& schema, const std::string& table);
bool NamedTableExists(duckdb::ClientContext& context, const std::string& name);
bool IsLakeTable(duckdb::ClientContext& context, const std::string& name);
// Only where the table is: no snapshot is loaded, if it is in storage.
std::shared_ptr<TableHandle> FindTableLog(duckdb::ClientContext& context, const std::string& name,
										  const std::string& statement);
// As FindNamedTable, for a function that changes the table; to be called when it is bound: the statement then counts as one that writes to the lake.
NamedTable FindTableToChange(duckdb::ClientContext& context, duckdb::TableFunctionBindInput& input,
							 const std::string& name, const std::string& statement,
							 duckdb::DatabaseModificationType change);
// The same for a statement that is a commit of its own: refused, with an error that leaves the transaction as it is, if that has changed the table already.
NamedTable FindTableToChangeAlone(duckdb::ClientContext& context, duckdb::TableFunctionBindInput& input,
								  const std::string& name, const std::string& statement,
								  duckdb::DatabaseModificationType change);

// Where a table of this name is, or would be made; the statement counts as one that writes to the lake. No paths.
struct PlaceToCreate {
	duckdb::optional_ptr<LakeCatalog> lake;
	std::string schema, name;
};
PlaceToCreate FindPlaceToCreate(duckdb::ClientContext& context, duckdb::TableFunctionBindInput& input,
								const std::string& name, const std::string& statement);

// SELECT ... FROM delta.`/path/to/table`, also with @v7 after the path.
void RegisterPathTables(duckdb::DBConfig& config);

}  // namespace braid::engine
