// SPDX-License-Identifier: Apache-2.0
// Shared by UPDATE and DELETE ... RETURNING, which both need columns that the statement does not name.
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

}  // namespace braid::engine
