// SPDX-License-Identifier: Apache-2.0
// RESTORE: what has to change so that the newest version of a table holds what an older one held. Files are compared by path and vector, so a
// file that has lost rows since comes back with its older vector. What may only grow never goes back: features of the protocol (older versions
// must stay readable), row ids, marks of identity columns, column ids. Streaming transactions and domains of applications stay as they are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/snapshot/snapshot.h"

namespace braid {

struct FileFigures {
	int64_t files = 0, bytes = 0;

	void Count(int64_t size) { files++, bytes += size; }
	void Discount(int64_t size) { files--, bytes -= size; }
};

struct RestorePlan {
	std::vector<std::string> removed;  // files of the newest version, paths as in the log
	std::vector<AddFile> restored;     // as they were
	std::optional<Protocol> protocol;  // nothing: it stays
	std::optional<Metadata> metadata;
	std::vector<DomainMetadata> domains;
	FileFigures files_after, files_removed, files_restored;

	bool Empty() const { return removed.empty() && restored.empty() && !protocol && !metadata && domains.empty(); }
};

// kInvalidArgument: the table is append-only, and rows would go.
Result<RestorePlan> PlanRestore(const Snapshot& now, const Snapshot& then);
// Without these files, indexes into plan.restored in rising order.
void LeaveOut(RestorePlan& plan, const std::vector<size_t>& restored);
// The table once the plan is committed; its version is still that of `now`.
Result<SnapshotPtr> RestoredView(const RestorePlan& plan, const Snapshot& now, const Snapshot& then);

}  // namespace braid
