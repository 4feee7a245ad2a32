// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/net_delta.h"

#include <map>

namespace braid {

PositionSet RowSelection::Among(const PositionSet& positions) const {
	if (!file) return {};
	return whole_file ? positions - rows : positions & rows;
}

std::vector<FileDelta> NetDelta(std::span<WinningCommit> winners) {
	std::vector<FileDelta> lives;
	std::map<std::string_view, size_t> newest;  // the life that a path is in
	for (WinningCommit& winner : winners) {
		for (FileEffect& effect : winner.effects) {
			const auto known = newest.find(effect.path);
			// A path that comes back after it was removed goes on with its old life (RESTORE), unless a rearrangement made it anew.
			const bool fresh = known == newest.end() || (!effect.before && effect.moved);
			if (fresh) {
				FileDelta life;
				life.path = effect.path;
				life.moved_in = !effect.before && effect.moved;
				life.first = life.moved_in ? effect.after : effect.before;
				newest[effect.path] = lives.size();
				lives.push_back(std::move(life));
			}
			FileDelta& life = lives[newest[effect.path]];
			if (!effect.before && !effect.moved) life.created = effect.after;
			life.copied |= effect.copied;
			life.moved_away = effect.moved && !effect.after;
			life.last = life.moved_away ? effect.before : effect.after;
			life.history.emplace_back(&winner, &effect);
		}
	}
	return lives;
}

// Members of `later`'s vector that are not in `earlier`'s; all rows that `earlier` held if there is no later state.
static Result<RowSelection> Gone(const LiveFile* earlier, const LiveFile* later, VectorCache& vectors) {
	if (!earlier) return RowSelection {};
	BRAID_TRY(const PositionSet* before, vectors.Get(*earlier));
	if (!later) return RowSelection {earlier, true, *before};
	BRAID_TRY(const PositionSet* after, vectors.Get(*later));
	return RowSelection {earlier, false, *after - *before};
}

Result<RowSelection> RemovedRows(const LiveFile* first, const LiveFile* last, VectorCache& vectors) {
	return Gone(first, last, vectors);
}

// Seen backwards in time, an added row is a removed one.
Result<RowSelection> AddedRows(const LiveFile* first, const LiveFile* last, VectorCache& vectors) {
	return Gone(last, first, vectors);
}

Result<RowSelection> RemovedRows(const FileDelta& delta, VectorCache& vectors) {
	if (delta.first || delta.copied.Empty()) return RemovedRows(delta.first, delta.last, vectors);
	if (!delta.last) return RowSelection {delta.created, false, delta.copied};
	BRAID_TRY(const PositionSet* dead, vectors.Get(*delta.last));
	return RowSelection {delta.created, false, delta.copied & *dead};
}

Result<RowSelection> AddedRows(const FileDelta& delta, VectorCache& vectors) {
	BRAID_TRY(RowSelection added, AddedRows(delta.first, delta.last, vectors));
	if (added.whole_file) {
		added.rows |= delta.copied;
	} else {
		added.rows -= delta.copied;
	}
	return added;
}

}  // namespace braid
