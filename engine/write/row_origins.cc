// SPDX-License-Identifier: Apache-2.0
// Rows of one file mostly come together: its number is looked up when the name changes.
#include "engine/write/row_origins.h"

#include "duckdb/common/types/string_type.hpp"
#include "engine/write/staging.h"

namespace braid::engine {

size_t RowOrigins::NumberOf(const std::string& name) {
	std::lock_guard guard(mutex_);
	auto [known, is_new] = numbers_.emplace(name, names_.size());
	if (is_new) names_.push_back(name);
	return known->second;
}

void RowOrigins::Stage(TableWork& work) const {
	std::lock_guard guard(work.mutex);
	for (auto& name : names_) work.work.changes.origin_files.push_back(LogPath(work.table->root(), name));
}

std::vector<ParquetOutput::Run> PlacesOf(duckdb::Vector& names, duckdb::Vector& positions, duckdb::idx_t count,
										 const std::function<size_t(const std::string& name)>& number_of) {
	duckdb::UnifiedVectorFormat name_format;
	duckdb::UnifiedVectorFormat position_format;
	names.ToUnifiedFormat(count, name_format);
	positions.ToUnifiedFormat(count, position_format);
	auto name = duckdb::UnifiedVectorFormat::GetData<duckdb::string_t>(name_format);
	auto position = duckdb::UnifiedVectorFormat::GetData<int64_t>(position_format);
	std::vector<ParquetOutput::Run> places(count);
	for (duckdb::idx_t row = 0; row < count; row++) {
		auto& current = name[name_format.sel->get_index(row)];
		const bool same = row > 0 && name[name_format.sel->get_index(row - 1)] == current;
		places[row] = {same ? places[row - 1].source : number_of(current.GetString()),
					   static_cast<uint64_t>(position[position_format.sel->get_index(row)]), 1};
	}
	return places;
}

}  // namespace braid::engine
