// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/mover.h"

#include <algorithm>
#include <map>
#include <set>

#include "kernel/feature/feature_support.h"
#include "kernel/feature/property_table.h"
#include "kernel/txn/net_delta.h"

namespace braid {

bool IsMover(const Transaction& transaction) {
	const StagedChanges& changes = transaction.changes;
	if (changes.data_change || changes.replaced_files.empty()) return false;
	return std::ranges::all_of(changes.new_files, [](const NewFile& file) {
		uint64_t known = 0;
		for (const OriginRun& run : file.origins) known += run.count;
		return known == static_cast<uint64_t>(file.num_records);
	});
}

// The rows of a source that others have removed or moved since the base.
static Result<RowSelection> GoneRows(const Transaction& transaction, const Snapshot& head, const std::string& path,
									 VectorCache& vectors) {
	return RemovedRows(transaction.base->files->Find(path), head.files->Find(path), vectors);
}

static PositionSet MaskOf(const NewFile& file, const std::vector<RowSelection>& gone) {
	PositionSet mask;
	for (const OriginRun& run : file.origins) {
		const RowSelection& rows = gone.at(run.source);
		if (rows.Empty()) continue;
		const PositionSet source = PositionSet::Range(run.source_first, run.source_first + run.count);
		for (const uint64_t position : rows.Among(source).ToVector()) mask.Add(position - run.source_first + run.first);
	}
	return mask;
}

// Without vectors nothing can be masked: a touched file is not written, so its sources stay, so no other file made from them may be written.
static void DropTouched(const Transaction& transaction, MovedFiles& moved) {
	const StagedChanges& changes = transaction.changes;
	std::set<std::string> kept;  // sources that stay
	for (bool changed = true; changed;) {
		changed = false;
		for (size_t i = 0; i < changes.new_files.size(); i++) {
			const auto& origins = changes.new_files[i].origins;
			const bool touched = !moved.masks[i].Empty() || std::ranges::any_of(origins, [&](const OriginRun& run) {
				return kept.contains(changes.origin_files[run.source]);
			});
			if (moved.dropped[i] || !touched) continue;
			moved.dropped[i] = changed = true;
			for (const OriginRun& run : origins) kept.insert(changes.origin_files[run.source]);
		}
	}
	std::erase_if(moved.replaced_files, [&](const std::string& path) { return kept.contains(path); });
	for (PositionSet& mask : moved.masks) mask = {};
}

Result<MovedFiles> MoveOnto(const Transaction& transaction, const Snapshot& head, VectorCache& vectors) {
	const StagedChanges& changes = transaction.changes;
	MovedFiles moved;
	for (const std::string& path : changes.replaced_files) {
		if (head.files->Find(path)) moved.replaced_files.push_back(path);
	}
	std::vector<RowSelection> gone;
	for (const std::string& path : changes.origin_files) {
		BRAID_TRY(gone.emplace_back(), GoneRows(transaction, head, path, vectors));
	}
	for (const NewFile& file : changes.new_files) moved.masks.push_back(MaskOf(file, gone));
	moved.dropped.resize(changes.new_files.size());
	const bool vectors_on = HasFeature(head.protocol, "deletionVectors") &&
							PropertyEnabled(head.metadata.configuration, "delta.enableDeletionVectors");
	if (!vectors_on) DropTouched(transaction, moved);
	return moved;
}

}  // namespace braid
