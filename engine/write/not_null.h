// SPDX-License-Identifier: Apache-2.0
// NOT NULL at every level of a schema (PROTOCOL: Schema Serialization Format, "nullable", "containsNull").
#pragma once

#include "duckdb/common/types/data_chunk.hpp"
#include "kernel/schema/type.h"

namespace braid::engine {

// Throws a ConstraintException that names table, column and row. `rows` are in schema order.
void CheckNotNull(const StructType& schema, const std::string& table, duckdb::DataChunk& rows);

}  // namespace braid::engine
