// SPDX-License-Identifier: Apache-2.0
// What follows a commit: the version checksum, and every delta.checkpointInterval commits a checkpoint, after which expired log goes. Never fails:
// the commit stands, and whoever comes later can do it (PROTOCOL: Version Checksum File; Checkpoints; Metadata Cleanup).
#pragma once

#include "kernel/txn/committer.h"

namespace braid {

void PostCommit(const CommitContext& context, const Snapshot& snapshot, const std::string& txn_id);

}  // namespace braid
