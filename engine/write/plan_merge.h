// SPDX-License-Identifier: Apache-2.0
// Physical plan of MERGE INTO a lake table: one LakeMerge over the join of source and target.
#pragma once

#include "duckdb/execution/physical_plan_generator.hpp"
#include "duckdb/planner/operator/logical_merge_into.hpp"

namespace braid::engine {

duckdb::PhysicalOperator& PlanMergeInto(duckdb::ClientContext& context, duckdb::PhysicalPlanGenerator& planner,
										duckdb::LogicalMergeInto& op, duckdb::PhysicalOperator& plan);

}  // namespace braid::engine
