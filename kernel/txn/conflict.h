// SPDX-License-Identifier: Apache-2.0
// Conflict: may this transaction commit after these winners (docs/concurrency.md)? The rules stand
// in conflict_rules.h. Guarantees: an accepted transaction would have removed and added the same rows had it run on the newest
// version (Serializable), or some order of the committed transactions explains the table (WriteSerializable).
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "kernel/txn/conflict_rules.h"
#include "kernel/txn/relocation.h"
#include "kernel/txn/row_test.h"
#include "kernel/txn/transaction.h"

namespace braid {

struct JudgeContext {
	const Transaction& transaction;
	IsolationLevel level;
	ConcurrencyMode mode;
	CompatOptions compat;
	std::span<WinningCommit> winners;  // all of them since transaction.base; findings are kept in them
	VectorCache& vectors;
	Relocation& relocation;
	RowTester& tester;
	RowProbe& probe;
	size_t explain_rows = 5;
};

// Decoded paths of blind appends that this transaction is ordered before: a whole-table replacement leaves them alone.
using SurvivingAppends = std::set<std::string>;

// kConflict with its report, or what survives. Precondition: the winners have passed the gates.
Result<SurvivingAppends> Judge(const JudgeContext& context);

// Every clash by itself: what Judge would report of it were it the only one. Empty: the transaction may commit.
Result<std::vector<ConflictReport>> AllClashes(const JudgeContext& context);

// Does the transaction do nothing that a winner's rows could touch?
bool TouchesNothing(const Transaction& transaction);

}  // namespace braid
