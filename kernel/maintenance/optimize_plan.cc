// SPDX-License-Identifier: Apache-2.0
#include "kernel/maintenance/optimize_plan.h"

#include <algorithm>
#include <map>

#include "kernel/snapshot/partition_key.h"
#include "kernel/stats/file_stats.h"

namespace braid {

// From this share on a file is rewritten for the sake of its deleted rows, as Spark does.
static constexpr double kManyDeleted = 0.05;

static bool HasManyDeleted(const LiveFile& file) {
	if (!file.deletion_vector) return false;
	const std::optional<int64_t> rows = NumRecords(file.stats);
	return !rows || static_cast<double>(file.deletion_vector->cardinality) > kManyDeleted * static_cast<double>(*rows);
}

static bool IsOrdered(Rewrite rewrite) { return rewrite == Rewrite::kAll || rewrite == Rewrite::kUnclustered; }

static bool IsChosen(const LiveFile& file, Rewrite rewrite, int64_t target_bytes) {
	if (rewrite == Rewrite::kAll) return true;
	if (rewrite == Rewrite::kDeleted) return file.deletion_vector != nullptr;
	if (rewrite == Rewrite::kUnclustered && file.clustering_provider != kClusteringProvider) return true;
	const int64_t small = rewrite == Rewrite::kUnclustered ? target_bytes / 2 : target_bytes;
	return file.size < small || HasManyDeleted(file);
}

static bool IsWorthWhile(const Bin& bin, Rewrite rewrite) {
	if (rewrite == Rewrite::kDeleted || rewrite == Rewrite::kAll || bin.files.size() > 1) return true;
	const LiveFile& file = *bin.files.front();
	return HasManyDeleted(file) ||
		   (rewrite == Rewrite::kUnclustered && file.clustering_provider != kClusteringProvider);
}

// Next fit by growing size: small files come together, and no bin but the last is less than half full.
static void Pack(std::vector<const LiveFile*> files, Rewrite rewrite, int64_t target_bytes, std::vector<Bin>& bins) {
	std::ranges::stable_sort(files, {}, &LiveFile::size);
	Bin bin;
	const auto close = [&] {
		if (!bin.files.empty() && IsWorthWhile(bin, rewrite)) bins.push_back(std::move(bin));
		bin = {};
	};
	for (const LiveFile* file : files) {
		if (!IsOrdered(rewrite) && bin.bytes + file->size > target_bytes) close();
		bin.files.push_back(file);
		bin.bytes += file->size;
	}
	close();
}

std::vector<Bin> PlanBins(const Snapshot& table, std::span<const LiveFile* const> files, Rewrite rewrite,
						  int64_t target_bytes, const PathSet& also) {
	PartitionKeys keys(table);
	std::map<std::string_view, std::vector<const LiveFile*>> partitions;
	for (const LiveFile* file : files) {
		if (IsChosen(*file, rewrite, target_bytes) || also.contains(file->path))
			partitions[keys.Of(*file)].push_back(file);
	}
	std::vector<Bin> bins;
	for (auto& [key, members] : partitions) Pack(std::move(members), rewrite, target_bytes, bins);
	return bins;
}

}  // namespace braid
