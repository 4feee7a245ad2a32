// SPDX-License-Identifier: Apache-2.0
// DvFilter: leaves deleted rows out while a file is read. Called concurrently for different row groups: stateless, and it shares the set that
// it tests (trap 18). Costs one lookup for a vector without deleted rows.
#pragma once

#include <memory>
#include <vector>

#include "duckdb/common/multi_file/multi_file_data.hpp"
#include "kernel/deletion/position_set.h"

namespace braid::engine {

class DvFilter final : public duckdb::DeleteFilter {
public:
	explicit DvFilter(std::shared_ptr<const PositionSet> deleted) : deleted_(std::move(deleted)) {}

	// Contract of DuckDB: `selection` arrives as identity; if nothing is deleted it stays so.
	duckdb::idx_t Filter(duckdb::row_t start, duckdb::idx_t count, duckdb::SelectionVector& selection) override {
		const auto first = static_cast<uint64_t>(start);
		if (deleted_->NextFrom(first) >= first + count) return count;
		thread_local std::vector<uint64_t> positions;
		positions.clear();
		deleted_->Collect(first, first + count, positions);
		selection.Initialize(STANDARD_VECTOR_SIZE);
		duckdb::sel_t* kept = selection.data();
		auto row = duckdb::sel_t {0};
		for (uint64_t position : positions) {
			for (auto gap = static_cast<duckdb::sel_t>(position - first); row < gap; ++row) *kept++ = row;
			++row;
		}
		for (; row < count; ++row) *kept++ = row;
		return static_cast<duckdb::idx_t>(kept - selection.data());
	}

private:
	std::shared_ptr<const PositionSet> deleted_;
};

}  // namespace braid::engine
