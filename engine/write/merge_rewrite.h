// SPDX-License-Identifier: Apache-2.0
// What DuckDB's binder leaves undone in a MERGE on a lake table, mended before the optimizer runs:
// - references of sub-queries to the source, which the binder misses when there is a BY SOURCE clause (trap 27);
// - columns of the old row for RETURNING of a DELETE;
// - values that an arm writes are computed in the arm, not below it for every row of the join: WHEN MATCHED AND c THEN
//   UPDATE SET x = f(s) must not fail because f fails on a row where c does not hold.
#pragma once

#include "duckdb/main/config.hpp"

namespace braid::engine {

void RegisterMergeRewrite(duckdb::DBConfig& config);

}  // namespace braid::engine
