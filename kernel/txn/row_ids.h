// SPDX-License-Identifier: Apache-2.0
// Row ids of new files (PROTOCOL: Row Tracking): a base row id above every id given so far and the
// version of the commit. Files that are only added again with another vector keep what they have. A staged mark of the domain delta.rowTracking
// (of files that come from elsewhere, with their ids) counts as given. Without the feature nothing happens.
#pragma once

#include <optional>

#include "kernel/txn/transaction.h"

namespace braid {

class RowIdAssigner {
public:
	// `head` is null for the first version.
	static Result<RowIdAssigner> For(const Transaction& transaction, const Snapshot* head, int64_t version);

	bool active() const { return active_; }
	void Assign(AddFile& add, int64_t physical_rows);
	// The delta.rowTracking domain, if the mark grew.
	std::optional<DomainMetadata> NewMark() const;

private:
	bool active_ = false;
	int64_t version_ = 0;
	int64_t old_mark_ = -1;  // the highest id ever given
	int64_t mark_ = -1;
};

}  // namespace braid
