// SPDX-License-Identifier: Apache-2.0
// The one table of Braid's settings: name, type, default, scope, help. Each is an ordinary DuckDB option (SET
// braid_durability = 'none'); a value outside what is allowed is refused when it is set. Only settings that do
// something are listed.
#pragma once

#include "duckdb/main/client_context.hpp"
#include "duckdb/main/config.hpp"
#include "kernel/txn/committer.h"

namespace braid::engine {

void RegisterSettings(duckdb::DBConfig& config);

// The settings of a session that its commits obey. Needs no active transaction (trap 5).
CommitOptions CommitOptionsOf(duckdb::ClientContext& context);

}  // namespace braid::engine
