// SPDX-License-Identifier: Apache-2.0
// The lock between VACUUM and the statements that bring back files which the newest version of a table does not have (why:
// kernel/storage/table_lease.h). Who waits can be interrupted, and waits no longer than braid_commit_timeout_ms; a process that dies holds nothing. Where
// no lock can be had (nobody may write there), there are no leases either, and nobody waits.
#pragma once

#include <optional>
#include <string>

#include "duckdb/main/client_context.hpp"
#include "kernel/storage/file_lock.h"

namespace braid::engine {

// No VACUUM of the table deletes files on this machine until the query, or the transaction, is over. To be called before the newest version is looked
// up, which would be that from before a VACUUM that we have waited for, and before the older one is pinned. Nothing for a table that does not exist.
void HoldOffVacuum(duckdb::ClientContext& context, const std::string& root, const std::string& statement);

// VACUUM's own side.
std::optional<FileLock> LockForVacuum(duckdb::ClientContext& context, const std::string& root);

}  // namespace braid::engine
