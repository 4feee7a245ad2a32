// SPDX-License-Identifier: Apache-2.0
// The one table of Braid's settings: name, type, default, scope, help. Each is an ordinary DuckDB option (SET
// braid_durability = 'none'); a value outside what is allowed is refused when it is set. Only settings that do
// something are listed.
#pragma once

#include <optional>
#include <string>

#include "duckdb/main/client_context.hpp"
#include "duckdb/main/config.hpp"
#include "kernel/txn/committer.h"

namespace braid::engine {

void RegisterSettings(duckdb::DBConfig& config);

// The settings of a session that its commits obey. Needs no active transaction (trap 5).
CommitOptions CommitOptionsOf(duckdb::ClientContext& context);

// What braid_txn_app_id and braid_txn_version say, if they are set. Throws if only one of them is.
std::optional<SetTransaction> ApplicationTransactionOf(duckdb::ClientContext& context);
// braid_user_metadata, if it is set.
std::optional<std::string> UserMetadataOf(duckdb::ClientContext& context);
// Whether RESTORE leaves out files that are gone.
bool IgnoresMissingFiles(duckdb::ClientContext& context);
// Whether VACUUM refuses to keep files for less than the table's own retention.
bool ChecksVacuumRetention(duckdb::ClientContext& context);
// Whether INSERT OVERWRITE of a partitioned table replaces only the partitions that get rows.
bool OverwritesPartitions(duckdb::ClientContext& context);
// From how many small files on a partition is compacted after a commit.
size_t AutoCompactMinFiles(duckdb::ClientContext& context);

}  // namespace braid::engine
