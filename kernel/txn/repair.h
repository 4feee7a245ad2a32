// SPDX-License-Identifier: Apache-2.0
// Repair (mode max): instead of failing, a statement whose effect is the sum of its effects on single rows (DELETE and UPDATE with conditions and
// assignments over one row) is executed again on just the rows that winners changed: rows that they removed leave our deletes, and their images are
// masked; rows that they added and that our conditions select are changed as well. The result is what the statement would have done on the newest
// version, so the transaction has read that version, and says so. Anything else is not repaired.
#pragma once

#include <optional>
#include <vector>

#include "kernel/txn/conflict.h"
#include "kernel/txn/repairer.h"

namespace braid {

struct Repaired {
	Transaction transaction;  // its base is the newest version
	int64_t rows_dropped = 0, rows_added = 0;
};

// nullopt: it cannot be repaired. Precondition: the winners have been judged, and rows clash.
Result<std::optional<Repaired>> Repair(const JudgeContext& context, const SnapshotPtr& head, Repairer* repairer);

}  // namespace braid
