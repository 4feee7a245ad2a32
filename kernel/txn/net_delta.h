// SPDX-License-Identifier: Apache-2.0
// Net delta: what all winners together did to each path between the version that we read and the newest one, from the
// log alone. Rows inserted and deleted again inside the window vanish; rows that a verified
// rearrangement moved are neither removed nor added. Where a rearrangement hides what happened to a row, the delta
// holds more rows than changed, never fewer.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/txn/vector_cache.h"
#include "kernel/txn/winning_commit.h"

namespace braid {

// Rows of one file: all but `rows` (whole_file), or just `rows`.
struct RowSelection {
	const LiveFile* file = nullptr;
	bool whole_file = false;
	PositionSet rows;

	bool Empty() const { return !file || (!whole_file && rows.Empty()); }
	bool Contains(uint64_t position) const { return file && rows.Contains(position) != whole_file; }
	PositionSet Among(const PositionSet& positions) const;  // those of `positions` that are selected
};

// One life of a path inside the window.
struct FileDelta {
	std::string path;  // decoded
	const LiveFile* first =
		nullptr;  // before any winner, or as a rearrangement created it; null: a winner added its rows
	const LiveFile* last = nullptr;  // newest state (before the move if moved_away); null: removed
	bool moved_in = false, moved_away = false;
	const LiveFile* created = nullptr;  // by a winner
	PositionSet copied;  // of its rows then: copies of rows of ours, so neither added nor, if they stay, removed
	std::vector<std::pair<WinningCommit*, FileEffect*>> history;
};

// The delta points into `winners`, which must stay where they are.
std::vector<FileDelta> NetDelta(std::span<WinningCommit> winners);

// From one state of a file to a later one; null: not active.
Result<RowSelection> RemovedRows(const LiveFile* first, const LiveFile* last, VectorCache& vectors);
Result<RowSelection> AddedRows(const LiveFile* first, const LiveFile* last, VectorCache& vectors);
// Over a whole life.
Result<RowSelection> RemovedRows(const FileDelta& delta, VectorCache& vectors);
Result<RowSelection> AddedRows(const FileDelta& delta, VectorCache& vectors);

}  // namespace braid
