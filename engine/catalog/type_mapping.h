// SPDX-License-Identifier: Apache-2.0
// Delta's types and DuckDB's, both ways. timestamp is TIMESTAMP WITH TIME ZONE, timestamp_ntz TIMESTAMP, binary BLOB, byte TINYINT, array LIST.
// void reads as an INTEGER column that is always NULL: DuckDB has no column of no type. A DuckDB type that Delta lacks is refused with the
// nearest one that it has (trap 20).
#pragma once

#include <string>

#include "duckdb/common/types.hpp"
#include "kernel/schema/type.h"

namespace braid::engine {

// Throws NotImplementedException for variant, which names the column.
duckdb::LogicalType ToDuckType(const DataType& type, const std::string& column);
// Throws InvalidInputException: names column, type and the nearest alternative. Fields of the result are nullable and without metadata.
DataTypePtr ToDeltaType(const duckdb::LogicalType& type, const std::string& column);

}  // namespace braid::engine
