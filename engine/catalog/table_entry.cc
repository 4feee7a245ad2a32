// SPDX-License-Identifier: Apache-2.0
// Columns and constraints of the entry come from the snapshot's schema; scans from engine/scan.
#include "engine/catalog/table_entry.h"

#include "duckdb/common/exception.hpp"
#include "duckdb/parser/constraints/not_null_constraint.hpp"
#include "duckdb/parser/parsed_data/create_table_info.hpp"
#include "duckdb/storage/statistics/base_statistics.hpp"
#include "duckdb/storage/table_storage_info.hpp"
#include "engine/catalog/column_default.h"
#include "engine/catalog/transaction.h"
#include "engine/catalog/type_mapping.h"
#include "engine/scan/scan_function.h"
#include "engine/write/identity_values.h"
#include "engine/write/plan_update.h"

namespace braid::engine {

duckdb::unique_ptr<LakeTableEntry> LakeTableEntry::Make(LakeSchemaEntry& schema, const std::string& name,
														std::shared_ptr<TableHandle> table, SnapshotPtr view,
														bool of_the_past) {
	duckdb::CreateTableInfo info(schema.catalog.GetName(), schema.name, name);
	if (view) {
		for (const Field& field : view->schema->fields) {
			duckdb::ColumnDefinition column(field.name, ToDuckType(*field.type, field.name));
			if (IdentityOf(field)) {
				column.SetDefaultValue(IdentityDefault(schema.catalog.GetName(), table->root(), field.name));
			} else if (auto value = DefaultOf(field)) {
				column.SetDefaultValue(std::move(value));
			}
			if (auto comment = MetadataString(field, "comment")) column.SetComment(duckdb::Value(*comment));
			if (!field.nullable) {
				info.constraints.push_back(duckdb::make_uniq<duckdb::NotNullConstraint>(
					duckdb::LogicalIndex(info.columns.LogicalColumnCount())));
			}
			info.columns.AddColumn(std::move(column));
		}
		if (view->metadata.description) info.comment = duckdb::Value(*view->metadata.description);
	}
	return duckdb::make_uniq<LakeTableEntry>(schema, info, std::move(table), std::move(view), of_the_past);
}

LakeTableEntry::LakeTableEntry(LakeSchemaEntry& schema_p, duckdb::CreateTableInfo& info,
							   std::shared_ptr<TableHandle> table, SnapshotPtr view, bool of_the_past)
	: TableCatalogEntry(schema_p.lake_catalog(), schema_p, info),
	  table_(std::move(table)),
	  view_(std::move(view)),
	  of_the_past_(of_the_past) {
	uint64_t known = 0;
	if (!table_->catalog_oid.compare_exchange_strong(known, oid)) oid = known;
}

void LakeTableEntry::RefuseWriteToThePast() const {
	if (!of_the_past_) return;
	throw duckdb::InvalidInputException("Table \"%s\" AT version %d is history and cannot be changed; leave out AT",
										name, static_cast<int64_t>(view_->version));
}

duckdb::unique_ptr<duckdb::BaseStatistics> LakeTableEntry::GetStatistics(duckdb::ClientContext&, duckdb::column_t) {
	return nullptr;
}

duckdb::TableFunction LakeTableEntry::GetScanFunction(duckdb::ClientContext& context,
													  duckdb::unique_ptr<duckdb::FunctionData>& bind_data) {
	if (!view_) throw duckdb::InvalidInputException("Table \"%s\" cannot be read", name);
	LakeReader reader {of_the_past_ ? nullptr : &catalog, this};
	return MakeScan(context, table_, view_, reader, bind_data);
}

duckdb::TableStorageInfo LakeTableEntry::GetStorageInfo(duckdb::ClientContext&) { return {}; }

duckdb::virtual_column_map_t LakeTableEntry::GetVirtualColumns() const { return ScanVirtualColumns(); }

duckdb::vector<duckdb::column_t> LakeTableEntry::GetRowIdColumns() const { return ScanRowIdColumns(); }

void LakeTableEntry::BindUpdateConstraints(duckdb::Binder&, duckdb::LogicalGet& get,
										   duckdb::LogicalProjection& projection, duckdb::LogicalUpdate& update,
										   duckdb::ClientContext&) {
	BindUpdateColumns(*this, get, projection, update);
}

}  // namespace braid::engine
