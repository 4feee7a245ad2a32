// SPDX-License-Identifier: Apache-2.0
// Looking at a table: braid_history, braid_detail, braid_files, braid_properties and braid_conflicts, each with the table as [catalog.][schema.]table, 'path' or
// delta.`path`. Columns of history and detail are those of Spark's DESCRIBE HISTORY and DESCRIBE DETAIL.
#pragma once

namespace duckdb {
class ExtensionLoader;
}

namespace braid::engine {

// The commits on storage, newest first; a commit file is read when its row is asked for.
void RegisterHistory(duckdb::ExtensionLoader& loader);
// One row about the table as the transaction sees it.
void RegisterDetail(duckdb::ExtensionLoader& loader);
// A row for each active file, without those that the transaction has staged.
void RegisterFiles(duckdb::ExtensionLoader& loader);
// key and value: table properties, protocol versions and features.
void RegisterProperties(duckdb::ExtensionLoader& loader);
// The commits that have lost races before they were made, newest first: how often, to whom, and what that took.
void RegisterConflicts(duckdb::ExtensionLoader& loader);

inline void RegisterInspectFunctions(duckdb::ExtensionLoader& loader) {
	RegisterHistory(loader);
	RegisterDetail(loader);
	RegisterFiles(loader);
	RegisterProperties(loader);
	RegisterConflicts(loader);
}

}  // namespace braid::engine
