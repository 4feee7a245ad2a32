// SPDX-License-Identifier: Apache-2.0
// The commit of what a transaction has staged on its table: the kernel's committer with the engine's answers to its questions, the session's
// settings, and a record of the outcome for the session.
#pragma once

#include <set>
#include <string>

#include "duckdb/main/attached_database.hpp"
#include "engine/catalog/transaction.h"
#include "engine/io/duckdb_parquet_gateway.h"
#include "engine/io/duckdb_row_probe.h"
#include "kernel/storage/local_log_store.h"
#include "kernel/txn/committer.h"

namespace braid::engine {

// Files that statements have written, relative to the table.
struct CommitFiles {
	std::set<std::string> committed;  // a commit may name them, or the committer has deleted them
	bool unknown = false;             // whether there is a commit that names them: none may be deleted
};

// What the kernel's committer needs of a session, for one table. No transaction need be active in `context` (trap 5): gateway and probe bring
// connections of their own.
struct CommitTools {
	CommitTools(duckdb::ClientContext& context, const TableWork& work);

	// The read set as it is judged. `strict` judges by what a statement says, not by what its joins let pass.
	void Complete(ReadSet& reads) const;
	CommitContext Context(Repairer* repairer = nullptr);

	duckdb::ClientContext& context;
	const std::string root;
	CommitOptions options;
	LocalLogStore store;
	DuckdbParquetGateway parquet;
	DuckdbRowProbe probe;
};

// The committed version; null if there was nothing to commit. No transaction is active in `context` here (trap 5): gateway, probe and repairer bring
// connections of their own.
Result<SnapshotPtr> CommitTable(duckdb::ClientContext& context, duckdb::AttachedDatabase& lake,
								LakeTransaction& transaction, TableWork& work, CommitFiles& files);

// Removes the files that statements have written and that no commit names, and directories that were made for them and are empty.
void DiscardFiles(TableWork& work, const std::set<std::string>& kept);

}  // namespace braid::engine
