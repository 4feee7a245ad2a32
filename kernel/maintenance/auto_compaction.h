// SPDX-License-Identifier: Apache-2.0
// When a table is compacted after a commit by itself (delta.autoOptimize.autoCompact), and what of it: small files of the partitions that the commit has
// touched, where there are many. Small is what is below half of the target size, as in Spark.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "kernel/action/actions.h"
#include "kernel/snapshot/snapshot.h"

namespace braid {

bool CompactsItself(const Configuration& configuration);

// The small files of those of the `partitions` (by PartitionKey) that have at least `min_files` of them.
std::vector<const LiveFile*> CrowdingFiles(const Snapshot& table, const std::set<std::string>& partitions,
										   size_t min_files);

}  // namespace braid
