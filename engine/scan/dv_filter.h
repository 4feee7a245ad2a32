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
    duckdb::sel_t* out = selection.data();
    duckdb::sel_t row = 0;
    auto keep_until = [&](duckdb::sel_t end) {
      while (row < end) *out++ = row++;
    };
    for (uint64_t position : positions) {
      keep_until(static_cast<duckdb::sel_t>(position - first));
      ++row;
    }
    keep_until(static_cast<duckdb::sel_t>(count));
    return count - positions.size();
  }

 private:
  std::shared_ptr<const PositionSet> deleted_;
};

}  // namespace braid::engine
