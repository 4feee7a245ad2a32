// SPDX-License-Identifier: Apache-2.0
// What Parquet files of any program say of themselves in their footers: columns and statistics. Rows are not read.
#pragma once

#include <map>
#include <span>
#include <string>

#include "engine/io/nested_session.h"
#include "kernel/schema/type.h"
#include "kernel/stats/file_stats.h"

namespace braid::engine {

// All columns nullable. Throws for a file that is no Parquet, or has a column that Delta has no type for; both are named.
StructType ColumnsOfFile(NestedSession& session, const std::string& location);

// By location, for files of one schema whose columns are not mapped. A bound that is not certain is left out.
std::map<std::string, FileStats> FooterStats(NestedSession& session, std::span<const std::string> locations,
											 const StructType& schema,
											 const std::vector<std::vector<std::string>>& wanted);

}  // namespace braid::engine
