// SPDX-License-Identifier: Apache-2.0
// What is in _delta_log, and which of it makes up one version: a checkpoint and the commits after it without a gap
// (PROTOCOL: Delta Log Entries, Checkpoints, Log Compaction Files). Temporary and foreign files are ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/storage/log_store.h"

namespace braid {

struct CommitFile {
	int64_t version = 0;
	int64_t modification_time = 0;  // ms; 0 if it was not asked for
};

struct CompactedFile {
	int64_t first = 0, last = 0;
	std::string path;
};

// A complete checkpoint; only v2 ones that are named by UUID may be JSON.
struct CheckpointFiles {
	int64_t version = 0;
	std::vector<std::string> paths;
	bool json = false;
};

struct LogListing {
	std::string table;                // for messages
	std::vector<CommitFile> commits;  // ascending
	std::vector<CompactedFile> compacted;
	std::vector<CheckpointFiles> checkpoints;  // ascending; several of one version are alternatives
	std::string incomplete_checkpoint;         // one with parts missing, for messages

	bool empty() const { return commits.empty() && checkpoints.empty(); }
	int64_t latest() const;  // -1 if empty
	const CommitFile* FindCommit(int64_t version) const;
};

// Everything from `first_version` on. kNotFound: no _delta_log. The times of commits cost a look at each file.
Result<LogListing> ListLog(LogStore& store, const std::string& table, int64_t first_version, bool with_times = false);
// The version that _last_checkpoint names; nullopt if it is missing or unreadable: it is a hint, not a fact.
std::optional<int64_t> ReadLastCheckpointVersion(LogStore& store);

struct LogPiece {
	int64_t first = 0, last = 0;  // equal for a commit
	std::string path;
	bool compacted = false;
};
// The files that lead from after `base_version` (-1: from nothing) to `version`. kCorrupt names the first missing version.
Result<std::vector<LogPiece>> PlanCommits(const LogListing& listing, int64_t base_version, int64_t version,
										  bool use_compacted);
// The oldest version that can still be put together, -1 if none can.
int64_t EarliestVersion(const LogListing& listing);

}  // namespace braid
