// SPDX-License-Identifier: Apache-2.0
// Which files an OPTIMIZE or REORG rewrites, and which of them together: bins of files of one partition, no larger than the target size, or
// all of a partition where rows are put in order. Small
// files and files with many deleted rows are chosen; a file that would be rewritten alone, and loses no deleted rows by it, is left alone, so
// that a second run finds nothing to do.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "kernel/snapshot/snapshot.h"

namespace braid {

enum class Rewrite {
	kSmallOrDeleted,  // OPTIMIZE
	kDeleted,         // REORG .. APPLY (PURGE): every file that has a deletion vector, or a column that was dropped
	kUnclustered,  // OPTIMIZE of a clustered table: files that no clustering wrote, and clustered ones that are small
	kAll,          // ZORDER BY, OPTIMIZE FULL: every file
};

// What a file says that was written along the clustering columns (PROTOCOL: Clustered Table).
inline constexpr std::string_view kClusteringProvider = "liquid";

struct Bin {
	std::vector<const LiveFile*> files;
	int64_t bytes = 0;
};

using PathSet = std::set<std::string, std::less<>>;

// `files` of the snapshot; the answer points to them. Bins stand in the order of their partitions' values. `also`: paths of files that are chosen
// in any case, because they hold columns that were dropped.
std::vector<Bin> PlanBins(const Snapshot& table, std::span<const LiveFile* const> files, Rewrite rewrite,
						  int64_t target_bytes, const PathSet& also = {});

}  // namespace braid
