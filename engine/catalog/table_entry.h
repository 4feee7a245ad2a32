// SPDX-License-Identifier: Apache-2.0
// LakeTableEntry: one table as a query sees it: immutable, made from one snapshot (of now, or of the past). Rows are addressed by
// (filename, file_row_number): trap 2. A broken table in a listing has no columns and no snapshot, and every use of it throws.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "duckdb/catalog/catalog_entry/table_catalog_entry.hpp"
#include "engine/catalog/schema_entry.h"
#include "engine/write/insert_mode.h"

namespace braid::engine {

class LakeTableEntry : public duckdb::TableCatalogEntry {
public:
	static duckdb::unique_ptr<LakeTableEntry> Make(LakeSchemaEntry& schema, const std::string& name,
												   std::shared_ptr<TableHandle> table, SnapshotPtr view,
												   bool of_the_past);
	LakeTableEntry(LakeSchemaEntry& schema, duckdb::CreateTableInfo& info, std::shared_ptr<TableHandle> table,
				   SnapshotPtr view, bool of_the_past);

	const std::shared_ptr<TableHandle>& table() const { return table_; }
	const SnapshotPtr& view() const { return view_; }  // metadata and files, without what the transaction staged
	bool of_the_past() const { return of_the_past_; }
	void RefuseWriteToThePast() const;
	std::optional<InsertMode> insert_mode;  // of the INSERT that has looked the table up

	duckdb::unique_ptr<duckdb::BaseStatistics> GetStatistics(duckdb::ClientContext& context,
															 duckdb::column_t column) override;
	duckdb::TableFunction GetScanFunction(duckdb::ClientContext& context,
										  duckdb::unique_ptr<duckdb::FunctionData>& bind_data) override;
	duckdb::TableStorageInfo GetStorageInfo(duckdb::ClientContext& context) override;
	duckdb::virtual_column_map_t GetVirtualColumns() const override;
	duckdb::vector<duckdb::column_t> GetRowIdColumns() const override;
	void BindUpdateConstraints(duckdb::Binder& binder, duckdb::LogicalGet& get, duckdb::LogicalProjection& projection,
							   duckdb::LogicalUpdate& update, duckdb::ClientContext& context) override;

private:
	std::shared_ptr<TableHandle> table_;
	SnapshotPtr view_;
	bool of_the_past_;
};

}  // namespace braid::engine
