// SPDX-License-Identifier: Apache-2.0
// PositionCollector: which rows of which files a DELETE or UPDATE touches, as Roaring sets: memory grows with the rows
// touched. One per thread, merged at the end; notices a row that was given twice.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "duckdb/common/types/selection_vector.hpp"
#include "duckdb/common/types/vector.hpp"
#include "kernel/deletion/position_set.h"

namespace braid::engine {

using PositionsByFile = std::map<std::string, PositionSet>;  // by file name as the scan reports it

struct RowAddress {
	std::string file;
	uint64_t position = 0;
};

class PositionCollector {
public:
	// `files`: VARCHAR, `positions`: BIGINT, none of them NULL.
	// `fresh`, if given, gets the rows that were not there yet; answers how many.
	duckdb::idx_t Add(duckdb::Vector& files, duckdb::Vector& positions, duckdb::idx_t count,
					  duckdb::SelectionVector* fresh = nullptr);
	void Merge(PositionCollector&& other);

	const PositionsByFile& by_file() const { return by_file_; }
	uint64_t Cardinality() const;
	// A row that was added more than once, if there is one.
	const std::optional<RowAddress>& duplicate() const { return duplicate_; }

private:
	PositionsByFile by_file_;
	std::optional<RowAddress> duplicate_;
};

}  // namespace braid::engine
