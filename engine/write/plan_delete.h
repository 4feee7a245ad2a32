// SPDX-License-Identifier: Apache-2.0
// Physical plan of DELETE from a lake table: one LakeWrite that collects the positions of the child's rows.
#pragma once

#include "duckdb/execution/physical_plan_generator.hpp"
#include "duckdb/main/config.hpp"
#include "duckdb/planner/operator/logical_delete.hpp"

namespace braid::engine {

duckdb::PhysicalOperator& PlanDelete(duckdb::ClientContext& context, duckdb::PhysicalPlanGenerator& planner,
									 duckdb::LogicalDelete& op, duckdb::PhysicalOperator& plan);

// DELETE ... RETURNING: DuckDB 1.5 does not bring the old columns (duckdb.md 4.6). This pre-optimizer adds them to the
// target's scan.
void RegisterDeleteReturning(duckdb::DBConfig& config);

}  // namespace braid::engine
