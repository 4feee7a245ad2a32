// SPDX-License-Identifier: Apache-2.0
// RowReader: the rows of a ScanSource outside of a plan, on the calling thread, chunk by chunk. It enters no read set.
// For what the engine itself reads: rows of concurrent commits, rows that copy-on-write carries over, rows that a
// message shows.
#pragma once

#include "duckdb/common/types/data_chunk.hpp"
#include "duckdb/execution/execution_context.hpp"
#include "duckdb/function/table_function.hpp"
#include "duckdb/parallel/thread_context.hpp"
#include "engine/scan/scan_source.h"

namespace braid::engine {

class RowReader {
public:
	// `columns`: indexes into the schema, or identifiers of virtual columns (MultiFileReader). `context` must have an
	// active transaction.
	RowReader(duckdb::ClientContext& context, ScanSourcePtr source, duckdb::vector<duckdb::column_t> columns);

	// The next rows, or nullptr at the end. Valid until the next call. Throws InterruptException when `context` is
	// interrupted.
	duckdb::DataChunk* Next();

private:
	duckdb::ClientContext& context_;
	duckdb::unique_ptr<duckdb::FunctionData> bind_data_;  // filled while function_ is made
	duckdb::TableFunction function_;
	duckdb::ThreadContext thread_;
	duckdb::ExecutionContext execution_;
	duckdb::unique_ptr<duckdb::GlobalTableFunctionState> global_;
	duckdb::unique_ptr<duckdb::LocalTableFunctionState> local_;
	duckdb::DataChunk chunk_;
};

// Every column of the table, in order.
duckdb::vector<duckdb::column_t> AllColumns(const Snapshot& view);
// "id=7, s=x": the first columns of a row, shortened.
std::string RowPicture(const Snapshot& view, duckdb::DataChunk& rows, duckdb::idx_t row);
// The same for a row of one file, by position; "" if the file has no such row.
std::string RowPicture(duckdb::ClientContext& context, const std::shared_ptr<TableHandle>& table,
					   const SnapshotPtr& view, const AddFile& file, uint64_t position);

}  // namespace braid::engine
