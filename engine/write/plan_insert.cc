// SPDX-License-Identifier: Apache-2.0
// Rows that come sorted (ORDER BY) are written by one thread in that order; few rows by the thread
// that reads them; all others by every thread.
#include "engine/write/plan_insert.h"

#include "engine/catalog/table_entry.h"
#include "engine/write/identity_values.h"
#include "engine/write/inline_write.h"

namespace braid::engine {

static void RefuseIdentityValues(const duckdb::LogicalInsert& op, const LakeTableEntry& table,
								 const duckdb::PhysicalOperator& plan) {
	auto& fields = table.view()->schema->fields;
	for (duckdb::idx_t i = 0; i < fields.size(); i++) {
		const auto identity = IdentityOf(fields[i]);
		if (!identity || identity->allows_explicit) continue;
		const auto given = op.column_index_map.empty() ? i : op.column_index_map[duckdb::PhysicalIndex(i)];
		if (given != duckdb::DConstants::INVALID_INDEX && !DeliversIdentityDefault(plan, given))
			RefuseIdentityValue(table.name, fields[i].name);
	}
}

duckdb::PhysicalOperator& PlanInsert(duckdb::ClientContext& context, duckdb::PhysicalPlanGenerator& planner,
									 duckdb::LogicalInsert& op, duckdb::optional_ptr<duckdb::PhysicalOperator> plan) {
	auto& table = op.table.Cast<LakeTableEntry>();
	if (op.on_conflict_info.action_type != duckdb::OnConflictAction::THROW) {
		throw duckdb::NotImplementedException(
			"INSERT INTO %s ... ON CONFLICT is not supported: a Delta table has no unique keys; delete or update the "
			"rows first",
			table.name);
	}
	RefuseIdentityValues(op, table, *plan);
	if (!op.column_index_map.empty()) plan = &planner.ResolveDefaultsProjection(op, *plan);
	auto make = [&]<class Write>() -> LakeWrite& {
		return planner.Make<Write>(op.types, WriteKind::kInsert, table.catalog, table.table(), op.estimated_cardinality)
			.template Cast<LakeWrite>();
	};
	const bool few = !table.insert_mode && ReadsFewRows(context, *plan);
	auto& write = few ? make.operator()<InlineWrite>() : make.operator()<LakeWrite>();
	write.returning = op.return_chunk;
	write.insert_mode = table.insert_mode;
	write.keeps_order =
		duckdb::PhysicalPlanGenerator::OrderPreservationRecursive(*plan) == duckdb::OrderPreservationType::FIXED_ORDER;
	write.children.push_back(*plan);
	return write;
}

}  // namespace braid::engine
