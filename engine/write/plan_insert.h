// SPDX-License-Identifier: Apache-2.0
// Physical plan of INSERT into a lake table: one LakeWrite over the rows in table order, defaults filled in.
#pragma once

#include "duckdb/execution/physical_plan_generator.hpp"
#include "duckdb/planner/operator/logical_insert.hpp"

namespace braid::engine {

duckdb::PhysicalOperator& PlanInsert(duckdb::ClientContext& context, duckdb::PhysicalPlanGenerator& planner,
									 duckdb::LogicalInsert& op, duckdb::optional_ptr<duckdb::PhysicalOperator> plan);

}  // namespace braid::engine
