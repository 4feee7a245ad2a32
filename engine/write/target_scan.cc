// SPDX-License-Identifier: Apache-2.0
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

bool IsPlainScan(const duckdb::PhysicalOperator& plan) {
  switch (plan.type) {
    case duckdb::PhysicalOperatorType::TABLE_SCAN:
      return true;
    case duckdb::PhysicalOperatorType::FILTER:
    case duckdb::PhysicalOperatorType::PROJECTION:
      return plan.children.size() == 1 && IsPlainScan(plan.children[0].get());
    default:
      return false;
  }
}

}  // namespace braid::engine
