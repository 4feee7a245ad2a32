// SPDX-License-Identifier: Apache-2.0
// A point in time keeps its instant whatever flag the data file gives it: INT96 and zone-less Parquet columns read as TIMESTAMP, and DuckDB's
// cast to TIMESTAMP WITH TIME ZONE would shift them by the session's time zone (trap 31). These casts, at any depth of nesting, become
// reinterpretations: both types hold microseconds since the epoch, UTC.
#pragma once

#include "duckdb/planner/expression.hpp"

namespace braid::engine {

void KeepInstants(duckdb::unique_ptr<duckdb::Expression>& expression);

}  // namespace braid::engine
