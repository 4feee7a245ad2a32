// SPDX-License-Identifier: Apache-2.0
// LakeCatalog: an attached directory of Delta tables as a DuckDB catalog. It keeps no list of tables: every lookup asks the directory, every
// transaction pins what it touches. Names of functions, types and the like are answered without I/O (trap 22).
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "duckdb/catalog/catalog.hpp"
#include "engine/catalog/lake_directory.h"

namespace braid::engine {

class LakeSchemaEntry;

class LakeCatalog : public duckdb::Catalog {
public:
	LakeCatalog(duckdb::AttachedDatabase& db, std::string root);
	~LakeCatalog() override;

	LakeDirectory& lake() { return lake_; }
	LakeSchemaEntry& Schema(const std::string& name);  // made on demand, kept until the lake is detached

	void Initialize(bool load_builtin) override;
	void FinalizeLoad(duckdb::optional_ptr<duckdb::ClientContext> context) override;
	std::string GetCatalogType() override { return "braid"; }
	std::string GetDefaultSchema() const override { return DEFAULT_SCHEMA; }
	bool InMemory() override { return false; }
	std::string GetDBPath() override { return lake_.root(); }
	bool SupportsTimeTravel() const override { return true; }
	duckdb::ErrorData SupportsCreateTable(duckdb::BoundCreateTableInfo& info) override;
	duckdb::DatabaseSize GetDatabaseSize(duckdb::ClientContext& context) override;

	duckdb::optional_ptr<duckdb::CatalogEntry> CreateSchema(duckdb::CatalogTransaction transaction,
															duckdb::CreateSchemaInfo& info) override;
	duckdb::optional_ptr<duckdb::SchemaCatalogEntry> LookupSchema(duckdb::CatalogTransaction transaction,
																  const duckdb::EntryLookupInfo& lookup,
																  duckdb::OnEntryNotFound if_not_found) override;
	void ScanSchemas(duckdb::ClientContext& context,
					 std::function<void(duckdb::SchemaCatalogEntry&)> callback) override;

	// Refused here: DuckDB would crash, or make no index and say nothing when the table is empty.
	duckdb::unique_ptr<duckdb::LogicalOperator> BindCreateIndex(
		duckdb::Binder& binder, duckdb::CreateStatement& statement, duckdb::TableCatalogEntry& table,
		duckdb::unique_ptr<duckdb::LogicalOperator> plan) override;
	duckdb::PhysicalOperator& PlanCreateTableAs(duckdb::ClientContext& context, duckdb::PhysicalPlanGenerator& planner,
												duckdb::LogicalCreateTable& op,
												duckdb::PhysicalOperator& plan) override;
	duckdb::PhysicalOperator& PlanInsert(duckdb::ClientContext& context, duckdb::PhysicalPlanGenerator& planner,
										 duckdb::LogicalInsert& op,
										 duckdb::optional_ptr<duckdb::PhysicalOperator> plan) override;
	duckdb::PhysicalOperator& PlanDelete(duckdb::ClientContext& context, duckdb::PhysicalPlanGenerator& planner,
										 duckdb::LogicalDelete& op, duckdb::PhysicalOperator& plan) override;
	duckdb::PhysicalOperator& PlanUpdate(duckdb::ClientContext& context, duckdb::PhysicalPlanGenerator& planner,
										 duckdb::LogicalUpdate& op, duckdb::PhysicalOperator& plan) override;
	duckdb::PhysicalOperator& PlanMergeInto(duckdb::ClientContext& context, duckdb::PhysicalPlanGenerator& planner,
											duckdb::LogicalMergeInto& op, duckdb::PhysicalOperator& plan) override;

private:
	void DropSchema(duckdb::ClientContext& context, duckdb::DropInfo& info) override;

	LakeDirectory lake_;
	std::mutex mutex_;
	std::map<std::string, std::unique_ptr<LakeSchemaEntry>> schemas_;  // by directory name
};

}  // namespace braid::engine
