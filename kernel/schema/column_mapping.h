// SPDX-License-Identifier: Apache-2.0
// Logical and physical column names (PROTOCOL: Column Mapping). In modes name and id every field at every level has an id and a
// physical name; in mode none the physical name is the logical one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "kernel/schema/type.h"

namespace braid {

enum class ColumnMappingMode { kNone, kName, kId };

Result<ColumnMappingMode> ParseColumnMappingMode(const std::string& value);
// Checks that the schema carries what the mode needs, at every level; names the field that does not.
Status CheckColumnMapping(const StructType& schema, ColumnMappingMode mode);
const std::string kPhysicalNameKey = "delta.columnMapping.physicalName";
const std::string kColumnIdKey = "delta.columnMapping.id";
// The type with an id and a physical name for every field in it: new ones above `last_id`, which moves on.
DataTypePtr WithNewColumnIds(const DataType& type, int64_t& last_id, Random& random);
// For a table that is mapped from now on: new ids, but the names that its files have (fields that are mapped already stay as they are).
DataTypePtr WithColumnIdsForFiles(const DataType& type, int64_t& last_id);
std::string PhysicalName(const Field& field, ColumnMappingMode mode);
// The logical names along a physical path; what the schema lacks stays as it is. Elements of arrays and maps end the way.
std::vector<std::string> LogicalPath(std::vector<std::string> physical, const StructType& schema,
									 ColumnMappingMode mode);

}  // namespace braid
