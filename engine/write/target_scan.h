// SPDX-License-Identifier: Apache-2.0
// The scan of the table that an UPDATE, DELETE or MERGE changes, inside its plan.
#pragma once

#include "duckdb/planner/operator/logical_get.hpp"
#include "engine/scan/filter_bridge.h"

namespace braid::engine {

// Where the scan delivers this column; added if it is not there. A column listed twice would be read twice from one
// stream (trap 3).
duckdb::idx_t ScanColumn(duckdb::LogicalGet& get, duckdb::column_t column);

// The scan with this index; null if the optimizer or the binder has left none.
duckdb::optional_ptr<duckdb::LogicalGet> FindGet(duckdb::LogicalOperator& op, duckdb::idx_t table_index);

// A column of the scan as a column of the table; no name if it is none.
NamedColumn ColumnOfScan(const duckdb::Expression& expression, const duckdb::LogicalGet& scan);

}  // namespace braid::engine
