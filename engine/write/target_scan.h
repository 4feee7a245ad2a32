// SPDX-License-Identifier: Apache-2.0
// The scan of the table that an UPDATE or DELETE changes, inside its plan.
#pragma once

#include "duckdb/planner/operator/logical_get.hpp"

namespace braid::engine {

// Where the scan delivers this column; added if it is not there. A column listed twice would be read twice from one
// stream (trap 3).
duckdb::idx_t ScanColumn(duckdb::LogicalGet& get, duckdb::column_t column);

}  // namespace braid::engine
