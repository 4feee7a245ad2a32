// SPDX-License-Identifier: Apache-2.0
// Row rebase: the actions of a transaction as they must read on top of the newest version.
// Guarantees: removes name the live (path, vector) of that version; vectors are united with the
// live ones; a path that is gone is never added again; at most one add and one remove per path. Precondition: the
// transaction may commit on that version (conflict.h).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/environment.h"
#include "kernel/txn/conflict.h"
#include "kernel/txn/transaction.h"
#include "kernel/txn/vector_cache.h"

namespace braid {

struct RebaseCounts {
	int64_t files_added = 0, bytes_added = 0, rows_added = 0;
	int64_t files_removed = 0, bytes_removed = 0;                         // only files that are gone altogether
	int64_t vectors_added = 0, vectors_removed = 0, vectors_updated = 0;  // an updated one counts in all three
	int64_t rows_deleted = 0;
	int64_t rows_rebased = 0;  // rows whose vector had grown since we read it
};

// Where the staged changes of a transaction apply in the newest version.
struct RebasePlan {
	std::map<std::string, PositionSet> deleted_rows;  // by path as in the log, relocated
	std::vector<std::string> replaced_files;
	std::vector<PositionSet> masks;  // by new file: rows that are not to appear; or none at all
	std::vector<bool> dropped;       // by new file: not to be added; or none at all
	SurvivingAppends survivors;
};
RebasePlan PlanAsStaged(const Transaction& transaction);

struct RebasedCommit {
	std::vector<Action> actions;  // all but commitInfo
	RebaseCounts counts;
	std::vector<std::string> dropped_files;  // own new files of which no row is left

	bool Empty() const { return actions.empty(); }
};

class ActionList;
class RowIdAssigner;

class RowRebase {
public:
	RowRebase(LogStore& store, Random& random, VectorCache& vectors, const std::string& lease_token)
		: store_(store), random_(random), vectors_(vectors), lease_token_(lease_token) {}

	// `head` is null for the first version. Vectors are written but not yet durable.
	Result<RebasedCommit> Onto(const Transaction& transaction, const RebasePlan& plan, const Snapshot* head,
							   int64_t version, int64_t now_ms);
	// Vector files that the last rebase names; those of earlier attempts are deleted as soon as nothing needs them.
	std::vector<std::string> vector_files() const;
	// After a definite failure: none of our vectors is referred to.
	void DeleteVectorFiles();

private:
	struct Prepared {
		std::string over;  // unique id of the vector that ours was united with
		PositionSet rows;  // the union
		DvDescriptor vector;
	};
	struct Target {
		AddFile live;  // newest entry; its own vector is what ours is united with
		PositionSet rows;
		int64_t physical_rows = 0;
	};
	Result<std::map<std::string, Target>> Targets(const Transaction& transaction, const RebasePlan& plan,
												  const Snapshot* head) const;
	Status DeleteRows(const Transaction& transaction, const RebasePlan& plan,
					  const std::map<std::string, Target>& targets, ActionList& list) const;
	Status AddNewFiles(const Transaction& transaction, const RebasePlan& plan, RowIdAssigner& row_ids,
					   ActionList& list) const;
	Status WriteVectors(const std::map<std::string, Target>& targets);
	void DeleteStaleFiles();

	LogStore& store_;
	Random& random_;
	VectorCache& vectors_;
	const std::string lease_token_;
	std::map<std::string, Prepared> prepared_;  // by path as in the log
	std::set<std::string> written_;             // vector files on storage
};

}  // namespace braid
