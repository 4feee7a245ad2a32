// SPDX-License-Identifier: Apache-2.0
// What DuckDB's Parquet writer says of a file it has written, as Delta statistics (duckdb.md 4.2).
// A bound that is not certain is left out: booleans and binaries, the max of a column that holds NaN.
#pragma once

#include <string>
#include <vector>

#include "duckdb/function/copy_function.hpp"
#include "kernel/stats/file_stats.h"

namespace braid::engine {

// `wanted`: the leaf columns that get statistics, by physical path. `nan_columns`: physical top-level names of columns
// that hold NaN.
FileStats ToFileStats(const duckdb::CopyFunctionFileStatistics& written, const StructType& schema,
					  ColumnMappingMode mapping, const std::vector<std::vector<std::string>>& wanted,
					  const std::vector<std::string>& nan_columns);

// The writer's key of a leaf: each name quoted, joined by dots.
std::string WriterKey(const std::vector<std::string>& path);

}  // namespace braid::engine
