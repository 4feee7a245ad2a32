// SPDX-License-Identifier: Apache-2.0
// parquet_scan driven by hand: bind, global state, local state, then chunk after chunk (duckdb.md 5.3).
#include "engine/io/row_reader.h"

#include "duckdb/common/exception.hpp"
#include "duckdb/common/multi_file/multi_file_reader.hpp"
#include "duckdb/common/multi_file/multi_file_states.hpp"
#include "duckdb/main/client_context.hpp"
#include "engine/scan/scan_function.h"

namespace braid::engine {

RowReader::RowReader(duckdb::ClientContext& context, ScanSourcePtr source, duckdb::vector<duckdb::column_t> columns)
	: context_(context),
	  function_(MakeScan(context, std::move(source), bind_data_)),
	  thread_(context),
	  execution_(context, thread_, nullptr) {
	auto& schema_types = bind_data_->Cast<duckdb::MultiFileBindData>().types;
	auto virtual_columns = ScanVirtualColumns();
	duckdb::vector<duckdb::LogicalType> types;
	for (auto column : columns) {
		types.push_back(duckdb::IsVirtualColumn(column) ? virtual_columns.at(column).type : schema_types[column]);
	}
	chunk_.Initialize(context, types);
	duckdb::TableFunctionInitInput input(bind_data_.get(), std::move(columns), duckdb::vector<duckdb::idx_t>(),
										 nullptr);
	global_ = function_.init_global(context, input);
	local_ = function_.init_local(execution_, input, global_.get());
}

duckdb::DataChunk* RowReader::Next() {
	if (context_.interrupted) throw duckdb::InterruptException();
	chunk_.Reset();
	duckdb::TableFunctionInput input(bind_data_.get(), local_.get(), global_.get());
	function_.function(context_, input, chunk_);
	return chunk_.size() == 0 ? nullptr : &chunk_;
}

duckdb::vector<duckdb::column_t> AllColumns(const Snapshot& view) {
	duckdb::vector<duckdb::column_t> columns;
	for (size_t i = 0; i < view.schema->fields.size(); i++) columns.push_back(i);
	return columns;
}

std::string RowPicture(const Snapshot& view, duckdb::DataChunk& rows, duckdb::idx_t row) {
	constexpr size_t kColumns = 6;
	constexpr size_t kLength = 40;
	std::string picture;
	auto& fields = view.schema->fields;
	for (size_t i = 0; i < fields.size() && i < kColumns; i++) {
		auto text = rows.GetValue(i, row).ToString();
		if (text.size() > kLength) text = text.substr(0, kLength) + "...";
		picture += (i ? ", " : "") + fields[i].name + "=" + text;
	}
	if (fields.size() > kColumns) picture += ", ...";
	return picture;
}

std::string RowPicture(duckdb::ClientContext& context, const std::shared_ptr<TableHandle>& table,
					   const SnapshotPtr& view, const AddFile& file, uint64_t position) {
	auto source = std::make_shared<ScanSource>();
	source->table = table;
	source->view = view;
	auto& add = source->own_files.emplace_back(file);
	source->files.push_back({add.path, nullptr, &add, nullptr});
	auto columns = AllColumns(*view);
	columns.push_back(duckdb::MultiFileReader::COLUMN_IDENTIFIER_FILE_ROW_NUMBER);
	RowReader reader(context, std::move(source), columns);
	while (auto* rows = reader.Next()) {
		rows->data.back().Flatten(rows->size());
		auto numbers = duckdb::FlatVector::GetData<int64_t>(rows->data.back());
		for (duckdb::idx_t row = 0; row < rows->size(); row++) {
			if (static_cast<uint64_t>(numbers[row]) == position) return RowPicture(*view, *rows, row);
		}
	}
	return "";
}

}  // namespace braid::engine
