// SPDX-License-Identifier: Apache-2.0
// Since when in-commit timestamps count in a table that has commits from a time without them (PROTOCOL: In-Commit Timestamps): two properties that
// belong to the history of a table, not to the state that RESTORE, CLONE or CREATE OR REPLACE gives it.
#pragma once

#include "kernel/action/actions.h"

namespace braid {

bool HasCommitTimestamps(const Configuration& configuration);

// `next` follows `now` in one table; of a new table `now` is empty. Timestamps that stay on count since when they did; where they are off, or are being
// switched on by this very commit, nothing is said (the commit will say it: kernel/txn/commit_info.h).
void KeepTimestampEnablement(const Configuration& now, Configuration& next);

}  // namespace braid
