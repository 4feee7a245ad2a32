// SPDX-License-Identifier: Apache-2.0
#include "kernel/maintenance/auto_compaction.h"

#include <map>

#include "base/ascii.h"
#include "kernel/feature/property_table.h"
#include "kernel/snapshot/partition_key.h"

namespace braid {

// `auto` lets other engines choose the target size; `legacy` is an old name of `true`.
bool CompactsItself(const Configuration& configuration) {
	const std::string value = PropertyValue(configuration, "delta.autoOptimize.autoCompact");
	if (value.empty()) return PropertyEnabled(configuration, "delta.autoOptimize");
	return !SameIgnoringCase(value, "false");
}

std::vector<const LiveFile*> CrowdingFiles(const Snapshot& table, const std::set<std::string>& partitions,
										   size_t min_files) {
	const int64_t small = PropertyBytes(table.metadata.configuration, "delta.targetFileSize") / 2;
	PartitionKeys keys(table);
	std::map<std::string_view, std::vector<const LiveFile*>> found;
	for (const LiveFile* file : table.files->Files()) {
		if (file->size >= small) continue;
		const std::string& key = keys.Of(*file);
		if (partitions.contains(key)) found[key].push_back(file);
	}
	std::vector<const LiveFile*> crowding;
	for (auto& [key, files] : found) {
		if (files.size() >= min_files) crowding.insert(crowding.end(), files.begin(), files.end());
	}
	return crowding;
}

}  // namespace braid
