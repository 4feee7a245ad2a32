// SPDX-License-Identifier: Apache-2.0
// Relocation: where the rows that we delete are after the winners (docs/concurrency.md, Rows that move). Follows each of them through every winner
// in turn: by its place as long as the file stays, through our own rearrangements by their map (row_map.h), through others and copy-on-write by stable row
// ids, else by whole content with copies counted on both sides. Never by guess: a row that cannot be followed is lost, and a lost row is a
// conflict. Each winner is looked at once.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernel/storage/log_store.h"
#include "kernel/txn/row_test.h"
#include "kernel/txn/row_trail.h"
#include "kernel/txn/transaction.h"

namespace braid {

// Rows of ours that a winner removed, or moved where we cannot follow.
struct LostRows {
	int64_t winner = -1;  // version
	AddFile file;         // where they were
	PositionSet rows;
	bool moved = false;     // by a rearrangement
	bool unproven = false;  // there was no time to follow them
};

struct PlacedRows {
	std::string path;  // as in the log
	PositionSet rows;
};

class Relocation {
public:
	Relocation(const Transaction& transaction, LogStore& store, RowProbe& probe, VectorCache& vectors,
			   RowTester& tester);

	Status Follow(std::span<const WinningCommit> winners);  // all since the base; those seen before are skipped
	// By decoded path: what we delete in the version after the last winner.
	const std::map<std::string, PlacedRows>& rows() const { return rows_; }
	const std::vector<LostRows>& lost() const { return lost_; }
	// Where a row of the snapshot that we delete is now: path as in the log, and position. Nothing: it is lost.
	std::optional<std::pair<std::string, uint64_t>> WhereIs(const std::string& path, uint64_t position) const;

private:
	struct Candidate;
	using Candidates = std::vector<Candidate>;
	Status FollowOne(const WinningCommit& winner);
	Status Locate(const WinningCommit& winner, Candidates& candidates);
	Result<bool> LocateByMap(const WinningCommit& winner, Candidates& candidates);
	Status LocateByIds(const WinningCommit& winner, Candidates& candidates, const std::string& column);
	Status LocateByContent(const WinningCommit& winner, Candidates& candidates);
	Status CompareContents(const WinningCommit& winner, Candidates& candidates);
	bool MayHoldOurs(const WinningCommit& winner, const LiveFile& file) const;
	void Settle(const WinningCommit& winner, const Candidates& candidates);

	LogStore& store_;
	RowProbe& probe_;
	VectorCache& vectors_;
	RowTester& tester_;
	std::vector<Predicate> reads_;  // each row that we delete satisfies one of them
	std::map<std::string, PlacedRows> rows_;
	std::vector<LostRows> lost_;
	int64_t followed_ = -1;  // version of the last winner seen
	RowTrail trail_;
};

// The hidden column of stable row ids if rows can be followed by them through this winner: ids are on, and it kept them.
std::optional<std::string> RowIdColumn(const WinningCommit& winner);

}  // namespace braid
