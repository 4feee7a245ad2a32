// SPDX-License-Identifier: Apache-2.0
// AT (VERSION => n) and AT (TIMESTAMP => t): which snapshot a query of the past reads.
#pragma once

#include "duckdb/common/types/value.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/planner/tableref/bound_at_clause.hpp"
#include "engine/catalog/table_handle.h"

namespace braid::engine {

SnapshotPtr SnapshotAt(duckdb::ClientContext& context, TableHandle& table, const duckdb::BoundAtClause& at);
SnapshotPtr SnapshotAtVersion(duckdb::ClientContext& context, TableHandle& table, const duckdb::Value& version);
// A timestamp without zone is taken in the session's time zone, as everywhere in DuckDB.
SnapshotPtr SnapshotAtTimestamp(duckdb::ClientContext& context, TableHandle& table, const duckdb::Value& timestamp);

}  // namespace braid::engine
