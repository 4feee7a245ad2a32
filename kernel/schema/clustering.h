// SPDX-License-Identifier: Apache-2.0
// Clustering columns as the domain delta.clustering keeps them (PROTOCOL: Clustered Table): lists of physical names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel/schema/column_mapping.h"

namespace braid {

inline constexpr std::string_view kClusteringDomain = "delta.clustering";

// Logical names, nested ones dotted; a column that the schema lacks keeps its physical name. Empty if the text says nothing.
std::vector<std::string> ClusteringColumns(std::string_view configuration, const StructType& schema,
										   ColumnMappingMode mode);

// The logical names along a physical path; what the schema lacks stays as it is. Elements of arrays and maps end the way.
std::string LogicalPath(const std::vector<std::string>& physical, const StructType& schema, ColumnMappingMode mode);

}  // namespace braid
