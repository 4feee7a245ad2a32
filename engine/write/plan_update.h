// SPDX-License-Identifier: Apache-2.0
// Binding and physical plan of UPDATE on a lake table: every row becomes a deletion of the old position and an
// insertion of the new image.
#pragma once

#include "duckdb/catalog/catalog_entry/table_catalog_entry.hpp"
#include "duckdb/execution/physical_plan_generator.hpp"
#include "duckdb/planner/operator/logical_get.hpp"
#include "duckdb/planner/operator/logical_projection.hpp"
#include "duckdb/planner/operator/logical_update.hpp"

namespace braid::engine {

// For TableCatalogEntry::BindUpdateConstraints: projects every column that SET does not name, each scanned once (trap
// 3).
void BindUpdateColumns(duckdb::TableCatalogEntry& table, duckdb::LogicalGet& get, duckdb::LogicalProjection& projection,
					   duckdb::LogicalUpdate& update);

duckdb::PhysicalOperator& PlanUpdate(duckdb::ClientContext& context, duckdb::PhysicalPlanGenerator& planner,
									 duckdb::LogicalUpdate& op, duckdb::PhysicalOperator& plan);

}  // namespace braid::engine
