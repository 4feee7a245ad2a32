// SPDX-License-Identifier: Apache-2.0
// The schema of a table for listings, without its files: the newest metaData of the log. Ten thousand tables are listed in seconds (trap 23).
#pragma once

#include "duckdb/main/client_context.hpp"
#include "engine/catalog/table_handle.h"

namespace braid::engine {

// A snapshot of which only `table`, `metadata`, `schema` and `column_mapping` mean something; null for a table that cannot be read.
SnapshotPtr PeekSchema(duckdb::ClientContext& context, TableHandle& table);

}  // namespace braid::engine
