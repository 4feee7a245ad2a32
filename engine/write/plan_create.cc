// SPDX-License-Identifier: Apache-2.0
// The table is created when the sink starts, not when it is planned: EXPLAIN makes none.
#include "engine/write/plan_create.h"

#include "engine/catalog/catalog.h"
#include "engine/catalog/schema_entry.h"
#include "engine/write/write_sink.h"

namespace braid::engine {

duckdb::PhysicalOperator& PlanCreateTableAs(duckdb::ClientContext&, duckdb::PhysicalPlanGenerator& planner,
											duckdb::LogicalCreateTable& op, duckdb::PhysicalOperator& plan) {
	auto& schema = op.schema.Cast<LakeSchemaEntry>();
	auto table = schema.HandleToCreate(op.info->Base().table);
	auto& write = planner
					  .Make<LakeWrite>(op.types, WriteKind::kCreateTableAs, schema.catalog, std::move(table),
									   op.estimated_cardinality)
					  .Cast<LakeWrite>();
	write.create = std::move(op.info);
	write.keeps_order =
		duckdb::PhysicalPlanGenerator::OrderPreservationRecursive(plan) == duckdb::OrderPreservationType::FIXED_ORDER;
	write.children.push_back(plan);
	return write;
}

}  // namespace braid::engine
