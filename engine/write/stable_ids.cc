// SPDX-License-Identifier: Apache-2.0
#include "engine/write/stable_ids.h"

#include "engine/write/by_file_name.h"
#include "engine/write/staging.h"

namespace braid::engine {

using duckdb::LogicalType;

duckdb::DataChunk& FirstColumns(duckdb::DataChunk& rows, duckdb::idx_t columns, duckdb::DataChunk& out) {
	if (out.ColumnCount() == 0) {
		auto types = rows.GetTypes();
		types.resize(columns);
		out.InitializeEmpty(types);
	}
	for (duckdb::idx_t i = 0; i < columns; i++) out.data[i].Reference(rows.data[i]);
	out.SetCardinality(rows.size());
	return out;
}

std::unique_ptr<StableIds> StableIds::For(TableWork& work) {
	auto columns = RowIdColumnsOf(*work.view);
	if (!columns) return nullptr;
	return std::unique_ptr<StableIds>(
		new StableIds(work, WithHiddenColumns(*work.view, {columns->id, columns->version})));
}

duckdb::vector<LogicalType> StableIds::WithIds(duckdb::vector<LogicalType> types) {
	types.insert(types.end(), 2, LogicalType::BIGINT);
	return types;
}

StableIds::FileIds StableIds::Of(const std::string& file) const {
	std::lock_guard guard(mutex_);
	auto [known, is_new] = files_.try_emplace(file);
	if (is_new) {
		std::lock_guard work_guard(work_.mutex);
		auto add = FindFile(work_, file);
		known->second = {add.base_row_id, add.default_row_commit_version};
	}
	return known->second;
}

static void Set(duckdb::Vector& out, duckdb::idx_t row, std::optional<int64_t> value) {
	if (value) {
		duckdb::FlatVector::GetData<int64_t>(out)[row] = *value;
	} else {
		duckdb::FlatVector::SetNull(out, row, true);
	}
}

void StableIds::Append(duckdb::DataChunk& rows, std::optional<Origin> origin, duckdb::DataChunk& out) const {
	const auto count = rows.size();
	const auto columns = rows.ColumnCount();
	out.InitializeEmpty(WithIds(rows.GetTypes()));
	for (duckdb::idx_t i = 0; i < columns; i++) out.data[i].Reference(rows.data[i]);
	out.SetCardinality(count);
	if (!origin) {
		for (auto i : {columns, columns + 1}) out.data[i].Reference(duckdb::Value(LogicalType::BIGINT));
		return;
	}
	duckdb::Vector ids(LogicalType::BIGINT, count), versions(LogicalType::BIGINT, count);
	duckdb::UnifiedVectorFormat hidden_ids, hidden_versions, positions;
	origin->hidden_ids.ToUnifiedFormat(count, hidden_ids);
	if (origin->hidden_versions) origin->hidden_versions->ToUnifiedFormat(count, hidden_versions);
	origin->positions.ToUnifiedFormat(count, positions);
	const auto written_down = [](const duckdb::UnifiedVectorFormat& format, duckdb::idx_t row) {
		const auto at = format.sel->get_index(row);
		return format.validity.RowIsValid(at) ? std::optional(duckdb::UnifiedVectorFormat::GetData<int64_t>(format)[at])
											  : std::nullopt;
	};
	for (duckdb::idx_t row = 0; row < count; row++) {
		const FileIds file = origin->file(row);
		auto id = written_down(hidden_ids, row);
		if (!id && file.base) id = *file.base + *written_down(positions, row);
		Set(ids, row, id);
		auto version = origin->hidden_versions ? written_down(hidden_versions, row) : std::nullopt;
		if (!version && origin->hidden_versions) version = file.version;
		Set(versions, row, version);
	}
	out.data[columns].Reference(ids);
	out.data[columns + 1].Reference(versions);
}

void StableIds::Complete(duckdb::DataChunk& scanned, std::function<FileIds(duckdb::idx_t row)> file,
						 duckdb::DataChunk& out) const {
	const auto columns = scanned.ColumnCount() - 4;
	auto& data = scanned.data;
	duckdb::DataChunk rows;
	FirstColumns(scanned, columns, rows);
	Append(rows, Origin {data[columns], &data[columns + 1], std::move(file), data[columns + 3]}, out);
}

std::function<StableIds::FileIds(duckdb::idx_t row)> StableIds::ByName(duckdb::Vector& files,
																	   duckdb::idx_t count) const {
	return ByFileName<FileIds>(files, count, [this](const std::string& name) { return Of(name); });
}

void StableIds::Stage() const {
	std::lock_guard guard(work_.mutex);
	work_.work.changes.keeps_row_ids = true;
}

}  // namespace braid::engine
