// SPDX-License-Identifier: Apache-2.0
#include "engine/write/row_origins.h"

#include "engine/write/by_file_name.h"
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
	const auto number_of = [this](const std::string& name) { return NumberOf(name); };
	return engine::PlacesOf(positions, count, ByFileName<size_t>(names, count, number_of));
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
