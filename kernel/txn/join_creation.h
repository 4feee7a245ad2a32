// SPDX-License-Identifier: Apache-2.0
// CREATE TABLE IF NOT EXISTS that lost the race for version 0. A clone has nothing to do any more: it found a table after all. Else, if the other made the very same table, what was inserted goes into his, as it
// would have, had the statement found the table. Whatever is not certain (other columns, something read or altered) stays a conflict.
#pragma once

#include <optional>

#include "kernel/txn/transaction.h"
#include "kernel/txn/winning_commit.h"

namespace braid {

// `created`: the table at version 0, made by `winner`.
std::optional<Transaction> JoinCreation(const Transaction& transaction, const WinningCommit& winner,
										const SnapshotPtr& created);

}  // namespace braid
