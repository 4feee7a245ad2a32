// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/post_commit.h"

#include "kernel/log/checkpoint_write.h"
#include "kernel/log/checksum_write.h"
#include "kernel/log/log_cleanup.h"
#include "kernel/storage/table_lease.h"

namespace braid {

void PostCommit(const CommitContext& context, const Snapshot& snapshot, const std::string& txn_id) {
	(void)WriteChecksum(context.store, context.random, snapshot, txn_id);
	if (!CheckpointIsDue(snapshot)) return;
	const SnapshotSource log {context.store, context.parquet};
	if (!WriteCheckpoint(log, context.clock, context.random, snapshot)) return;
	const Result<int64_t> oldest_pin = context.oldest_pin ? context.oldest_pin() : Lease::kNothing;
	if (oldest_pin) (void)CleanLog(log, snapshot, context.clock.NowMs(), *oldest_pin);
}

}  // namespace braid
