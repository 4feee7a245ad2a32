// SPDX-License-Identifier: Apache-2.0
// Rows of a checkpoint as flat columns: which SQL reads them from a file of a given schema, and how a chunk of them becomes actions.
#pragma once

#include <string>

#include "base/result.h"
#include "duckdb/common/types/data_chunk.hpp"
#include "kernel/storage/parquet_gateway.h"

namespace braid::engine {

// SELECT list for a checkpoint whose columns are `schema` (a STRUCT). A field that the file lacks is NULL.
std::string CheckpointColumns(const duckdb::LogicalType& schema, bool with_parsed_stats);
bool HasParsedStats(const duckdb::LogicalType& schema);
// Whether an add of the chunk has no statistics as JSON text.
bool LacksStats(duckdb::DataChunk& chunk);
Status EmitRows(duckdb::DataChunk& chunk, CheckpointSink& sink);

}  // namespace braid::engine
