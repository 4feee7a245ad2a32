// SPDX-License-Identifier: Apache-2.0
#include "kernel/maintenance/vacuum_plan.h"

#include <algorithm>
#include <unordered_set>

#include "kernel/feature/property_table.h"
#include "kernel/log/log_path.h"
#include "kernel/schema/column_mapping.h"
#include "simdjson.h"

namespace braid {

namespace {

constexpr std::string_view kLastVacuumPath = "_delta_log/_last_vacuum_info";
constexpr int64_t kHourMs = 3'600'000;
// Clocks of files and of processes need not agree, and may be put back.
constexpr int64_t kClockSlackMs = 10 * 60'000;
constexpr int64_t kTickMs = 1000;  // files are stamped by a clock of coarse ticks

std::string Hours(int64_t ms) { return std::to_string((ms + kHourMs - 1) / kHourMs); }

std::string_view NameOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Staged by a transaction that is still open: it carries its process's token and is younger than the transaction.
bool IsStaged(const TreeEntry& file, std::span<const Lease> leases) {
	return std::ranges::any_of(leases, [&](const Lease& lease) {
		return lease.oldest_start_ms != Lease::kNothing &&
			   file.modification_time_ms >= lease.oldest_start_ms - kClockSlackMs &&
			   CarriesToken(NameOf(file.path), lease.token);
	});
}

}  // namespace

Status CheckRetention(const std::string& table, const VacuumTerms& terms, bool enforced) {
	if (terms.retention_ms < 0) {
		return Fail(ErrorKind::kInvalidArgument,
					"VACUUM of table " + table +
						": RETAIN takes a number of hours that is not negative, and at most 1000000000");
	}
	if (!enforced || terms.retention_ms >= terms.default_retention_ms) return {};
	return Fail(
		ErrorKind::kInvalidArgument,
		"[DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT] VACUUM of table " + table + ": RETAIN " + Hours(terms.retention_ms) +
			" HOURS is less than the " + Hours(terms.default_retention_ms) +
			" hours of delta.deletedFileRetentionDuration. Files that are younger may be needed by transactions of "
			"other machines and by readers of older versions. Leave out RETAIN, or if you are sure that nobody else "
			"uses the table from another machine: SET braid_retention_check = false");
}

bool IsHiddenFromVacuum(const Snapshot& snapshot, std::string_view name) {
	// Metadata of an Iceberg table over the same files.
	if (name == "metadata" &&
		PropertyValue(snapshot.metadata.configuration, "delta.universalFormat.enabledFormats").find("iceberg") !=
			std::string::npos)
		return true;
	if (!name.starts_with('_') && !name.starts_with('.')) return false;
	if (name == "_change_data") return false;
	return std::ranges::none_of(snapshot.metadata.partition_columns, [&](const std::string& column) {
		const auto field = std::ranges::find(snapshot.schema->fields, column, &Field::name);
		const std::string physical =
			field == snapshot.schema->fields.end() ? column : PhysicalName(*field, snapshot.column_mapping);
		return name.starts_with(column + "=") || name.starts_with(physical + "=");
	});
}

std::string_view ToString(DeletionReason reason) {
	switch (reason) {
		case DeletionReason::kRemoved:
			return "removed";
		case DeletionReason::kUnreferenced:
			return "unreferenced";
		case DeletionReason::kRowMap:
			return "row map";
		case DeletionReason::kEmptyDirectory:
			return "empty directory";
	}
	return "";
}

int64_t FirstNeededCommit(const LogListing& listing, const VacuumTerms& terms, std::span<const Lease> leases) {
	int64_t first = INT64_MAX;
	for (const Lease& lease : leases) {
		if (lease.oldest_version != Lease::kNothing) first = std::min(first, lease.oldest_version + 1);
	}
	if (terms.retention_ms > terms.default_retention_ms)
		first = std::min(first, NewestVersionBefore(listing, terms.cutoff_ms()) + 1);
	if (listing.commits.empty()) return first;
	return std::max(first, listing.commits.front().version);
}

std::vector<Deletion> PlanVacuum(std::span<const TreeEntry> tree, const NeededFiles& needed, const VacuumTerms& terms,
								 std::span<const Lease> leases) {
	std::vector<Deletion> deletions;
	std::unordered_set<std::string_view> in_use;  // directories in which something stays
	const auto stays = [&](const TreeEntry& entry) {
		std::string_view path = entry.path;
		for (size_t slash = path.rfind('/'); slash != std::string_view::npos; slash = path.rfind('/')) {
			path = path.substr(0, slash);
			if (!in_use.insert(path).second) break;
		}
	};
	// From the end: what is in a directory comes before it.
	for (size_t i = tree.size(); i-- > 0;) {
		const TreeEntry& entry = tree[i];
		const bool old = entry.modification_time_ms < terms.cutoff_ms();
		if (entry.kind == TreeKind::kDirectory && old && !in_use.contains(entry.path)) {
			deletions.push_back({entry.path, 0, DeletionReason::kEmptyDirectory});
			continue;
		}
		const bool doomed = entry.kind == TreeKind::kFile && !needed.Contains(entry.path) && old &&
							(needed.WasRemoved(entry.path) || !IsStaged(entry, leases));
		if (doomed) {
			const bool removed = needed.WasRemoved(entry.path);
			deletions.push_back(
				{entry.path, entry.size, removed ? DeletionReason::kRemoved : DeletionReason::kUnreferenced});
		} else {
			stays(entry);
		}
	}
	return deletions;
}

std::vector<Deletion> PlanRowMaps(std::span<const TreeEntry> maps, const VacuumTerms& terms,
								  std::span<const Lease> leases) {
	int64_t limit = terms.cutoff_ms();
	for (const Lease& lease : leases) limit = std::min(limit, lease.oldest_start_ms - kTickMs);
	std::vector<Deletion> deletions;
	for (const TreeEntry& map : maps) {
		if (map.kind == TreeKind::kFile && map.modification_time_ms < limit)
			deletions.push_back({map.path, map.size, DeletionReason::kRowMap});
	}
	return deletions;
}

int64_t NewestVersionBefore(const LogListing& listing, int64_t cutoff_ms) {
	int64_t found = -1, previous = INT64_MIN;
	for (const CommitFile& commit : listing.commits) {
		const int64_t time =
			previous == INT64_MIN ? commit.modification_time : std::max(previous + 1, commit.modification_time);
		if (time > cutoff_ms) break;
		found = commit.version;
		previous = time;
	}
	return found;
}

Result<LiteRange> PlanLite(const LogListing& listing, std::optional<int64_t> vacuumed_to, int64_t expired_to) {
	LiteRange range {vacuumed_to ? *vacuumed_to + 1 : 0, expired_to};
	for (int64_t version = range.first; version <= range.last; version++) {
		if (listing.FindCommit(version)) continue;
		return Fail(ErrorKind::kUnsupported,
					"[DELTA_CANNOT_VACUUM_LITE] VACUUM LITE of table " + listing.table +
						" finds what to delete in the log, but commit " + std::to_string(version) +
						" is gone from it, and no VACUUM has recorded that it came that far. Run VACUUM FULL once.");
	}
	return range;
}

std::optional<int64_t> ReadLastVacuum(LogStore& store) {
	const auto text = store.Read(kLastVacuumPath);
	if (!text) return std::nullopt;
	simdjson::dom::parser parser;
	simdjson::dom::object object;
	int64_t version = 0;
	if (parser.parse(simdjson::padded_string(*text)).get(object) ||
		object["latestCommitVersionOutsideOfRetentionWindow"].get(version) || version < 0)
		return std::nullopt;
	return version;
}

Status WriteLastVacuum(LogStore& store, int64_t version) {
	return store.Put(kLastVacuumPath,
					 "{\"latestCommitVersionOutsideOfRetentionWindow\":" + std::to_string(version) + "}\n");
}

}  // namespace braid
