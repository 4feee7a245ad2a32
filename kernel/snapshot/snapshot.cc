// SPDX-License-Identifier: Apache-2.0
#include "kernel/snapshot/snapshot.h"

#include <algorithm>

#include "kernel/feature/property_table.h"
#include "kernel/log/checkpoint_read.h"
#include "kernel/log/checksum.h"
#include "kernel/log/commit_file.h"
#include "kernel/log/log_listing.h"
#include "kernel/log/log_path.h"
#include "kernel/snapshot/replay.h"
#include "kernel/snapshot/table_name.h"

namespace braid {

namespace {

// What a load attempt came to: a snapshot, an error that ends it all, or an error of a checkpoint or compacted file that older files may make good.
struct Attempt {
	Result<SnapshotPtr> result;
	bool other_files_may_help = false;
};

Attempt Final(Error error) { return {std::unexpected(std::move(error)), false}; }
Attempt TryOthers(Error error) { return {std::unexpected(std::move(error)), true}; }

// The timestamp of a version whose own commit was not among the files replayed.
void FindInCommitTimestamp(LogStore& store, const LogListing& listing, int64_t version, Replay& replay) {
	if (replay.in_commit_timestamp || !replay.InCommitTimestampsEnabled()) return;
	if (listing.FindCommit(version) != nullptr) {
		if (const Result<CommitInfo> info = ReadCommitInfo(store, listing.table, version))
			replay.in_commit_timestamp = info->in_commit_timestamp;
	} else {
		replay.in_commit_timestamp = ReadChecksumTimestamp(store, version);
	}
}

// When the last part of a checkpoint was written; 0 if there is none.
int64_t TimeOf(LogStore& store, const CheckpointFiles* checkpoint) {
	int64_t newest = 0;
	for (const std::string& path : checkpoint ? checkpoint->paths : std::vector<std::string> {}) {
		if (const Result<StoredFile> file = store.Stat(path)) newest = std::max(newest, file->modification_time_ms);
	}
	return newest;
}

Attempt LoadFrom(const SnapshotSource& source, const LogListing& listing, int64_t version,
				 const CheckpointFiles* checkpoint, bool use_compacted) {
	const int64_t base_version = checkpoint == nullptr ? -1 : checkpoint->version;
	Result<std::vector<LogPiece>> pieces = PlanCommits(listing, base_version, version, use_compacted);
	if (!pieces) return TryOthers(std::move(pieces).error());
	Replay replay(listing.table);
	if (checkpoint != nullptr) {
		replay.BeginCheckpoint(checkpoint->version);
		Status status = ReadCheckpoint(source.store, source.parquet, listing.table, *checkpoint, replay);
		if (!status) return TryOthers(std::move(status).error());
	}
	ActionReader reader("", replay);
	for (const LogPiece& piece : *pieces) {
		replay.BeginCommits(piece.last, piece.compacted);
		std::string name = piece.compacted ? "table " + listing.table + ", compacted commits " + piece.path
										   : CommitName(listing.table, piece.last);
		Status status = ReadActionFile(source.store, piece.path, std::move(name), reader);
		if (!status) return piece.compacted ? TryOthers(std::move(status).error()) : Final(std::move(status).error());
	}
	FindInCommitTimestamp(source.store, listing, version, replay);
	if (listing.FindCommit(version) == nullptr) return {replay.Finish({}, TimeOf(source.store, checkpoint))};
	const Result<StoredFile> commit = source.store.Stat(CommitPath(version));
	if (!commit) return TryOthers(commit.error());
	const int64_t written_ms = commit->modification_time_ms;
	return {replay.Finish({commit->size, written_ms}, written_ms)};
}

// The newest checkpoint first, then older ones, then the commits alone; compacted commits where there are any.
Attempt LoadVersion(const SnapshotSource& source, const LogListing& listing, int64_t version) {
	std::vector<const CheckpointFiles*> candidates = {nullptr};
	for (const CheckpointFiles& checkpoint : listing.checkpoints) {
		if (checkpoint.version <= version) candidates.push_back(&checkpoint);
	}
	std::optional<Attempt> first_failure;
	for (auto checkpoint = candidates.rbegin(); checkpoint != candidates.rend(); ++checkpoint) {
		for (const bool use_compacted : {true, false}) {
			if (use_compacted && listing.compacted.empty()) continue;
			Attempt attempt = LoadFrom(source, listing, version, *checkpoint, use_compacted);
			if (attempt.result || !attempt.other_files_may_help) return attempt;
			if (!first_failure) first_failure = std::move(attempt);
		}
	}
	return *std::move(first_failure);
}

std::unexpected<Error> NoSuchVersion(const LogListing& listing, int64_t version) {
	const int64_t earliest = EarliestVersion(listing);
	const std::string available =
		"versions " + std::to_string(earliest) + " to " + std::to_string(listing.latest()) + " can be read";
	std::string reason =
		version > listing.latest() ? " does not exist" : " is no longer available (its log was cleaned up)";
	return Fail(ErrorKind::kNotFound,
				"version " + std::to_string(version) + " of table " + listing.table + reason + ": " + available);
}

// A listing that starts at the checkpoint that _last_checkpoint names serves most loads; nullopt if it cannot.
std::optional<Result<SnapshotPtr>> LoadFromHint(const SnapshotSource& source, const std::string& table,
												std::optional<int64_t> version) {
	const std::optional<int64_t> hint = ReadLastCheckpointVersion(source.store);
	if (!hint || *hint == 0 || (version && *hint > *version)) return std::nullopt;
	const Result<LogListing> listing = ListLog(source.store, table, *hint);
	if (!listing || listing->checkpoints.empty()) return std::nullopt;
	if (version && *version > listing->latest()) return std::nullopt;
	Attempt attempt = LoadVersion(source, *listing, version.value_or(listing->latest()));
	if (!attempt.result && attempt.other_files_may_help) return std::nullopt;
	return std::move(attempt.result);
}

}  // namespace

Result<SnapshotPtr> LoadSnapshot(const SnapshotSource& source, std::optional<int64_t> version) {
	const std::string table = TableName(source.store);
	if (version && *version < 0) {
		return Fail(ErrorKind::kInvalidArgument, "version " + std::to_string(*version) + " of table " + table +
													 " makes no sense: versions start at 0");
	}
	if (auto loaded = LoadFromHint(source, table, version)) return *std::move(loaded);
	BRAID_TRY(const LogListing listing, ListLog(source.store, table, 0));
	if (listing.empty()) {
		std::string message = table + " is not a Delta table: its _delta_log has no commit";
		if (listing.incomplete_checkpoint.empty()) return Fail(ErrorKind::kNotFound, std::move(message));
		return Fail(ErrorKind::kCorrupt,
					"table " + table + ": " + listing.incomplete_checkpoint + " and there are no commits to replay");
	}
	if (version && (*version > listing.latest() || (EarliestVersion(listing) > *version)))
		return NoSuchVersion(listing, *version);
	return LoadVersion(source, listing, version.value_or(listing.latest())).result;
}

Result<SnapshotPtr> ApplyCommit(const SnapshotPtr& base, std::string_view commit_bytes, int64_t modification_time_ms) {
	Replay replay(*base);
	const int64_t version = base->version + 1;
	replay.BeginCommits(version, false);
	ActionReader reader(CommitName(base->table, version), replay);
	BRAID_TRY(reader.Feed(commit_bytes));
	BRAID_TRY(reader.Finish());
	return replay.Finish({static_cast<int64_t>(commit_bytes.size()), modification_time_ms}, modification_time_ms);
}

Result<SnapshotPtr> RefreshSnapshot(const SnapshotSource& source, const SnapshotPtr& base) {
	// If the base's own commit is gone or another one, the log was cleaned up behind us or the table made anew.
	const Result<StoredFile> own = source.store.Stat(CommitPath(base->version));
	if (!own || own->size != base->commit_size ||
		(base->commit_modification_time >= 0 && own->modification_time_ms != base->commit_modification_time)) {
		return LoadSnapshot(source);
	}
	SnapshotPtr newest = base;
	for (;;) {
		const std::string path = CommitPath(newest->version + 1);
		const Result<std::string> bytes = source.store.Read(path);
		if (!bytes && bytes.error().kind == ErrorKind::kNotFound) return newest;
		if (!bytes) return std::unexpected(bytes.error());
		BRAID_TRY(const StoredFile file, source.store.Stat(path));
		BRAID_TRY(newest, ApplyCommit(newest, *bytes, file.modification_time_ms));
	}
}

std::string PropertyOf(const Metadata& metadata, const std::string& key) {
	return PropertyValue(metadata.configuration, key);
}

}  // namespace braid
