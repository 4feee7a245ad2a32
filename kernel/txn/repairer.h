// SPDX-License-Identifier: Apache-2.0
// Repairer: the kernel's requests to the engine to execute the statements of a transaction again, on a few rows of the newest version or as a whole.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kernel/storage/row_probe.h"
#include "kernel/txn/transaction.h"

namespace braid {

// What the statements do to the rows asked about.
struct Rerun {
	std::vector<PositionSet> removed;  // by request
	// New images, each with its origin; OriginRun::source counts in the requests.
	std::vector<NewFile> new_files;
};

class Repairer {
public:
	virtual ~Repairer() = default;
	// The statements without those that only insert, on the rows of `head` that the requests name (`only`), each satisfying one of the
	// transaction's conditions. The new files are durable before the commit, and belong to the committer from then on. nullopt: this cannot be done.
	virtual Result<std::optional<Rerun>> Run(const SnapshotPtr& head, std::span<const ProbeRequest> rows) = 0;
	// The whole transaction once more on the newest version, which is its base then; its files belong to the committer. nullopt: what it was made of
	// cannot be had again.
	virtual Result<std::optional<Transaction>> RunAgain() { return std::nullopt; }
};

}  // namespace braid
