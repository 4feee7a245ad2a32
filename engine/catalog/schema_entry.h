// SPDX-License-Identifier: Apache-2.0
// LakeSchemaEntry: the tables of one schema. Entries are made for each lookup from the snapshot that the transaction has pinned, and live as
// long as the query (engine/catalog/entry_pins.h). A listing reads schemas, not snapshots, and shows a broken table without columns (trap 23).
#pragma once

#include <memory>
#include <string>

#include "duckdb/catalog/catalog_entry/schema_catalog_entry.hpp"
#include "engine/catalog/catalog.h"

namespace braid::engine {

class LakeTableEntry;

class LakeSchemaEntry : public duckdb::SchemaCatalogEntry {
public:
	LakeSchemaEntry(LakeCatalog& catalog, duckdb::CreateSchemaInfo& info)
		: SchemaCatalogEntry(catalog, info), lake_catalog_(catalog) {}

	LakeCatalog& lake_catalog() { return lake_catalog_; }
	// The table of this name, or the place where it would be made. Throws if no table can have the name.
	std::shared_ptr<TableHandle> HandleToCreate(const std::string& table_name);

	using Entry = duckdb::optional_ptr<duckdb::CatalogEntry>;
	using Visit = std::function<void(duckdb::CatalogEntry&)>;

	Entry LookupEntry(duckdb::CatalogTransaction transaction, const duckdb::EntryLookupInfo& lookup) override;
	duckdb::SimilarCatalogEntry GetSimilarEntry(duckdb::CatalogTransaction transaction,
												const duckdb::EntryLookupInfo& lookup) override;
	void Scan(duckdb::ClientContext& context, duckdb::CatalogType type, const Visit& callback) override;
	void Scan(duckdb::CatalogType type, const Visit& callback) override;

	Entry CreateTable(duckdb::CatalogTransaction transaction, duckdb::BoundCreateTableInfo& info) override;
	void DropEntry(duckdb::ClientContext& context, duckdb::DropInfo& info) override;
	void Alter(duckdb::CatalogTransaction transaction, duckdb::AlterInfo& info) override;

	// A lake holds tables and nothing else.
	Entry CreateIndex(duckdb::CatalogTransaction, duckdb::CreateIndexInfo&, duckdb::TableCatalogEntry&) override;
	Entry CreateFunction(duckdb::CatalogTransaction, duckdb::CreateFunctionInfo&) override;
	Entry CreateView(duckdb::CatalogTransaction, duckdb::CreateViewInfo&) override;
	Entry CreateSequence(duckdb::CatalogTransaction, duckdb::CreateSequenceInfo&) override;
	Entry CreateTableFunction(duckdb::CatalogTransaction, duckdb::CreateTableFunctionInfo&) override;
	Entry CreateCopyFunction(duckdb::CatalogTransaction, duckdb::CreateCopyFunctionInfo&) override;
	Entry CreatePragmaFunction(duckdb::CatalogTransaction, duckdb::CreatePragmaFunctionInfo&) override;
	Entry CreateCollation(duckdb::CatalogTransaction, duckdb::CreateCollationInfo&) override;
	Entry CreateType(duckdb::CatalogTransaction, duckdb::CreateTypeInfo&) override;

private:
	LakeTableEntry& Pin(duckdb::ClientContext& context, std::shared_ptr<TableHandle> table,
						const std::string& table_name, SnapshotPtr view, bool of_the_past);

	void Rename(duckdb::ClientContext& context, TableHandle& table, const std::string& new_name);

	LakeCatalog& lake_catalog_;
};

}  // namespace braid::engine
