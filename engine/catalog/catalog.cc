// SPDX-License-Identifier: Apache-2.0
// Lookups go to the directory; statements that write go to engine/write.
#include "engine/catalog/catalog.h"

#include "duckdb/common/exception/catalog_exception.hpp"
#include "duckdb/parser/parsed_data/create_schema_info.hpp"
#include "duckdb/parser/parsed_data/drop_info.hpp"
#include "duckdb/storage/database_size.hpp"
#include "engine/catalog/create_table.h"
#include "engine/catalog/drop.h"
#include "engine/catalog/schema_entry.h"
#include "engine/catalog/table_entry.h"
#include "engine/write/plan_create.h"
#include "engine/write/plan_delete.h"
#include "engine/write/plan_insert.h"
#include "engine/write/plan_merge.h"
#include "engine/write/plan_update.h"

namespace braid::engine {

LakeCatalog::LakeCatalog(duckdb::AttachedDatabase& db_p, std::string root) : Catalog(db_p), lake_(std::move(root)) {}

LakeCatalog::~LakeCatalog() = default;

void LakeCatalog::Initialize(bool) {}

void LakeCatalog::FinalizeLoad(duckdb::optional_ptr<duckdb::ClientContext>) { lake_.Open(); }

LakeSchemaEntry& LakeCatalog::Schema(const std::string& name) {
	std::lock_guard lock(mutex_);
	auto& entry = schemas_[name];
	if (!entry) {
		duckdb::CreateSchemaInfo info;
		info.catalog = GetName();
		info.schema = name;
		info.internal = name == DEFAULT_SCHEMA;
		entry = std::make_unique<LakeSchemaEntry>(*this, info);
	}
	return *entry;
}

duckdb::ErrorData LakeCatalog::SupportsCreateTable(duckdb::BoundCreateTableInfo& info) {
	return CheckCreateTable(info);
}

duckdb::DatabaseSize LakeCatalog::GetDatabaseSize(duckdb::ClientContext&) { return {}; }

duckdb::optional_ptr<duckdb::CatalogEntry> LakeCatalog::CreateSchema(duckdb::CatalogTransaction transaction,
																	 duckdb::CreateSchemaInfo& info) {
	if (lake_.is_one_table()) {
		throw duckdb::CatalogException(
			"\"%s\" is attached as one table; attach the directory above it to create schemas", GetName());
	}
	if (lake_.FindSchema(info.schema)) {
		if (info.on_conflict == duckdb::OnCreateConflict::IGNORE_ON_CONFLICT) return nullptr;
		if (info.on_conflict == duckdb::OnCreateConflict::REPLACE_ON_CONFLICT) {
			throw duckdb::NotImplementedException("CREATE OR REPLACE SCHEMA is not supported; DROP SCHEMA \"%s\" first",
												  info.schema);
		}
		throw duckdb::CatalogException::EntryAlreadyExists(duckdb::CatalogType::SCHEMA_ENTRY, info.schema);
	}
	if (!IsLakeName(info.schema)) {
		throw duckdb::InvalidInputException(
			"\"%s\" cannot name a schema: it becomes a directory, which may not begin with _ or .", info.schema);
	}
	engine::CreateSchema(transaction.GetContext(), lake_.SchemaDirectory(info.schema));
	return &Schema(info.schema);
}

duckdb::optional_ptr<duckdb::SchemaCatalogEntry> LakeCatalog::LookupSchema(duckdb::CatalogTransaction,
																		   const duckdb::EntryLookupInfo& lookup,
																		   duckdb::OnEntryNotFound if_not_found) {
	if (auto name = lake_.FindSchema(lookup.GetEntryName())) return &Schema(*name);
	if (if_not_found == duckdb::OnEntryNotFound::RETURN_NULL) return nullptr;
	throw duckdb::CatalogException(lookup.GetErrorContext(), "Schema \"%s\" does not exist in \"%s\" (directory %s)",
								   lookup.GetEntryName(), GetName(), lake_.root());
}

void LakeCatalog::ScanSchemas(duckdb::ClientContext&, std::function<void(duckdb::SchemaCatalogEntry&)> callback) {
	for (const std::string& name : lake_.Schemas()) callback(Schema(name));
}

void LakeCatalog::DropSchema(duckdb::ClientContext& context, duckdb::DropInfo& info) {
	auto name = lake_.FindSchema(info.name);
	if (!name) {
		if (info.if_not_found == duckdb::OnEntryNotFound::RETURN_NULL) return;
		throw duckdb::CatalogException("Schema \"%s\" does not exist in \"%s\"", info.name, GetName());
	}
	if (*name == DEFAULT_SCHEMA) throw duckdb::CatalogException("Schema \"main\" of a lake cannot be dropped");
	for (const std::string& table : lake_.Tables(*name)) lake_.Forget(lake_.TableDirectory(*name, table));
	engine::DropSchema(context, lake_.SchemaDirectory(*name), info.cascade);
}

duckdb::unique_ptr<duckdb::LogicalOperator> LakeCatalog::BindCreateIndex(duckdb::Binder&, duckdb::CreateStatement&,
																		 duckdb::TableCatalogEntry& table,
																		 duckdb::unique_ptr<duckdb::LogicalOperator>) {
	throw duckdb::NotImplementedException(
		"Table \"%s\": a table of a lake has no indexes; files are skipped by their statistics", table.name);
}

duckdb::PhysicalOperator& LakeCatalog::PlanCreateTableAs(duckdb::ClientContext& context,
														 duckdb::PhysicalPlanGenerator& planner,
														 duckdb::LogicalCreateTable& op,
														 duckdb::PhysicalOperator& plan) {
	return engine::PlanCreateTableAs(context, planner, op, plan);
}

static void CheckChange(duckdb::ClientContext& context, duckdb::TableCatalogEntry& target) {
	auto& table = target.Cast<LakeTableEntry>();
	table.RefuseWriteToThePast();
	LakeTransaction::Get(context, table.catalog).RefuseSecondTable(*table.table());
}

duckdb::PhysicalOperator& LakeCatalog::PlanInsert(duckdb::ClientContext& context,
												  duckdb::PhysicalPlanGenerator& planner, duckdb::LogicalInsert& op,
												  duckdb::optional_ptr<duckdb::PhysicalOperator> plan) {
	CheckChange(context, op.table);
	return engine::PlanInsert(context, planner, op, plan);
}

duckdb::PhysicalOperator& LakeCatalog::PlanDelete(duckdb::ClientContext& context,
												  duckdb::PhysicalPlanGenerator& planner, duckdb::LogicalDelete& op,
												  duckdb::PhysicalOperator& plan) {
	CheckChange(context, op.table);
	return engine::PlanDelete(context, planner, op, plan);
}

duckdb::PhysicalOperator& LakeCatalog::PlanUpdate(duckdb::ClientContext& context,
												  duckdb::PhysicalPlanGenerator& planner, duckdb::LogicalUpdate& op,
												  duckdb::PhysicalOperator& plan) {
	CheckChange(context, op.table);
	return engine::PlanUpdate(context, planner, op, plan);
}

duckdb::PhysicalOperator& LakeCatalog::PlanMergeInto(duckdb::ClientContext& context,
													 duckdb::PhysicalPlanGenerator& planner,
													 duckdb::LogicalMergeInto& op, duckdb::PhysicalOperator& plan) {
	CheckChange(context, op.table);
	return engine::PlanMergeInto(context, planner, op, plan);
}

}  // namespace braid::engine
