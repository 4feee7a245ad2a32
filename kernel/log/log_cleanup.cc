// SPDX-License-Identifier: Apache-2.0
#include "kernel/log/log_cleanup.h"

#include <algorithm>
#include <set>

#include "kernel/feature/property_table.h"
#include "kernel/feature/timestamp_enablement.h"
#include "kernel/log/checkpoint_read.h"
#include "kernel/log/commit_file.h"
#include "kernel/log/log_path.h"

namespace braid {

namespace {

constexpr int64_t kDayMs = 24 * 3'600'000;
constexpr std::string_view kSidecars = "_delta_log/_sidecars";

// The times of the oldest commits, up to the first that has not expired: a log may be long. An in-commit timestamp counts, if it
// is later than the file: it is what time travel goes by.
Result<LogListing> ListOldest(LogStore& store, const Snapshot& snapshot, int64_t cutoff_ms) {
	BRAID_TRY(LogListing listing, ListLog(store, snapshot.table, 0));
	const bool in_commit = HasCommitTimestamps(snapshot.metadata.configuration);
	for (CommitFile& commit : listing.commits) {
		BRAID_TRY(const StoredFile file, store.Stat(CommitPath(commit.version)));
		commit.modification_time = file.modification_time_ms;
		if (in_commit && commit.modification_time <= cutoff_ms) {
			BRAID_TRY(const CommitInfo info, ReadCommitInfo(store, snapshot.table, commit.version));
			commit.modification_time = std::max(commit.modification_time, info.in_commit_timestamp.value_or(0));
		}
		if (commit.modification_time > cutoff_ms) break;
	}
	return listing;
}

// Names of the sidecars that checkpoints need; those of them that are looked for are all that matters.
Result<std::set<std::string>> SidecarsInUse(const SnapshotSource& source, const std::string& table) {
	BRAID_TRY(const LogListing listing, ListLog(source.store, table, 0));
	std::set<std::string> used;
	for (const CheckpointFiles& checkpoint : listing.checkpoints) {
		BRAID_TRY(const std::vector<SidecarFile> sidecars,
				  ReadSidecarList(source.store, source.parquet, table, checkpoint));
		for (const SidecarFile& sidecar : sidecars) {
			const std::string path = DecodePath(sidecar.path);
			used.insert(path.substr(path.rfind('/') + 1));
		}
	}
	return used;
}

// One that is young may belong to a checkpoint that is being written.
Status CleanSidecars(const SnapshotSource& source, const std::string& table, int64_t cutoff_ms) {
	Result<std::vector<StoredFile>> files = source.store.List(kSidecars, "");
	if (!files && files.error().kind == ErrorKind::kNotFound) return {};
	BRAID_TRY(std::vector<StoredFile> old, std::move(files));
	std::erase_if(old, [&](const StoredFile& f) { return f.is_directory || f.modification_time_ms >= cutoff_ms; });
	if (old.empty()) return {};
	BRAID_TRY(const std::set<std::string> used, SidecarsInUse(source, table));
	for (const StoredFile& file : old) {
		if (!used.contains(file.name)) BRAID_TRY(source.store.Delete(SidecarPath(file.name)));
	}
	return {};
}

}  // namespace

int64_t LogCutoff(const Snapshot& snapshot, int64_t now_ms) {
	const int64_t end = now_ms - PropertyInteger(snapshot.metadata.configuration, "delta.logRetentionDuration");
	return end >= 0 ? end - end % kDayMs : INT64_MIN;
}

int64_t FirstVersionToKeep(const LogListing& listing, int64_t cutoff_ms, int64_t oldest_pin) {
	// A version's time is its file's, made strictly rising (kernel/snapshot/time_travel.cc). A commit whose time hangs on the one before it would get
	// another if that went: so it is cut only before one that does not.
	int64_t first_kept = -1, time = INT64_MIN;
	const std::vector<CommitFile>& commits = listing.commits;
	for (size_t i = 0; i < commits.size(); i++) {
		const bool hangs = i > 0 && commits[i].modification_time <= time;
		if (!hangs) first_kept = commits[i].version;
		time = hangs ? time + 1 : commits[i].modification_time;
		if (time > cutoff_ms) break;  // the times of later ones are not known
	}
	first_kept = std::min(first_kept, oldest_pin);
	int64_t checkpoint = -1;
	for (const CheckpointFiles& candidate : listing.checkpoints) {
		if (candidate.version <= first_kept) checkpoint = candidate.version;
	}
	return checkpoint;
}

// The oldest versions go first, so that what is left is whole at any moment: a checkpoint after the commits that lead to the next one.
Status DeleteLogBefore(LogStore& store, int64_t version) {
	BRAID_TRY(const auto files, store.ListNames(kLogDirectory, ""));
	for (const StoredFile& file : files) {
		const auto name = ParseLogFileName(file.name);
		if (!name || file.is_directory || name->version >= version) continue;
		BRAID_TRY(store.Delete(LogPath(file.name)));
	}
	return {};
}

Status CleanLog(const SnapshotSource& source, const Snapshot& snapshot, int64_t now_ms, int64_t oldest_pin) {
	const Configuration& configuration = snapshot.metadata.configuration;
	if (!PropertyEnabled(configuration, "delta.enableExpiredLogCleanup")) return {};
	const int64_t cutoff = LogCutoff(snapshot, now_ms);
	BRAID_TRY(const LogListing listing, ListOldest(source.store, snapshot, cutoff));
	const int64_t first = FirstVersionToKeep(listing, cutoff, oldest_pin);
	// PROTOCOL: Checkpoint Protection: what lies before that version goes at once or not at all.
	if (first < PropertyInteger(configuration, "delta.requireCheckpointProtectionBeforeVersion")) return {};
	const bool any =
		first > 0 && (listing.commits.front().version < first || listing.checkpoints.front().version < first);
	if (!any) return {};
	BRAID_TRY(DeleteLogBefore(source.store, first));
	return CleanSidecars(source, snapshot.table, cutoff);
}

}  // namespace braid
