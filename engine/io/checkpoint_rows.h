// SPDX-License-Identifier: Apache-2.0
// Rows of a checkpoint as flat columns: which SQL reads them from a file of a given schema, and how a chunk of them becomes actions.
#pragma once

#include <string>

#include "base/result.h"
#include "duckdb/common/types/data_chunk.hpp"
#include "kernel/storage/parquet_gateway.h"

namespace braid::engine {

// SELECT lists for a checkpoint whose columns are `schema` (a STRUCT). A field that the file lacks is NULL. Adds are read apart from all other
// actions: nearly every row is an add, and there the other columns hold nothing.
std::string AddColumns(const duckdb::LogicalType& schema, bool with_parsed_stats);
std::string OtherColumns(const duckdb::LogicalType& schema);
bool HasAdds(const duckdb::LogicalType& schema);
bool HasParsedStats(const duckdb::LogicalType& schema);
// Whether one of these adds has no statistics as JSON text.
bool LacksStats(duckdb::DataChunk& adds);
Status EmitAdds(duckdb::DataChunk& chunk, CheckpointSink& sink);
Status EmitOthers(duckdb::DataChunk& chunk, CheckpointSink& sink);

}  // namespace braid::engine
