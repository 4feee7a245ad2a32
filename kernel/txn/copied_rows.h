// SPDX-License-Identifier: Apache-2.0
// Copied rows: a winner that writes files anew (copy-on-write) removes and adds rows that it did not change. A removed and an added row that are equal
// in every column cancel; with stable row ids their ids must be equal too, and then no-op images in other files cancel as well.
#pragma once

#include "kernel/txn/row_test.h"

namespace braid {

// Takes copies out of the findings of a data-changing winner, which have been tested against `reads`.
Status DiscardCopiedRows(WinningCommit& winner, std::span<const Read> reads, RowProbe& probe, VectorCache& vectors,
						 RowTester& tester);

}  // namespace braid
