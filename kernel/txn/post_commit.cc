// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/post_commit.h"

namespace braid {

void PostCommit(const CommitContext&, const Snapshot&, const std::string&) {}

}  // namespace braid
