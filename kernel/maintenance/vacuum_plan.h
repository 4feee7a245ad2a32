// SPDX-License-Identifier: Apache-2.0
// What VACUUM may delete: a file below the table's root that no version younger than the retention and no lease needs, and that is itself older than
// the retention. Names that begin with _ or . are nobody's business here (but _change_data, and partitions of a column that begins so), links and
// tables inside of the table neither.
//
// Steps of a VACUUM, in this order (why: kernel/storage/table_lease.h): 1. fix the newest version; 2. list the directory; 3. read the leases;
// 4. read the commits from the oldest lease's version on, and those that came since 1; 5. this plan. A file that was staged when 2 saw it is either
// its writer's whose lease 3 has seen, or named by a commit that 4 reads, or nobody's any more.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/log/log_listing.h"
#include "kernel/maintenance/needed_files.h"
#include "kernel/storage/directory_tree.h"
#include "kernel/storage/table_lease.h"

namespace braid {

struct VacuumTerms {
	int64_t retention_ms = 0;
	int64_t default_retention_ms = 0;  // delta.deletedFileRetentionDuration
	int64_t now_ms = 0;
	int64_t cutoff_ms() const { return now_ms - retention_ms; }
};

// kInvalidArgument: what is to be kept is kept for less than the table wants, or less than no time.
Status CheckRetention(const std::string& table, const VacuumTerms& terms, bool enforced);

// Which names a walk over the table does not enter or look at.
bool IsHiddenFromVacuum(const Snapshot& snapshot, std::string_view name);

enum class DeletionReason { kRemoved, kUnreferenced, kRowMap, kEmptyDirectory };
std::string_view ToString(DeletionReason reason);

struct Deletion {
	std::string path;  // relative
	int64_t size = 0;
	DeletionReason reason = DeletionReason::kUnreferenced;
};

// The first commit whose files are needed though the newest version does not say so: of versions that leases pin, and of those younger than a
// retention longer than the table's own, whose removes checkpoints have forgotten.
int64_t FirstNeededCommit(const LogListing& listing, const VacuumTerms& terms, std::span<const Lease> leases);

// Files and directories of the tree in the order in which they may go: a directory after what is in it.
std::vector<Deletion> PlanVacuum(std::span<const TreeEntry> tree, const NeededFiles& needed, const VacuumTerms& terms,
								 std::span<const Lease> leases);
// Row maps (_braid/map): older than the retention, and than every transaction that might still follow rows through them.
std::vector<Deletion> PlanRowMaps(std::span<const TreeEntry> maps, const VacuumTerms& terms,
								  std::span<const Lease> leases);

// VACUUM LITE. What was removed up to a version is gone after a VACUUM; the next one goes on from there (_delta_log/_last_vacuum_info).
struct LiteRange {
	int64_t first = 0, last = -1;  // commits whose removes may have expired
};
// kUnsupported: [DELTA_CANNOT_VACUUM_LITE], the log no longer tells everything.
Result<LiteRange> PlanLite(const LogListing& listing, std::optional<int64_t> vacuumed_to, int64_t expired_to);
// The newest version that is at least as old as the cutoff, -1 if none.
int64_t NewestVersionBefore(const LogListing& listing, int64_t cutoff_ms);
std::optional<int64_t> ReadLastVacuum(LogStore& store);
Status WriteLastVacuum(LogStore& store, int64_t version);

}  // namespace braid
