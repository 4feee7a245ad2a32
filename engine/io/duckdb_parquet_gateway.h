// SPDX-License-Identifier: Apache-2.0
// DuckdbParquetGateway: the kernel's checkpoints read and written by DuckDB (PROTOCOL: Checkpoints). Reads what any writer leaves out: missing
// columns, statistics as a struct only, maps or no maps. Works inside a bind, a running statement and a commit.
#pragma once

#include "duckdb/main/database.hpp"
#include "kernel/storage/parquet_gateway.h"

namespace braid::engine {

class DuckdbParquetGateway final : public ParquetGateway {
public:
	explicit DuckdbParquetGateway(duckdb::DatabaseInstance& db) : db_(db) {}

	Status ReadCheckpoint(std::span<const std::string> locations, CheckpointSink& sink) override;
	Result<int64_t> WriteCheckpoint(const std::string& location, FileKind kind,
									const std::function<Status(const Emit& emit)>& produce) override;

private:
	duckdb::DatabaseInstance& db_;
};

}  // namespace braid::engine
