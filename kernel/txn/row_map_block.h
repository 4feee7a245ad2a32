// SPDX-License-Identifier: Apache-2.0
// One block of a row map (docs/formats/row_map.md): which rows of which old files the next rows of a new one were. Takes the shorter of two encodings:
// stretches of a source, with a bit for each row where some are missing, or the number of each row. What was decoded is in range, or is refused.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/deletion/position_set.h"
#include "kernel/txn/staged_changes.h"

namespace braid {

// The rows of all sources numbered through.
class RowNumbers {
public:
	explicit RowNumbers(std::span<const uint64_t> rows_of_sources);

	uint64_t Of(size_t source, uint64_t position) const { return first_[source] + position; }
	size_t SourceOf(uint64_t number) const;
	uint64_t FirstOf(size_t source) const { return first_[source]; }
	uint64_t RowsOf(size_t source) const { return first_[source + 1] - first_[source]; }
	size_t sources() const { return first_.size() - 1; }
	uint64_t count() const { return first_.back(); }
	int width() const;  // bits of a number

private:
	std::vector<uint64_t> first_ {0};
};

// Rows that are looked for, by source.
class WantedRows {
public:
	WantedRows(std::vector<PositionSet> by_source, const RowNumbers& numbers);

	const PositionSet& Of(size_t source) const { return by_source_[source]; }
	bool Has(uint64_t number) const {
		const std::vector<uint64_t>& chunk = chunks_[number / kChunk];
		return !chunk.empty() && chunk[number % kChunk / 64] >> number % 64 & 1;
	}

private:
	static constexpr uint64_t kChunk = 65'536;

	std::vector<PositionSet> by_source_;
	std::vector<std::vector<uint64_t>> chunks_;  // bits by number: Roaring would be asked for every row of the map
};

// `runs`: each after the one before; OriginRun::first does not matter.
std::string EncodeRowMapBlock(std::span<const OriginRun> runs, const RowNumbers& numbers);

using FoundRow = std::function<void(size_t source, uint64_t position, uint64_t row)>;  // row: counted within the block
// Calls back for each wanted row, and answers how many rows the block has. kCorrupt: it is no block of this map.
Result<uint64_t> FindInRowMapBlock(std::string_view block, const RowNumbers& numbers, const WantedRows& wanted,
								   const FoundRow& found);
// Marks the sources of which the block has rows, and answers how many rows it has.
Result<uint64_t> MarkSourcesOfBlock(std::string_view block, const RowNumbers& numbers, std::vector<bool>& sources);

}  // namespace braid
