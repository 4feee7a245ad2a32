// SPDX-License-Identifier: Apache-2.0
// Copied rows: a winner that writes files anew (copy-on-write) removes and adds rows that it did not change. A removed and an added row that are equal
// in every column cancel, if the removed one was in our snapshot; with stable row ids their ids must be equal too, and then no-op images in other
// files cancel as well. A copy of a row that another winner has added stays an added row.
#pragma once

#include <map>
#include <set>
#include <string>

#include "kernel/txn/row_test.h"

namespace braid {

// Which rows of which files are rows of our snapshot, perhaps copied or moved. Fed with the winners in order.
class RowsOfBase {
public:
	explicit RowsOfBase(const Snapshot& base) : base_(base) {}
	void Advance(const WinningCommit& winner);
	PositionSet Among(const std::string& path, const PositionSet& rows) const;  // decoded path; rows that were live

private:
	const Snapshot& base_;
	std::set<std::string> whole_files_;  // made of rows of the snapshot alone
	std::set<std::string> unknown_;
	std::map<std::string, PositionSet> copies_;
};

// Takes copies out of the findings of a data-changing winner, which have been tested against `reads`.
Status DiscardCopiedRows(WinningCommit& winner, std::span<const Read> reads, const RowsOfBase& base, RowProbe& probe,
						 VectorCache& vectors, RowTester& tester);

}  // namespace braid
