// SPDX-License-Identifier: Apache-2.0
// CheckpointScan: one checkpoint file in Parquet, chunk by chunk, on the calling thread. parquet_scan is driven by hand, so that nothing is copied
// between the pages that it decompresses and the kernel. A field that the file lacks, or that is NULL in all rows, is no column; one of
// another type is cast. Throws what DuckDB throws.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "duckdb/common/types/data_chunk.hpp"
#include "duckdb/execution/execution_context.hpp"
#include "duckdb/function/table_function.hpp"
#include "duckdb/parallel/thread_context.hpp"
#include "duckdb/planner/table_filter.hpp"
#include "engine/io/checkpoint_columns.h"
#include "engine/io/nested_session.h"

namespace braid::engine {

class CheckpointScan {
public:
	// Begins a transaction of the session.
	CheckpointScan(NestedSession& session, const std::string& location);

	bool HasParsedStats() const;
	// Nearly every row is an add. The others are read apart, so that their many columns are looked at in these few rows only.
	void StartAdds(bool with_parsed_stats);  // all rows, fields of adds
	void StartOthers();                      // rows that are no adds, all other fields
	bool Next();

	size_t size() const { return chunk_.size(); }
	// Valid until Next(); nullptr if the file has no such field.
	duckdb::Vector* Column(size_t column) const { return columns_[column]; }
	// Keeps the text of these columns alive that is too long to lie in the vector itself.
	std::shared_ptr<const void> KeepText(std::initializer_list<size_t> columns) const;

private:
	// Where a field is: the column's place in the chunk, then positions in structs. Empty: not in the file.
	struct Place {
		std::vector<size_t> path;
		duckdb::LogicalType cast = duckdb::LogicalType::INVALID;
	};
	using Columns = duckdb::vector<duckdb::ColumnIndex>;
	void FindVoid(NestedSession& session, const std::string& location);
	bool IsVoid(const CheckpointField& field) const;
	Place Want(const std::string& path, const char* type, Columns& wanted) const;
	void Start(Columns wanted, duckdb::unique_ptr<duckdb::TableFilterSet> filters);
	duckdb::Vector* Resolve(const Place& place);

	duckdb::ClientContext& context_;
	duckdb::TableFunction function_;
	duckdb::unique_ptr<duckdb::FunctionData> bind_data_;
	duckdb::LogicalType schema_;           // STRUCT
	std::map<std::string, bool> is_void_;  // leaf of the file -> NULL in all rows
	duckdb::ThreadContext thread_;
	duckdb::ExecutionContext execution_;
	duckdb::unique_ptr<duckdb::TableFilterSet> filters_;
	duckdb::unique_ptr<duckdb::GlobalTableFunctionState> global_;
	duckdb::unique_ptr<duckdb::LocalTableFunctionState> local_;
	duckdb::DataChunk chunk_;
	std::vector<Place> places_;
	std::vector<duckdb::Vector*> columns_;
	std::vector<std::unique_ptr<duckdb::Vector>> casts_;
};

}  // namespace braid::engine
