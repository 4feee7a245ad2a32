// SPDX-License-Identifier: Apache-2.0
// Consecutive rows mostly belong to one file: its set is looked up when the name changes.
#include "engine/write/position_collector.h"

#include "duckdb/common/types/string_type.hpp"

namespace braid::engine {

duckdb::idx_t PositionCollector::Add(duckdb::Vector& files, duckdb::Vector& positions, duckdb::idx_t count,
									 duckdb::SelectionVector* fresh) {
	duckdb::UnifiedVectorFormat file_format;
	duckdb::UnifiedVectorFormat position_format;
	files.ToUnifiedFormat(count, file_format);
	positions.ToUnifiedFormat(count, position_format);
	auto names = duckdb::UnifiedVectorFormat::GetData<duckdb::string_t>(file_format);
	auto rows = duckdb::UnifiedVectorFormat::GetData<int64_t>(position_format);
	PositionsByFile::value_type* current = nullptr;
	duckdb::string_t current_name;
	duckdb::idx_t added = 0;
	for (duckdb::idx_t i = 0; i < count; i++) {
		auto& name = names[file_format.sel->get_index(i)];
		if (!current || !(name == current_name)) {
			current = &*by_file_.try_emplace(name.GetString()).first;
			current_name = name;
		}
		auto row = static_cast<uint64_t>(rows[position_format.sel->get_index(i)]);
		if (current->second.Add(row)) {
			if (fresh) fresh->set_index(added, i);
			added++;
		} else if (!duplicate_) {
			duplicate_ = RowAddress {current->first, row};
		}
	}
	return added;
}

void PositionCollector::Merge(PositionCollector&& other) {
	if (!duplicate_) duplicate_ = std::move(other.duplicate_);
	for (auto& [file, positions] : other.by_file_) {
		auto& mine = by_file_[file];
		if (!duplicate_ && mine.Intersects(positions)) duplicate_ = RowAddress {file, (mine & positions).NextFrom(0)};
		mine |= positions;
	}
	other.by_file_.clear();
}

uint64_t PositionCollector::Cardinality() const {
	uint64_t sum = 0;
	for (auto& [file, positions] : by_file_) sum += positions.Cardinality();
	return sum;
}

}  // namespace braid::engine
