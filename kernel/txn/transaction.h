// SPDX-License-Identifier: Apache-2.0
// A transaction on one table: the snapshot it reads, what it read, what it wants to change. Owned by one client, by value.
// The engine fills it; kernel/txn/committer.h commits it.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "kernel/snapshot/snapshot.h"
#include "kernel/txn/read_set.h"
#include "kernel/txn/staged_changes.h"

namespace braid {

struct Transaction {
	SnapshotPtr base;  // null: the table does not exist yet (version 0 will be tried)
	ReadSet reads;
	ConditionTraits conditions;
	StagedChanges changes;
	// Its effect is the sum of its effects on single rows, and every new image tells its origin: mode max may repair it.
	bool row_local = false;
	bool create_if_not_exists = false;  // if somebody makes the same table meanwhile, our rows go into his
	bool yields_to_creator = false;     // if somebody makes any table there meanwhile, there is nothing to do
	bool repaired_by_rerun = false;     // mode max may execute it again as a whole (Repairer::RunAgain)
	std::string operation;              // "WRITE", "DELETE", "UPDATE", "MERGE", "CREATE TABLE", ...
	std::map<std::string, std::string> operation_parameters;  // values are JSON text
	std::map<std::string, std::string> operation_metrics;
	std::optional<std::string> user_metadata;  // free text of the user, kept in commitInfo
};

}  // namespace braid
