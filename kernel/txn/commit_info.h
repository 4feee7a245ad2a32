// SPDX-License-Identifier: Apache-2.0
// What a commit says of itself: honest blindness, the level used, metrics under the names
// other engines use, and the recorded reads that later losers judge us by.
#pragma once

#include "kernel/txn/row_rebase.h"

namespace braid {

struct AttemptFacts {
	int64_t version = 0;
	int64_t now_ms = 0;
	std::optional<int64_t> in_commit_timestamp;
	std::string txn_id;
	std::string engine_info;
	IsolationLevel level = IsolationLevel::kWriteSerializable;
	bool row_ids = false;      // the table tracks rows
	bool row_ids_new = false;  // a winner has switched that on
	int attempts = 1;
	int winners = 0;
	int64_t rows_repaired = 0;
	int64_t reruns = 0;
	int64_t conflict_check_ms = 0;
};

// Appends without reading and without removing.
bool IsBlindAppend(const Transaction& transaction);
CommitInfo MakeCommitInfo(const Transaction& transaction, const RebaseCounts& counts, const AttemptFacts& facts);

// The in-commit timestamp of the version after `head` (null: of version 0), if the table has them: later than every
// earlier one (PROTOCOL: In-Commit Timestamps).
std::optional<int64_t> InCommitTimestamp(const Transaction& transaction, const Snapshot* head, int64_t now_ms);

// Metadata says from which version on in-commit timestamps count, if this is not the first: whoever has switched them on.
void RecordTimestampEnablement(Metadata& metadata, const Snapshot* head, const AttemptFacts& facts);

}  // namespace braid
