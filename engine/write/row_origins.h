// SPDX-License-Identifier: Apache-2.0
// RowOrigins: which row of the table each new image of an UPDATE was made of (kernel/txn/staged_changes.h, OriginRun). Only for statements that mode
// max may repair.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "duckdb/common/types/vector.hpp"
#include "engine/write/parquet_output.h"

namespace braid::engine {

class RowOrigins {
public:
	// A run for each row; `names` and `positions` as a scan reports them. Any thread.
	std::vector<ParquetOutput::Run> PlacesOf(duckdb::Vector& names, duckdb::Vector& positions, duckdb::idx_t count);
	// By OriginRun::source.
	const std::vector<std::string>& names() const { return names_; }

private:
	size_t NumberOf(const std::string& name);

	std::mutex mutex_;
	std::vector<std::string> names_;
};

}  // namespace braid::engine
