// SPDX-License-Identifier: Apache-2.0
// Which row of the table each row that is written was made of (kernel/txn/staged_changes.h, OriginRun): of rearrangements, and RowOrigins of the new
// images of UPDATE and MERGE, only for statements that mode max may repair.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "duckdb/common/types/vector.hpp"
#include "engine/catalog/transaction.h"
#include "engine/write/parquet_output.h"

namespace braid::engine {

// The rows of a chunk in their order; `positions` as a scan reports them. `source_of`: what the caller counts the file of a row as.
std::vector<ParquetOutput::Run> PlacesOf(duckdb::Vector& positions, duckdb::idx_t count,
										 const std::function<size_t(duckdb::idx_t row)>& source_of);

class RowOrigins {
public:
	// Files are numbered as they come; `names` as a scan reports them. Any thread.
	std::vector<ParquetOutput::Run> PlacesOf(duckdb::Vector& names, duckdb::Vector& positions, duckdb::idx_t count);
	// What OriginRun::source of this statement's files counts in.
	void Stage(TableWork& work) const;

private:
	size_t NumberOf(const std::string& name);

	std::mutex mutex_;
	std::vector<std::string> names_;
	std::unordered_map<std::string, size_t> numbers_;
};

}  // namespace braid::engine
