// SPDX-License-Identifier: Apache-2.0
// Actions as the flat columns of a checkpoint, collected in a temporary table that DuckDB may spill, and the COPY that makes the file of them.
#pragma once

#include <string>

#include "base/result.h"
#include "duckdb/main/appender.hpp"
#include "engine/io/nested_session.h"
#include "kernel/action/actions.h"
#include "kernel/storage/parquet_gateway.h"

namespace braid::engine {

class CheckpointWriter {
public:
	explicit CheckpointWriter(NestedSession& session) : session_(session) {}

	Status Begin();
	Status Add(const Action& action);
	Status Finish(const std::string& location, ParquetGateway::FileKind kind);

private:
	Status Flush();

	NestedSession& session_;
	std::unique_ptr<duckdb::Appender> appender_;
	duckdb::DataChunk chunk_;
};

}  // namespace braid::engine
