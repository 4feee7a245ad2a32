// SPDX-License-Identifier: Apache-2.0
// The rows of a ScanSource outside of a plan: RowReader on the calling thread, chunk by chunk; ReadRows with all threads of the session. Neither
// enters a read set. For what the engine itself reads: rows of concurrent commits, rows that copy-on-write carries over, rows that a message shows.
#pragma once

#include <functional>

#include "duckdb/common/types/data_chunk.hpp"
#include "duckdb/execution/execution_context.hpp"
#include "duckdb/function/table_function.hpp"
#include "duckdb/parallel/thread_context.hpp"
#include "engine/scan/scan_source.h"

namespace braid::engine {

// A scan that has begun: what its threads share.
struct RowScan {
	// `columns`: indexes into the schema, or identifiers of virtual columns (MultiFileReader). `context` must have an active transaction.
	RowScan(duckdb::ClientContext& context, ScanSourcePtr source, duckdb::vector<duckdb::column_t> columns);

	duckdb::ClientContext& context;
	duckdb::unique_ptr<duckdb::FunctionData> bind_data;  // filled while `function` is made
	duckdb::TableFunction function;
	duckdb::vector<duckdb::column_t> columns;
	duckdb::vector<duckdb::LogicalType> types;
	duckdb::unique_ptr<duckdb::GlobalTableFunctionState> global;
};

class RowReader {
public:
	RowReader(duckdb::ClientContext& context, ScanSourcePtr source, duckdb::vector<duckdb::column_t> columns);
	// One of several that share the rows of a scan.
	explicit RowReader(std::shared_ptr<RowScan> scan);

	// Whether the file that this reader begins with has a column of that name; the table need not have one.
	bool FileHas(const std::string& column) const;
	// The next rows, or nullptr at the end. Valid until the next call. Throws InterruptException when the scan's context is interrupted.
	duckdb::DataChunk* Next();

private:
	std::shared_ptr<RowScan> scan_;
	duckdb::ThreadContext thread_;
	duckdb::ExecutionContext execution_;
	duckdb::unique_ptr<duckdb::LocalTableFunctionState> local_;
	duckdb::DataChunk chunk_;
};

// Hands every chunk to `sink`, in no order, by several threads at once where that pays; false from one of them ends the reading. Throws what a
// sink throws.
void ReadRows(duckdb::ClientContext& context, ScanSourcePtr source, duckdb::vector<duckdb::column_t> columns,
			  const std::function<bool(duckdb::DataChunk& rows)>& sink);

// Every column of the table, in order.
duckdb::vector<duckdb::column_t> AllColumns(const Snapshot& view);
// "id=7, s=x": the first columns of a row, shortened.
std::string RowPicture(const Snapshot& view, duckdb::DataChunk& rows, duckdb::idx_t row);
// The same for a row of one file, by position; "" if the file has no such row.
std::string RowPicture(duckdb::ClientContext& context, const std::shared_ptr<TableHandle>& table,
					   const SnapshotPtr& view, const AddFile& file, uint64_t position);

}  // namespace braid::engine
