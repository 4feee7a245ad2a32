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

// A run for each row; `names` and `positions` as a scan reports them. `number_of`: what the caller counts a file as.
std::vector<ParquetOutput::Run> PlacesOf(duckdb::Vector& names, duckdb::Vector& positions, duckdb::idx_t count,
										 const std::function<size_t(const std::string& name)>& number_of);

class RowOrigins {
public:
	// Files are numbered as they come. Any thread.
	std::vector<ParquetOutput::Run> PlacesOf(duckdb::Vector& names, duckdb::Vector& positions, duckdb::idx_t count) {
		return engine::PlacesOf(names, positions, count, [this](const std::string& name) { return NumberOf(name); });
	}
	// What OriginRun::source of this statement's files counts in.
	void Stage(TableWork& work) const;

private:
	size_t NumberOf(const std::string& name);

	std::mutex mutex_;
	std::vector<std::string> names_;
	std::unordered_map<std::string, size_t> numbers_;
};

}  // namespace braid::engine
