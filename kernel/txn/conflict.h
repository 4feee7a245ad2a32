// SPDX-License-Identifier: Apache-2.0
// Conflict: may this transaction commit after these winners (docs/concurrency.md)? The rules stand
// in one table. Guarantees: an accepted transaction would have removed and added the same rows had it run on the newest
// version (Serializable), or some order of the committed transactions explains the table (WriteSerializable).
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>

#include "kernel/txn/conflict_report.h"
#include "kernel/txn/isolation.h"
#include "kernel/txn/row_test.h"
#include "kernel/txn/transaction.h"

namespace braid {

// What we do with a row, and what a winner did to the same row.
enum class OurAction { kReadsRow, kRemovesRow, kReplacesFile, kReplacesTable };
enum class WinnerEffect { kAppendsBlindly, kAddsRow, kRemovesRow, kMovesRow };
// kOrderBefore: the pair clashes unless we can be ordered before the append (WriteSerializable).
enum class Verdict { kAccept, kOrderBefore, kConflict };

struct ConflictRule {
	OurAction ours;
	WinnerEffect theirs;
	Verdict serializable, write_serializable;
	ConflictClass conflict_class;
	std::string_view rule;  // docs/concurrency.md, Errors

	Verdict At(IsolationLevel level) const {
		return level == IsolationLevel::kSerializable ? serializable : write_serializable;
	}
};

std::span<const ConflictRule> ConflictRules();
const ConflictRule& RuleFor(OurAction ours, WinnerEffect theirs);

struct JudgeContext {
	const Transaction& transaction;
	IsolationLevel level;
	std::span<WinningCommit> winners;  // all of them since transaction.base; findings are kept in them
	VectorCache& vectors;
	RowTester& tester;
	RowProbe& probe;
	size_t explain_rows = 5;
};

// Decoded paths of blind appends that this transaction is ordered before: a whole-table replacement leaves them alone.
using SurvivingAppends = std::set<std::string>;

// kConflict with its report, or what survives. Precondition: the winners have passed the gates.
Result<SurvivingAppends> Judge(const JudgeContext& context);

// Does the transaction do nothing that a winner's rows could touch?
bool TouchesNothing(const Transaction& transaction);

}  // namespace braid
