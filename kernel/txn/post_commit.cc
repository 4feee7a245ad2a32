// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/post_commit.h"

#include "kernel/log/checkpoint_write.h"
#include "kernel/log/checksum_write.h"

namespace braid {

void PostCommit(const CommitContext& context, const Snapshot& snapshot, const std::string& txn_id) {
	(void)WriteChecksum(context.store, context.random, snapshot, txn_id);
	if (!CheckpointIsDue(snapshot)) return;
	(void)WriteCheckpoint({context.store, context.parquet}, context.clock, context.random, snapshot);
}

}  // namespace braid
