// SPDX-License-Identifier: Apache-2.0
// ATTACH 'directory' AS name (TYPE braid [, READ_ONLY]) and everything else that Braid adds to a database instance.
#include "engine/catalog/storage_extension.h"

#include "duckdb/main/attached_database.hpp"
#include "duckdb/main/config.hpp"
#include "duckdb/main/extension/extension_loader.hpp"
#include "duckdb/parser/parsed_data/attach_info.hpp"
#include "duckdb/storage/storage_extension.hpp"
#include "engine/catalog/attached_lakes.h"
#include "engine/catalog/catalog.h"
#include "engine/catalog/transaction_manager.h"
#include "engine/inspect/inspect_functions.h"
#include "engine/maintenance/maintenance_functions.h"
#include "engine/repair/repeatable_statement.h"
#include "engine/scan/scan_function.h"
#include "engine/session/explain_conflict.h"
#include "engine/session/session_record.h"
#include "engine/settings.h"
#include "engine/statement/alter_spelling.h"
#include "engine/statement/assignments.h"
#include "engine/statement/named_table.h"
#include "engine/statement/spelling.h"
#include "engine/write/condition_traits.h"
#include "engine/write/identity_values.h"
#include "engine/write/join_keys.h"
#include "engine/write/merge_rewrite.h"
#include "engine/write/plan_delete.h"

namespace braid::engine {

namespace {

duckdb::unique_ptr<duckdb::Catalog> Attach(duckdb::optional_ptr<duckdb::StorageExtensionInfo>,
										   duckdb::ClientContext& context, duckdb::AttachedDatabase& db,
										   const duckdb::string&, duckdb::AttachInfo& info,
										   duckdb::AttachOptions& options) {
	for (const auto& [key, value] : options.options) {
		throw duckdb::BinderException("ATTACH ... (TYPE braid): unknown option \"%s\"; READ_ONLY is the only one", key);
	}
	std::string directory = AbsoluteDirectory(info.path);
	RefuseOverlap(context, directory);
	return duckdb::make_uniq<LakeCatalog>(db, std::move(directory));
}

duckdb::unique_ptr<duckdb::TransactionManager> MakeTransactionManager(
	duckdb::optional_ptr<duckdb::StorageExtensionInfo>, duckdb::AttachedDatabase& db, duckdb::Catalog&) {
	return duckdb::make_uniq<LakeTransactionManager>(db);
}

}  // namespace

void RegisterBraid(duckdb::ExtensionLoader& loader) {
	loader.SetDescription("Delta Lake with row-level concurrency");
	auto& config = duckdb::DBConfig::GetConfig(loader.GetDatabaseInstance());
	auto storage = duckdb::make_shared_ptr<duckdb::StorageExtension>();
	storage->attach = Attach;
	storage->create_transaction_manager = MakeTransactionManager;
	duckdb::StorageExtension::Register(config, "braid", std::move(storage));
	RegisterSettings(config);
	RegisterDeleteReturning(config);
	RegisterMergeRewrite(config);
	RegisterJoinKeys(config);
	RegisterConditionTraits(config);
	RegisterRepeatableStatements(config);
	RegisterSpelling(config);
	RegisterPathTables(config);
	RegisterScanFunction(loader);
	RegisterSessionRecord(loader);
	RegisterExplainConflict(loader);
	RegisterAlterFunction(loader);
	RegisterIdentityFunction(loader);
	RegisterSetField(loader);
	RegisterInspectFunctions(loader);
	RegisterOptimize(loader);
	RegisterRestore(loader);
	RegisterClone(loader);
	RegisterConvert(loader);
	RegisterFsck(loader);
	RegisterCheckpoint(loader);
	RegisterGenerate(loader);
	RegisterVacuum(loader);
}

}  // namespace braid::engine
