// SPDX-License-Identifier: Apache-2.0
// Shared by UPDATE, MERGE and DELETE ... RETURNING, which all need columns that the statement does not name.
#include "engine/write/target_scan.h"

#include "duckdb/planner/expression/bound_columnref_expression.hpp"

namespace braid::engine {

duckdb::idx_t ScanColumn(duckdb::LogicalGet& get, duckdb::column_t column) {
	auto& ids = get.GetColumnIds();
	for (duckdb::idx_t i = 0; i < ids.size(); i++) {
		if (ids[i].GetPrimaryIndex() == column) return i;
	}
	get.AddColumnId(column);
	return get.GetColumnIds().size() - 1;
}

duckdb::optional_ptr<duckdb::LogicalGet> FindGet(duckdb::LogicalOperator& op, duckdb::idx_t table_index) {
	if (op.type == duckdb::LogicalOperatorType::LOGICAL_GET &&
		op.Cast<duckdb::LogicalGet>().table_index == table_index) {
		return &op.Cast<duckdb::LogicalGet>();
	}
	for (auto& child : op.children) {
		if (auto found = FindGet(*child, table_index)) return found;
	}
	return nullptr;
}

NamedColumn ColumnOfScan(const duckdb::Expression& expression, const duckdb::LogicalGet& scan) {
	if (expression.GetExpressionClass() != duckdb::ExpressionClass::BOUND_COLUMN_REF) return {};
	auto& reference = expression.Cast<duckdb::BoundColumnRefExpression>();
	if (reference.binding.table_index != scan.table_index) return {};
	auto& ids = scan.GetColumnIds();
	if (reference.binding.column_index >= ids.size()) return {};
	auto& id = ids[reference.binding.column_index];
	if (id.IsVirtualColumn() || id.GetPrimaryIndex() >= scan.names.size()) return {};
	if (scan.returned_types[id.GetPrimaryIndex()] != reference.return_type) return {};
	return {scan.names[id.GetPrimaryIndex()], reference.return_type};
}

}  // namespace braid::engine
