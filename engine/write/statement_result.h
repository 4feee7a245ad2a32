// SPDX-License-Identifier: Apache-2.0
// What a statement that changes rows answers to its client: how many it changed or, with RETURNING, the rows.
#pragma once

#include <cstdint>

#include "duckdb/common/types/column/column_data_collection.hpp"

namespace braid::engine {

class StatementResult {
public:
	duckdb::unique_ptr<duckdb::ColumnDataCollection> returned;  // RETURNING; null: the number is asked for

	// The next rows of the answer, when the statement is over. False: they were the last.
	bool Next(uint64_t changed, duckdb::DataChunk& chunk);

private:
	duckdb::ColumnDataScanState scan_;
	bool started_ = false;
};

}  // namespace braid::engine
