// SPDX-License-Identifier: Apache-2.0
// After a commit that changed rows: compacts the partitions that it touched and that are crowded with small files, if the table asks for it
// (kernel/maintenance/auto_compaction.h). It is an OPTIMIZE of a session of its own, so a commit of its own. Guarantees: whatever becomes of it, the
// commit that it follows stands; what fails is a warning in DuckDB's log. One at a time on a table of this host: who finds it under way goes on.
#pragma once

#include "duckdb/main/client_context.hpp"
#include "engine/catalog/transaction.h"

namespace braid::engine {

// The OPTIMIZE of the rearranging function that chooses its files itself (maintenance_functions.h).
inline constexpr auto kAutoCompaction = "AUTO COMPACTION";

// `work` has been committed as version `committed`. No transaction is active in `context` (trap 5).
void CompactAfter(duckdb::ClientContext& context, const TableWork& work, const Snapshot& committed) noexcept;

}  // namespace braid::engine
