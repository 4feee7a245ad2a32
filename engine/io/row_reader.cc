// SPDX-License-Identifier: Apache-2.0
// parquet_scan driven by hand: bind, global state, local state, then chunk after chunk (duckdb.md 5.3).
#include "engine/io/row_reader.h"

#include <algorithm>
#include <atomic>

#include "base/excerpt.h"
#include "duckdb/common/exception.hpp"
#include "duckdb/common/multi_file/multi_file_reader.hpp"
#include "duckdb/common/multi_file/multi_file_states.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/parallel/task_executor.hpp"
#include "duckdb/parallel/task_scheduler.hpp"
#include "engine/scan/scan_function.h"

namespace braid::engine {

namespace {

// One thread's part of ReadRows.
class ReadTask final : public duckdb::BaseExecutorTask {
public:
	ReadTask(duckdb::TaskExecutor& executor, std::shared_ptr<RowScan> scan, std::atomic<bool>& ended,
			 const std::function<bool(duckdb::DataChunk&)>& sink)
		: BaseExecutorTask(executor), scan_(std::move(scan)), ended_(ended), sink_(sink) {}

	void ExecuteTask() override {
		RowReader reader(scan_);
		while (!ended_ && !executor.HasError()) {
			auto* rows = reader.Next();
			if (!rows) return;
			if (!sink_(*rows)) ended_ = true;
		}
	}

private:
	std::shared_ptr<RowScan> scan_;
	std::atomic<bool>& ended_;
	const std::function<bool(duckdb::DataChunk&)>& sink_;
};

}  // namespace

RowScan::RowScan(duckdb::ClientContext& context, ScanSourcePtr source, duckdb::vector<duckdb::column_t> columns_p)
	: context(context), function(MakeScan(context, std::move(source), bind_data)), columns(std::move(columns_p)) {
	auto& schema_types = bind_data->Cast<duckdb::MultiFileBindData>().types;
	auto virtual_columns = ScanVirtualColumns();
	for (auto column : columns) {
		types.push_back(duckdb::IsVirtualColumn(column) ? virtual_columns.at(column).type : schema_types[column]);
	}
	duckdb::TableFunctionInitInput input(bind_data.get(), columns, duckdb::vector<duckdb::idx_t>(), nullptr);
	global = function.init_global(context, input);
}

RowReader::RowReader(duckdb::ClientContext& context, ScanSourcePtr source, duckdb::vector<duckdb::column_t> columns)
	: RowReader(std::make_shared<RowScan>(context, std::move(source), std::move(columns))) {}

RowReader::RowReader(std::shared_ptr<RowScan> scan)
	: scan_(std::move(scan)), thread_(scan_->context), execution_(scan_->context, thread_, nullptr) {
	chunk_.Initialize(scan_->context, scan_->types);
	duckdb::TableFunctionInitInput input(scan_->bind_data.get(), scan_->columns, duckdb::vector<duckdb::idx_t>(),
										 nullptr);
	local_ = scan_->function.init_local(execution_, input, scan_->global.get());
}

// A file is open from the moment that a thread has its first part of it; one that is not might have the column.
bool RowReader::FileHas(const std::string& column) const {
	auto& files = scan_->global->Cast<duckdb::MultiFileGlobalState>().readers;
	if (files.empty() || !files.front()->reader) return true;
	return std::ranges::any_of(files.front()->reader->columns, [&](auto& c) { return c.name == column; });
}

duckdb::DataChunk* RowReader::Next() {
	if (scan_->context.interrupted) throw duckdb::InterruptException();
	chunk_.Reset();
	duckdb::TableFunctionInput input(scan_->bind_data.get(), local_.get(), scan_->global.get());
	scan_->function.function(scan_->context, input, chunk_);
	return chunk_.size() == 0 ? nullptr : &chunk_;
}

void ReadRows(duckdb::ClientContext& context, ScanSourcePtr source, duckdb::vector<duckdb::column_t> columns,
			  const std::function<bool(duckdb::DataChunk& rows)>& sink) {
	auto scan = std::make_shared<RowScan>(context, std::move(source), std::move(columns));
	auto threads = std::min<duckdb::idx_t>(scan->global->MaxThreads(),
										   duckdb::TaskScheduler::GetScheduler(context).NumberOfThreads());
	std::atomic<bool> ended = false;
	duckdb::TaskExecutor executor(context);
	if (threads <= 1) return ReadTask(executor, std::move(scan), ended, sink).ExecuteTask();
	for (duckdb::idx_t i = 0; i < threads; i++) {
		executor.ScheduleTask(duckdb::make_uniq<ReadTask>(executor, scan, ended, sink));
	}
	executor.WorkOnTasks();
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
		picture += (i ? ", " : "") + fields[i].name + "=" + Excerpt(rows.GetValue(i, row).ToString(), kLength);
	}
	if (fields.size() > kColumns) picture += ", ...";
	return picture;
}

std::string RowPicture(duckdb::ClientContext& context, const std::shared_ptr<TableHandle>& table,
					   const SnapshotPtr& view, const AddFile& file, uint64_t position) {
	auto columns = AllColumns(*view);
	columns.push_back(duckdb::MultiFileReader::COLUMN_IDENTIFIER_FILE_ROW_NUMBER);
	RowReader reader(context, SourceOfFile(table, view, file), columns);
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
