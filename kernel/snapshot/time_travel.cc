// SPDX-License-Identifier: Apache-2.0
// The version that was the newest at a point in time (PROTOCOL: In-Commit Timestamps, "Recommendations for Readers of Tables with
// In-Commit Timestamps"). Without in-commit timestamps a version's time is its file's modification time, made strictly rising.
#include <algorithm>

#include "kernel/feature/property_table.h"
#include "kernel/feature/timestamp_enablement.h"
#include "kernel/log/commit_file.h"
#include "kernel/log/log_listing.h"
#include "kernel/snapshot/snapshot.h"
#include "kernel/snapshot/table_name.h"

namespace braid {

namespace {

constexpr int64_t kNone = -1;

Result<int64_t> InCommitTimestamp(LogStore& store, const std::string& table, int64_t version) {
	BRAID_TRY(const CommitInfo info, ReadCommitInfo(store, table, version));
	if (info.in_commit_timestamp) return *info.in_commit_timestamp;
	return Fail(ErrorKind::kCorrupt, CommitName(table, version) +
										 ": in-commit timestamps are enabled, but the commit has no inCommitTimestamp");
}

// The last of commits [begin, end) that is not after `timestamp`, by file times; kNone if all are.
int64_t FindByFileTime(const LogListing& listing, int64_t begin, int64_t end, int64_t timestamp) {
	int64_t found = kNone;
	int64_t previous = INT64_MIN;
	for (const CommitFile& commit : listing.commits) {
		if (commit.version < begin || commit.version >= end) continue;
		const int64_t time =
			previous == INT64_MIN ? commit.modification_time : std::max(previous + 1, commit.modification_time);
		if (time > timestamp) break;
		found = commit.version;
		previous = time;
	}
	return found;
}

// The same by in-commit timestamps, which rise strictly; commits are contiguous in the range.
Result<int64_t> FindByInCommitTime(LogStore& store, const LogListing& listing, int64_t begin, int64_t end,
								   int64_t timestamp) {
	int64_t found = kNone;
	while (begin < end) {
		const int64_t middle = begin + (end - begin) / 2;
		BRAID_TRY(const int64_t time, InCommitTimestamp(store, listing.table, middle));
		if (time <= timestamp) {
			found = middle;
			begin = middle + 1;
		} else {
			end = middle;
		}
	}
	return found;
}

// The oldest version that can be read and whose commit, like those of all later ones, is still there to tell its time.
int64_t FirstTimed(const LogListing& listing) {
	int64_t first = listing.commits.back().version;
	while (listing.FindCommit(first - 1) != nullptr) --first;
	return std::max(first, EarliestVersion(listing));
}

}  // namespace

Result<SnapshotPtr> LoadSnapshotAt(const SnapshotSource& source, int64_t timestamp_ms) {
	BRAID_TRY(const SnapshotPtr latest, LoadSnapshot(source));
	BRAID_TRY(const LogListing listing, ListLog(source.store, TableName(source.store), 0, true));
	const Configuration& configuration = latest->metadata.configuration;
	if (listing.commits.empty()) {
		if (timestamp_ms >= latest->timestamp) return latest;
		return Fail(ErrorKind::kNotFound, "table " + latest->table +
											  " has no version that old: the earliest is version " +
											  std::to_string(latest->version));
	}
	const int64_t first = FirstTimed(listing);
	const int64_t end = latest->version + 1;
	int64_t enabled_from = end;  // in-commit timestamps count from this version on
	if (HasCommitTimestamps(configuration)) {
		enabled_from = std::max(first, PropertyInteger(configuration, "delta.inCommitTimestampEnablementVersion"));
	}
	int64_t version = kNone;
	if (enabled_from < end) {
		BRAID_TRY(version, FindByInCommitTime(source.store, listing, enabled_from, end, timestamp_ms));
	}
	if (version == kNone) version = FindByFileTime(listing, first, enabled_from, timestamp_ms);
	if (version == latest->version) return latest;
	if (version != kNone) return LoadSnapshot(source, version);
	return Fail(ErrorKind::kNotFound, "table " + latest->table + " has no version at or before " +
										  std::to_string(timestamp_ms) +
										  " ms since the epoch: the earliest version that can be read is " +
										  std::to_string(first) + ", the latest " + std::to_string(latest->version));
}

}  // namespace braid
