// SPDX-License-Identifier: Apache-2.0
// The scan of a Delta table: DuckDB's parquet_scan with our reader and our file list inside, so that parallelism, projection, filter pushdown and
// late materialisation are DuckDB's own.
#pragma once

#include <memory>

#include "duckdb/catalog/catalog_entry/table_catalog_entry.hpp"
#include "duckdb/common/table_column.hpp"
#include "duckdb/execution/physical_operator.hpp"
#include "duckdb/function/table_function.hpp"
#include "engine/scan/read_registration.h"
#include "engine/scan/scan_source.h"

namespace duckdb {
class ExtensionLoader;
}

namespace braid::engine {

// For whom a table is scanned.
struct LakeReader {
	// The lake whose transaction sees what it has staged itself and enters the scan into its read set. Null: the past, or a table outside of any lake.
	duckdb::optional_ptr<duckdb::Catalog> catalog;
	duckdb::optional_ptr<duckdb::TableCatalogEntry> entry;  // null: braid_scan
};

// A bound scan of `view`.
duckdb::TableFunction MakeScan(duckdb::ClientContext& context, std::shared_ptr<TableHandle> table, SnapshotPtr view,
							   LakeReader reader, duckdb::unique_ptr<duckdb::FunctionData>& bind_data);

// A scan of just these files, for what the engine itself reads; it enters no read set.
duckdb::TableFunction MakeScan(duckdb::ClientContext& context, ScanSourcePtr source,
							   duckdb::unique_ptr<duckdb::FunctionData>& bind_data);

// DuckDB's own.
const duckdb::TableFunction& ParquetScan(duckdb::ClientContext& context);

// Makes a copy of parquet_scan work on a LakeFileList.
void UseLakeFiles(duckdb::TableFunction& function);

duckdb::virtual_column_map_t ScanVirtualColumns();
// (filename, file_row_number): stable under file pruning, never NULL (trap 2, trap 13).
duckdb::vector<duckdb::column_t> ScanRowIdColumns();

// For DELETE and UPDATE, when planned: if `child` is nothing but the scan of its target, every row that the scan returns is removed.
void NoteRemovalOfAllMatches(const duckdb::PhysicalOperator& child);

// What joins above this scan demand of its rows (ReadRegistration::key_tests); null if it is not a scan of a table of a
// lake that enters a read set.
ReadRegistration* RegistrationOf(const duckdb::TableFunction& function, const duckdb::FunctionData* bind_data);

// Makes braid_scan('path' [, version => n] [, timestamp => t]) known.
void RegisterScanFunction(duckdb::ExtensionLoader& loader);

}  // namespace braid::engine
