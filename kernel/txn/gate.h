// SPDX-License-Identifier: Apache-2.0
// Gates: what fails a transaction whatever rows it touches, cheapest first: protocol,
// metadata, streaming transaction ids, metadata domains, operations that allow no winner at all.
#pragma once

#include "kernel/action/same_action.h"
#include "kernel/txn/conflict_report.h"
#include "kernel/txn/isolation.h"
#include "kernel/txn/transaction.h"
#include "kernel/txn/winning_commit.h"

namespace braid {

// `before`: the version under the winner. kConflict with its report.
Status CheckGates(const Transaction& transaction, const WinningCommit& winner, const Snapshot& before,
				  ConcurrencyMode mode);
// The race for version 0 is lost: somebody else created the table.
std::unexpected<Error> CreatedBySomebodyElse(const Transaction& transaction, const WinningCommit& winner,
											 const std::string& table);

// A report with everything filled in that transaction and winner tell.
ConflictReport ReportAgainst(const Transaction& transaction, const WinningCommit& winner, const std::string& table);

}  // namespace braid
