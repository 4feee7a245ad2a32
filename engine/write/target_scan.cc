// SPDX-License-Identifier: Apache-2.0
// Shared by UPDATE, MERGE and DELETE ... RETURNING, which all need columns that the statement does not name.
#include "engine/write/target_scan.h"

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

}  // namespace braid::engine
