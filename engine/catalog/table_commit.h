// SPDX-License-Identifier: Apache-2.0
// The commit of what a transaction has staged on its table: the kernel's committer with the engine's answers to its questions, the session's
// settings, and a record of the outcome for the session.
#pragma once

#include <set>
#include <string>

#include "duckdb/main/attached_database.hpp"
#include "engine/catalog/transaction.h"

namespace braid::engine {

// Files that statements have written, relative to the table.
struct CommitFiles {
	std::set<std::string> committed;  // a commit may name them, or the committer has deleted them
	bool unknown = false;             // whether there is a commit that names them: none may be deleted
};

// No transaction is active in `context` here (trap 5): gateway, probe and repairer bring connections of their own.
Status CommitTable(duckdb::ClientContext& context, duckdb::AttachedDatabase& lake, LakeTransaction& transaction,
				   TableWork& work, CommitFiles& files);

// Removes the files that statements have written and that no commit names, and directories that were made for them and are empty.
void DiscardFiles(TableWork& work, const std::set<std::string>& kept);

}  // namespace braid::engine
