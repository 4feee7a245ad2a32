// SPDX-License-Identifier: Apache-2.0
// How a table's columns are named and numbered inside its data files (PROTOCOL: Column Mapping, "Writer Requirements").
#pragma once

#include "duckdb/common/types.hpp"
#include "duckdb/common/types/value.hpp"
#include "kernel/schema/column_mapping.h"

namespace braid::engine {

// The DuckDB type with physical names of struct fields at every level.
duckdb::LogicalType PhysicalType(const duckdb::LogicalType& type, const DataType& delta, ColumnMappingMode mapping);
// The value of the Parquet writer's option field_ids for these fields; precondition: mapping is not kNone.
duckdb::Value FieldIds(const std::vector<const Field*>& fields, ColumnMappingMode mapping);

}  // namespace braid::engine
