// SPDX-License-Identifier: Apache-2.0
// Physical plan of CREATE [OR REPLACE] TABLE ... AS: the table is staged when the sink starts, its rows go the way of
// an INSERT.
#pragma once

#include "duckdb/execution/physical_plan_generator.hpp"
#include "duckdb/planner/operator/logical_create_table.hpp"

namespace braid::engine {

duckdb::PhysicalOperator& PlanCreateTableAs(duckdb::ClientContext& context, duckdb::PhysicalPlanGenerator& planner,
											duckdb::LogicalCreateTable& op, duckdb::PhysicalOperator& plan);

}  // namespace braid::engine
