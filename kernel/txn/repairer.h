// SPDX-License-Identifier: Apache-2.0
// Repairer: the kernel's request to the engine to execute the statements of a transaction again on a few rows of the newest version.
#pragma once

#include <span>
#include <vector>

#include "kernel/storage/row_probe.h"
#include "kernel/txn/staged_changes.h"

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
	// The statements without those that only insert, on the rows that the requests name (`only`), each satisfying one of the transaction's
	// conditions. The new files are durable before the commit, and belong to the committer from then on.
	virtual Result<Rerun> Run(std::span<const ProbeRequest> rows) = 0;
};

}  // namespace braid
