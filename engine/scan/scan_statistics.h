// SPDX-License-Identifier: Apache-2.0
// What Delta's statistics tell DuckDB's optimizer: row counts and bounds of columns. Nothing is said when a file lacks them, when the transaction
// has changed the table (trap 14), or when the bounds might not hold for DuckDB's order (strings, floats).
#pragma once

#include <cstdint>

#include "duckdb/function/table_function.hpp"
#include "duckdb/storage/statistics/base_statistics.hpp"

namespace braid::engine {

class LakeFileList;

struct RowEstimate {
	uint64_t count = 0;
	bool exact = false;  // every file says how many rows it has
};
RowEstimate EstimateRows(const LakeFileList& files);

duckdb::unique_ptr<duckdb::BaseStatistics> ColumnStatistics(duckdb::ClientContext& context,
															const duckdb::FunctionData* bind_data,
															duckdb::column_t column);
// Exact counts for count(*): physical rows less the cardinality of the vectors (trap 1).
duckdb::vector<duckdb::PartitionStatistics> ExactCounts(duckdb::ClientContext& context,
														duckdb::GetPartitionStatsInput& input);

}  // namespace braid::engine
