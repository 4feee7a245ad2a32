// SPDX-License-Identifier: Apache-2.0
// Mover: a transaction that only rearranges rows (OPTIMIZE, REORG, clustering) on top of winners (docs/concurrency.md, Rows that move). Rows that they
// removed or moved meanwhile are masked in our new files; where vectors are off, the new files and sources that they touched are left out, and
// whatever hangs together with them. It reads nothing, so nothing else can stop it.
#pragma once

#include <string>
#include <vector>

#include "kernel/txn/transaction.h"
#include "kernel/txn/vector_cache.h"

namespace braid {

// Does it tell where every row comes from?
bool IsMover(const Transaction& transaction);

struct MovedFiles {
	std::vector<std::string> replaced_files;  // still active, to be removed
	std::vector<PositionSet> masks;           // by new file: rows that are no longer ours to move
	std::vector<bool> dropped;                // by new file
};
Result<MovedFiles> MoveOnto(const Transaction& transaction, const Snapshot& head, LogStore& store,
							VectorCache& vectors);

}  // namespace braid
