// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/mover.h"

#include <algorithm>
#include <map>

#include "kernel/feature/feature_support.h"
#include "kernel/feature/property_table.h"
#include "kernel/txn/net_delta.h"
#include "kernel/txn/row_map.h"

namespace braid {

bool IsMover(const Transaction& transaction) {
	return !transaction.changes.data_change && !transaction.changes.row_map.empty();
}

// By path of a source: the rows that others have removed or moved since the base.
static Result<std::map<std::string, RowSelection>> GoneRows(const Transaction& transaction, const Snapshot& head,
															VectorCache& vectors) {
	std::map<std::string, RowSelection> gone;
	for (const std::string& path : transaction.changes.replaced_files) {
		BRAID_TRY(RowSelection rows, RemovedRows(transaction.base->files->Find(path), head.files->Find(path), vectors));
		if (!rows.Empty()) gone.emplace(path, std::move(rows));
	}
	return gone;
}

// Where the rows that are gone are in our new files.
static Status Mask(const StagedChanges& changes, const std::map<std::string, RowSelection>& gone, LogStore& store,
				   std::vector<PositionSet>& masks) {
	const auto wanted = [&](const MappedFile& source) -> Result<PositionSet> {
		const auto rows = gone.find(source.path);
		return rows == gone.end() ? PositionSet() : rows->second.Among(PositionSet::Range(0, source.rows));
	};
	std::vector<PositionSet> by_target;
	BRAID_TRY(const MapFiles files, FindInRowMap(store, changes.row_map, wanted, [&](const MappedRow& row) {
				  if (row.target >= by_target.size()) by_target.resize(row.target + 1);
				  by_target[row.target].Add(row.row);
			  }));
	by_target.resize(files.targets.size());
	for (size_t i = 0; i < masks.size(); i++) {
		const NewFile& file = changes.new_files[i];
		const auto target = std::ranges::find(files.targets, file.add.path, &MappedFile::path);
		if (target == files.targets.end() || target->rows != static_cast<uint64_t>(file.num_records))
			return Fail(ErrorKind::kInternal,
						"The row map of a rearrangement does not know the rows of " + file.add.path);
		masks[i] = std::move(by_target[static_cast<size_t>(target - files.targets.begin())]);
	}
	return {};
}

// Without vectors nothing can be masked: a touched file is not written, so its sources stay, so no other file made from them may be written.
static Status DropTouched(const StagedChanges& changes, LogStore& store, MovedFiles& moved) {
	if (std::ranges::all_of(moved.masks, &PositionSet::Empty)) return {};
	BRAID_TRY(const MapLinks links, LinksOfRowMap(store, changes.row_map));
	std::map<std::string, const std::vector<bool>*> made_of;
	for (size_t i = 0; i < links.made_of.size(); i++) made_of[links.files.targets[i].path] = &links.made_of[i];
	std::vector<bool> kept(links.files.sources.size());  // sources that stay
	for (bool changed = true; changed;) {
		changed = false;
		for (size_t i = 0; i < changes.new_files.size(); i++) {
			const std::vector<bool>& origins = *made_of.at(changes.new_files[i].add.path);
			bool touched = !moved.masks[i].Empty();
			for (size_t source = 0; source < kept.size(); source++) touched |= origins[source] && kept[source];
			if (moved.dropped[i] || !touched) continue;
			moved.dropped[i] = changed = true;
			for (size_t source = 0; source < kept.size(); source++) kept[source] = kept[source] || origins[source];
		}
	}
	for (size_t source = 0; source < kept.size(); source++) {
		if (kept[source]) std::erase(moved.replaced_files, links.files.sources[source].path);
	}
	for (PositionSet& mask : moved.masks) mask = {};
	return {};
}

Result<MovedFiles> MoveOnto(const Transaction& transaction, const Snapshot& head, LogStore& store,
							VectorCache& vectors) {
	const StagedChanges& changes = transaction.changes;
	MovedFiles moved;
	for (const std::string& path : changes.replaced_files) {
		if (head.files->Find(path)) moved.replaced_files.push_back(path);
	}
	moved.masks.resize(changes.new_files.size());
	moved.dropped.resize(changes.new_files.size());
	if (moved.replaced_files.empty()) {  // so none of the rows is ours to move
		moved.dropped.assign(changes.new_files.size(), true);
		return moved;
	}
	BRAID_TRY(const auto gone, GoneRows(transaction, head, vectors));
	if (gone.empty()) return moved;
	BRAID_TRY(Mask(changes, gone, store, moved.masks));
	const bool vectors_on = HasFeature(head.protocol, "deletionVectors") &&
							PropertyEnabled(head.metadata.configuration, "delta.enableDeletionVectors");
	if (!vectors_on) BRAID_TRY(DropTouched(changes, store, moved));
	return moved;
}

}  // namespace braid
