// SPDX-License-Identifier: Apache-2.0
// HistoryReader: the commits of a log with their provenance (PROTOCOL: Commit Provenance Information), newest first. No snapshot is needed: a
// commit file is read when it is asked for, and only up to its commitInfo. Commits that were cleaned up end the history.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/action/actions.h"
#include "kernel/storage/log_store.h"

namespace braid {

// Objects of other writers that we keep as they are: field -> its text.
using ForeignFields = std::map<std::string, std::string>;

struct CommitRecord {
	int64_t version = 0;
	int64_t timestamp = 0;           // ms: in-commit if the commit has one, else the file's, made strictly rising
	std::optional<CommitInfo> info;  // nullopt: the commit has none
	std::optional<std::string> user_id, user_name, cluster_id;
	std::optional<ForeignFields> job, notebook;
};

class HistoryReader {
public:
	// kNotFound: not a Delta table.
	static Result<HistoryReader> Open(LogStore& store);
	// The next older commit; nullopt: that was the oldest.
	Result<std::optional<CommitRecord>> Next();

private:
	struct Commit {
		int64_t version, timestamp;
	};
	explicit HistoryReader(LogStore& store) : store_(&store) {}

	LogStore* store_;
	std::string table_;
	std::vector<Commit> commits_;  // oldest first; the last one is next
};

}  // namespace braid
