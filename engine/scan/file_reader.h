// SPDX-License-Identifier: Apache-2.0
// LakeFileReader: DuckDB's multi-file Parquet reader taught what a Delta table is: columns by physical name, partition values as constants, deleted
// rows left out. Deletion vectors are read and verified when their file is opened, not before.
#pragma once

#include <memory>

#include "duckdb/common/multi_file/multi_file_reader.hpp"
#include "duckdb/function/table_function.hpp"
#include "engine/scan/file_list.h"

namespace braid::engine {

// Travels in TableFunction::function_info to the reader that DuckDB makes (trap 15).
struct ScanInfo : public duckdb::TableFunctionInfo {
	std::shared_ptr<LakeFileList> files;
};

// The error of a file that the version names; of one that is gone, with the likely reason.
[[noreturn]] void ThrowUnreadable(const Snapshot& view, Error error);

class LakeFileReader final : public duckdb::MultiFileReader {
public:
	explicit LakeFileReader(duckdb::shared_ptr<ScanInfo> info) : info_(std::move(info)) {
		function_name = "braid_scan";
	}
	static duckdb::unique_ptr<duckdb::MultiFileReader> Create(const duckdb::TableFunction& function);

	duckdb::unique_ptr<duckdb::MultiFileReader> Copy() const override;
	duckdb::shared_ptr<duckdb::MultiFileList> CreateFileList(duckdb::ClientContext& context,
															 const duckdb::vector<std::string>& paths,
															 const duckdb::FileGlobInput& glob) override;
	bool Bind(duckdb::MultiFileOptions& options, duckdb::MultiFileList& files,
			  duckdb::vector<duckdb::LogicalType>& types, duckdb::vector<std::string>& names,
			  duckdb::MultiFileReaderBindData& bind_data) override;
	void BindOptions(duckdb::MultiFileOptions& options, duckdb::MultiFileList& files,
					 duckdb::vector<duckdb::LogicalType>& types, duckdb::vector<std::string>& names,
					 duckdb::MultiFileReaderBindData& bind_data) override;
	duckdb::unique_ptr<duckdb::MultiFileReaderGlobalState> InitializeGlobalState(
		duckdb::ClientContext& context, const duckdb::MultiFileOptions& options,
		const duckdb::MultiFileReaderBindData& bind_data, const duckdb::MultiFileList& files,
		const duckdb::vector<duckdb::MultiFileColumnDefinition>& global_columns,
		const duckdb::vector<duckdb::ColumnIndex>& global_column_ids) override;
	duckdb::shared_ptr<duckdb::BaseFileReader> CreateReader(duckdb::ClientContext& context,
															duckdb::GlobalTableFunctionState& state,
															const duckdb::OpenFileInfo& file, duckdb::idx_t index,
															const duckdb::MultiFileBindData& bind_data) override;
	duckdb::ReaderInitializeType InitializeReader(
		duckdb::MultiFileReaderData& reader_data, const duckdb::MultiFileBindData& bind_data,
		const duckdb::vector<duckdb::MultiFileColumnDefinition>& global_columns,
		const duckdb::vector<duckdb::ColumnIndex>& global_column_ids,
		duckdb::optional_ptr<duckdb::TableFilterSet> table_filters, duckdb::ClientContext& context,
		duckdb::MultiFileGlobalState& state) override;
	void FinalizeBind(duckdb::MultiFileReaderData& reader_data, const duckdb::MultiFileOptions& options,
					  const duckdb::MultiFileReaderBindData& bind_data,
					  const duckdb::vector<duckdb::MultiFileColumnDefinition>& global_columns,
					  const duckdb::vector<duckdb::ColumnIndex>& global_column_ids, duckdb::ClientContext& context,
					  duckdb::optional_ptr<duckdb::MultiFileReaderGlobalState> state) override;

private:
	duckdb::shared_ptr<ScanInfo> info_;
};

}  // namespace braid::engine
