// SPDX-License-Identifier: Apache-2.0
// Per-file statistics (PROTOCOL: Per-file Statistics): JSON text <-> bounds per leaf column by physical path.
// Parsing accepts every spelling seen in the wild and drops a bound that it cannot read: a missing bound never prunes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/action/actions.h"
#include "kernel/predicate/scalar.h"
#include "kernel/schema/column_mapping.h"
#include "kernel/schema/type.h"

namespace braid {

struct ColumnStats {
	std::optional<Scalar> min, max;     // outer bounds; a string max may be longer than any value
	std::optional<int64_t> null_count;  // if not tight: 0 = none, num_records = every live row, anything else unknown
};

struct FileStats {
	std::optional<int64_t> num_records;  // physical rows, deleted ones included
	bool tight_bounds = true;
	std::map<std::vector<std::string>, ColumnStats> columns;  // by physical path of leaf columns
};

// Only numRecords, without parsing the rest.
std::optional<int64_t> NumRecords(std::string_view stats_json);
// `schema` gives types by physical path. Only columns of `wanted` (physical top-level names; empty = all) are parsed.
Result<FileStats> ParseFileStats(std::string_view stats_json, const StructType& schema, ColumnMappingMode mode,
								 const std::vector<std::string>& wanted = {});
// Truncates strings to 32 characters (max rounded up), timestamps to milliseconds (max rounded up), leaves out what
// JSON cannot hold.
std::string WriteFileStats(const FileStats& stats, const StructType& schema, ColumnMappingMode mode);
// The statistics of the same file once it has a deletion vector: tightBounds false, everything else as it was. Null
// counts need no change to be in wide form: 0 and numRecords stay true of fewer rows, any other number then means
// "unknown".
Result<std::string> WidenForDeletionVector(std::string_view stats_json);
// Which leaf columns get statistics: the first `num_indexed` leaves (-1: all), or the named ones
// (dataSkippingStatsColumns).
std::vector<std::vector<std::string>> StatsColumns(const StructType& schema, ColumnMappingMode mode,
												   const Configuration& configuration,
												   const std::vector<std::string>& partition_columns);

}  // namespace braid
