// SPDX-License-Identifier: Apache-2.0
// The child delivers SET values, then the other columns, then the row ids (duckdb.md 4.3).
#include "engine/write/plan_update.h"

#include <algorithm>

#include "duckdb/planner/expression/bound_columnref_expression.hpp"
#include "duckdb/planner/expression/bound_constant_expression.hpp"
#include "engine/catalog/table_entry.h"
#include "engine/scan/hidden_columns.h"
#include "engine/scan/scan_function.h"
#include "engine/write/identity_values.h"
#include "engine/write/target_scan.h"
#include "engine/write/write_sink.h"
#include "kernel/feature/protocol_change.h"

namespace braid::engine {

void BindUpdateColumns(duckdb::TableCatalogEntry& table, duckdb::LogicalGet& get, duckdb::LogicalProjection& projection,
					   duckdb::LogicalUpdate& update) {
	auto& fields = table.Cast<LakeTableEntry>().view()->schema->fields;
	for (auto& column : update.columns) {
		if (IdentityOf(fields[column.index])) RefuseIdentityUpdate(table.name, fields[column.index].name);
	}
	for (auto& column : table.GetColumns().Physical()) {
		if (std::ranges::find(update.columns, column.Physical()) != update.columns.end()) continue;
		if (fields[column.Physical().index].metadata.contains(kGenerationExpressionKey)) {
			// Computed anew from the other columns (engine/write/row_rules.h).
			update.expressions.push_back(
				duckdb::make_uniq<duckdb::BoundConstantExpression>(duckdb::Value(column.Type())));
			update.columns.push_back(column.Physical());
			continue;
		}
		auto at = ScanColumn(get, column.Physical().index);
		update.expressions.push_back(duckdb::make_uniq<duckdb::BoundColumnRefExpression>(
			column.Type(), duckdb::ColumnBinding(projection.table_index, projection.expressions.size())));
		projection.expressions.push_back(duckdb::make_uniq<duckdb::BoundColumnRefExpression>(
			column.Type(), duckdb::ColumnBinding(get.table_index, at)));
		update.columns.push_back(column.Physical());
	}
	if (auto hidden = RowIdColumnsOf(*table.Cast<LakeTableEntry>().view())) {  // behind those of the table: StableIds
		auto type = duckdb::LogicalType::BIGINT;
		auto at = ScanColumn(get, AddHiddenColumn(get, hidden->id));
		update.expressions.push_back(duckdb::make_uniq<duckdb::BoundColumnRefExpression>(
			type, duckdb::ColumnBinding(projection.table_index, projection.expressions.size())));
		projection.expressions.push_back(
			duckdb::make_uniq<duckdb::BoundColumnRefExpression>(type, duckdb::ColumnBinding(get.table_index, at)));
		update.columns.emplace_back(fields.size());
	}
	update.update_is_del_and_insert = true;
}

duckdb::PhysicalOperator& PlanUpdate(duckdb::ClientContext&, duckdb::PhysicalPlanGenerator& planner,
									 duckdb::LogicalUpdate& op, duckdb::PhysicalOperator& plan) {
	auto& table = op.table.Cast<LakeTableEntry>();
	auto& write =
		planner.Make<LakeWrite>(op.types, WriteKind::kUpdate, table.catalog, table.table(), op.estimated_cardinality)
			.Cast<LakeWrite>();
	write.returning = op.return_chunk;
	NoteRemovalOfAllMatches(plan);
	// The binder lists columns in the order of SET, then ours; rows are written in table order.
	write.images.resize(op.columns.size());
	for (size_t i = 0; i < op.columns.size(); i++) {
		auto& expression = *op.expressions[i];
		bool is_default = expression.GetExpressionType() == duckdb::ExpressionType::VALUE_DEFAULT;
		write.images[op.columns[i].index] =
			is_default ? op.bound_defaults[op.columns[i].index]->Copy() : expression.Copy();
	}
	write.file_column = plan.types.size() - 2;
	write.position_column = plan.types.size() - 1;
	write.children.push_back(plan);
	return write;
}

}  // namespace braid::engine
