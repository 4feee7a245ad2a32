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

std::vector<ParquetOutput::Run> RowOrigins::PlacesOf(duckdb::Vector& names, duckdb::Vector& positions,
													 duckdb::idx_t count) {
	duckdb::UnifiedVectorFormat format;
	names.ToUnifiedFormat(count, format);
	auto name = duckdb::UnifiedVectorFormat::GetData<duckdb::string_t>(format);
	size_t number = 0;
	duckdb::optional_idx known;  // where in the vector its name stands
	return engine::PlacesOf(positions, count, [&](duckdb::idx_t row) {
		const auto at = format.sel->get_index(row);
		if (!known.IsValid() || (at != known.GetIndex() && name[at] != name[known.GetIndex()]))
			number = NumberOf(name[at].GetString());
		known = at;
		return number;
	});
}

std::vector<ParquetOutput::Run> PlacesOf(duckdb::Vector& positions, duckdb::idx_t count,
										 const std::function<size_t(duckdb::idx_t row)>& source_of) {
	duckdb::UnifiedVectorFormat format;
	positions.ToUnifiedFormat(count, format);
	auto position = duckdb::UnifiedVectorFormat::GetData<int64_t>(format);
	std::vector<ParquetOutput::Run> runs;
	for (duckdb::idx_t row = 0; row < count; row++) {
		const auto source = source_of(row);
		const auto at = static_cast<uint64_t>(position[format.sel->get_index(row)]);
		auto* last = runs.empty() ? nullptr : &runs.back();
		if (last && last->source == source && last->first + last->count == at) {
			last->count++;
		} else {
			runs.push_back({source, at, 1});
		}
	}
	return runs;
}

}  // namespace braid::engine
