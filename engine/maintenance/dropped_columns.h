// SPDX-License-Identifier: Apache-2.0
// Which data files still hold columns, or fields of structs, that the table has no more (PROTOCOL: Column Mapping: a column is dropped in the
// metadata only). Footers are read, no rows; only tables with column mapping can have such files.
#pragma once

#include <span>

#include "engine/catalog/table_handle.h"
#include "kernel/maintenance/optimize_plan.h"

namespace duckdb {
class ClientContext;
}

namespace braid::engine {

// Paths as in the log.
PathSet FilesWithDroppedColumns(duckdb::ClientContext& context, TableHandle& table, const Snapshot& view,
								std::span<const LiveFile* const> files);

}  // namespace braid::engine
