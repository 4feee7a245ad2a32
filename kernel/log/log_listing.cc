// SPDX-License-Identifier: Apache-2.0
#include "kernel/log/log_listing.h"

#include <algorithm>
#include <map>

#include "base/json.h"
#include "kernel/log/log_path.h"
#include "simdjson.h"

namespace braid {

namespace {

using PartsKey = std::pair<int64_t, int>;  // version, number of parts
using PartsFound = std::map<PartsKey, std::vector<std::pair<int, StoredFile>>>;

void TakeCheckpoint(const StoredFile& file, const LogFileName& name, LogListing& listing) {
	listing.checkpoints.push_back({name.version, {LogPath(file.name)}, name.json});
}

void TakeParts(const PartsFound& found, LogListing& listing) {
	for (const auto& [key, parts] : found) {
		CheckpointFiles checkpoint;
		checkpoint.version = key.first;
		for (const auto& [part, file] : parts) checkpoint.paths.push_back(LogPath(file.name));
		if (std::ssize(parts) == key.second) {
			listing.checkpoints.push_back(std::move(checkpoint));
		} else {
			listing.incomplete_checkpoint = "checkpoint " + std::to_string(key.first) + " is incomplete (" +
											std::to_string(parts.size()) + " of " + std::to_string(key.second) +
											" parts)";
		}
	}
}

// The longest compacted file that starts at `first` and does not go beyond `version`.
const CompactedFile* FindCompacted(const LogListing& listing, int64_t first, int64_t version) {
	const CompactedFile* best = nullptr;
	for (const CompactedFile& file : listing.compacted) {
		if (file.first == first && file.last <= version && (best == nullptr || file.last > best->last)) best = &file;
	}
	return best;
}

}  // namespace

int64_t LogListing::latest() const {
	return std::max(commits.empty() ? -1 : commits.back().version,
					checkpoints.empty() ? -1 : checkpoints.back().version);
}

const CommitFile* LogListing::FindCommit(int64_t version) const {
	const auto found = std::lower_bound(commits.begin(), commits.end(), version,
										[](const CommitFile& file, int64_t wanted) { return file.version < wanted; });
	return found == commits.end() || found->version != version ? nullptr : &*found;
}

Result<LogListing> ListLog(LogStore& store, const std::string& table, int64_t first_version, bool with_times) {
	const std::string first_name = VersionPrefix(first_version);
	Result<std::vector<StoredFile>> files =
		with_times ? store.List(kLogDirectory, first_name) : store.ListNames(kLogDirectory, first_name);
	if (!files && files.error().kind == ErrorKind::kNotFound) {
		return Fail(ErrorKind::kNotFound, table + " is not a Delta table: it has no _delta_log");
	}
	BRAID_TRY(std::vector<StoredFile> stored, std::move(files));
	LogListing listing;
	listing.table = table;
	PartsFound parts;
	for (StoredFile& file : stored) {
		const std::optional<LogFileName> name = ParseLogFileName(file.name);
		if (!name || file.is_directory) continue;
		switch (name->kind) {
			case LogFileKind::kCommit:
				listing.commits.push_back({name->version, file.modification_time_ms});
				break;
			case LogFileKind::kCompacted:
				listing.compacted.push_back({name->version, name->last_version, LogPath(file.name)});
				break;
			case LogFileKind::kClassicCheckpoint:
			case LogFileKind::kUuidCheckpoint:
				TakeCheckpoint(file, *name, listing);
				break;
			case LogFileKind::kMultiPartCheckpoint:
				parts[{name->version, name->parts}].emplace_back(name->part, std::move(file));
				break;
			case LogFileKind::kChecksum:
				break;
		}
	}
	TakeParts(parts, listing);
	std::stable_sort(listing.checkpoints.begin(), listing.checkpoints.end(),
					 [](const CheckpointFiles& a, const CheckpointFiles& b) { return a.version < b.version; });
	return listing;
}

std::optional<int64_t> ReadLastCheckpointVersion(LogStore& store) {
	const Result<std::string> text = store.Read(kLastCheckpointPath);
	if (!text) return std::nullopt;
	simdjson::dom::parser parser;
	simdjson::dom::object object;
	int64_t version = 0;
	if (parser.parse(simdjson::padded_string(*text)).get(object) || object["version"].get(version) || version < 0)
		return std::nullopt;
	return version;
}

Result<std::vector<LogPiece>> PlanCommits(const LogListing& listing, int64_t base_version, int64_t version,
										  bool use_compacted) {
	std::vector<LogPiece> pieces;
	for (int64_t next = base_version + 1; next <= version;) {
		const CommitFile* commit = listing.FindCommit(next);
		const CompactedFile* compacted =
			use_compacted || commit == nullptr ? FindCompacted(listing, next, version) : nullptr;
		if (compacted != nullptr && (compacted->last > next || commit == nullptr)) {
			pieces.push_back({next, compacted->last, compacted->path, true});
			next = compacted->last + 1;
			continue;
		}
		if (commit == nullptr) {
			std::string message = "table " + listing.table + ": commit " + std::to_string(next) +
								  " is missing from the log, version " + std::to_string(version) +
								  " cannot be put together";
			if (base_version < 0) message += " (no usable checkpoint)";
			if (!listing.incomplete_checkpoint.empty()) message += "; " + listing.incomplete_checkpoint;
			return Fail(ErrorKind::kCorrupt, std::move(message));
		}
		pieces.push_back({next, next, CommitPath(next), false});
		++next;
	}
	return pieces;
}

int64_t EarliestVersion(const LogListing& listing) {
	if (listing.FindCommit(0) != nullptr || FindCompacted(listing, 0, listing.latest()) != nullptr) return 0;
	return listing.checkpoints.empty() ? -1 : listing.checkpoints.front().version;
}

}  // namespace braid
