// SPDX-License-Identifier: Apache-2.0
// SHALLOW CLONE: a table that begins with the files of another one. Its first commit stands alone, like every RESTORE; nothing of the source is
// locked or changed. The source is read as the transaction sees it, or at a version of the past.
#include "base/environment.h"
#include "base/json.h"
#include "duckdb/catalog/catalog.hpp"
#include "duckdb/common/exception/catalog_exception.hpp"
#include "duckdb/common/exception/transaction_exception.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/planner/binder.hpp"
#include "engine/catalog/create_table.h"
#include "engine/catalog/lake_directory.h"
#include "engine/catalog/schema_entry.h"
#include "engine/catalog/time_travel.h"
#include "engine/catalog/transaction.h"
#include "engine/io/error_translation.h"
#include "engine/maintenance/command_function.h"
#include "engine/maintenance/maintenance_functions.h"
#include "engine/maintenance/vacuum_lock.h"
#include "engine/statement/named_table.h"
#include "engine/write/row_rules.h"
#include "engine/write/staging.h"
#include "kernel/alter/table_changes.h"
#include "kernel/feature/write_requirements.h"
#include "kernel/maintenance/clone_plan.h"
#include "kernel/maintenance/missing_files.h"
#include "kernel/snapshot/domains.h"

namespace braid::engine {

namespace {

using duckdb::LogicalType;
using duckdb::Value;

struct Request {
	std::string target, source, mode;
	Properties properties;
	std::optional<Value> version, timestamp, location;
};

struct Source {
	std::shared_ptr<TableHandle> table;
	SnapshotPtr view;
};

Source FindSource(duckdb::ClientContext& context, const Request& request) {
	auto found = FindNamedTable(context, request.source, "CLONE");
	if (request.version) return {found.table, SnapshotAtVersion(context, *found.table, *request.version)};
	if (request.timestamp) return {found.table, SnapshotAtTimestamp(context, *found.table, *request.timestamp)};
	return {found.table, found.view};
}

std::shared_ptr<TableHandle> PlaceOfTarget(duckdb::ClientContext& context, const PlaceToCreate& place,
										   const Request& request) {
	auto lake = place.lake;
	auto& schema = lake->GetSchema(context, place.schema);
	auto table = schema.Cast<LakeSchemaEntry>().HandleToCreate(place.name);
	if (request.location && AbsoluteDirectory(request.location->ToString()) != table->root()) {
		throw duckdb::NotImplementedException("CLONE: LOCATION '%s' is not supported: the table %s is made in %s",
											  request.location->ToString(), place.name, table->root());
	}
	return table;
}

// Null: nothing is to be done.
SnapshotPtr CheckPlace(const SnapshotPtr& existing, const TableHandle& target, const Source& source,
					   const Request& request) {
	if (existing && request.mode == "CREATE")
		throw duckdb::CatalogException::EntryAlreadyExists(duckdb::CatalogType::TABLE_ENTRY, request.target);
	if (!existing && request.mode == "REPLACE") {
		throw duckdb::CatalogException(
			"[DELTA_CANNOT_REPLACE_MISSING_TABLE] REPLACE TABLE %s: there is no such table; CREATE OR REPLACE TABLE "
			"makes one. "
			"SQLSTATE: 42P01",
			request.target);
	}
	if (target.root() == source.table->root()) {
		throw duckdb::BinderException(
			"CLONE: %s cannot be a clone of itself; RESTORE TABLE %s TO VERSION AS OF n brings an older version back",
			request.target, request.target);
	}
	return existing;
}

// Protocol, metadata and domains of the clone, properties of the statement included.
SnapshotPtr DescribeClone(duckdb::ClientContext& context, ClonePlan& plan, const Source& source,
						  const SnapshotPtr& replaced, const std::string& root, const Properties& properties) {
	auto view = std::make_shared<Snapshot>();
	view->table = root;
	view->version = replaced ? replaced->version : -1;
	view->timestamp = SystemClock().NowMs();
	view->protocol = plan.protocol;
	view->metadata = plan.metadata;
	view->metadata.created_time = view->timestamp;
	view->schema = source.view->schema;
	view->column_mapping = source.view->column_mapping;
	view->files = std::make_shared<FileIndex>();
	if (replaced) {
		view->domains = replaced->domains;
		view->in_commit_timestamp = replaced->in_commit_timestamp;
	}
	for (const auto& domain : plan.domains) ApplyDomain(view->domains, domain);
	Unwrap(CheckWrite(*view, TableOperation::kAppend));
	if (properties.empty()) return view;
	auto draft = DraftOf(view);
	Unwrap(AlterProperties(draft, properties, SystemRandom()));
	for (auto& domain : draft.domains) plan.domains.push_back(domain);
	auto described = Unwrap(FinishDraft(draft));
	RowRules understood(context, described);
	return described;
}

void Stage(TableWork& work, ClonePlan plan, SnapshotPtr view, const Source& source) {
	NameOperation(work, "CLONE");
	std::lock_guard guard(work.mutex);
	auto& transaction = work.work;
	transaction.operation = "CLONE";
	auto& changes = transaction.changes;
	changes.replaced_files = std::move(plan.removed);
	changes.entries = std::move(plan.entries);
	changes.protocol = view->protocol;
	changes.metadata = view->metadata;
	changes.domains = std::move(plan.domains);
	transaction.operation_parameters = {{"source", JsonString("delta.`" + source.table->root() + "`")},
										{"sourceVersion", std::to_string(source.view->version)},
										{"isShallow", "true"}};
	const auto set = [&](const char* name, int64_t value) {
		transaction.operation_metrics[name] = std::to_string(value);
	};
	set("sourceTableSize", plan.source_files.bytes);
	set("sourceNumOfFiles", plan.source_files.files);
	set("numRemovedFiles", plan.files_removed.files);
	set("removedFilesSize", plan.files_removed.bytes);
	set("numCopiedFiles", 0);
	set("copiedFilesSize", 0);
	work.view = std::move(view);
	work.sealed = true;
}

// Older versions, and tables whose files a clone of theirs brings back, have files that VACUUM may be about to delete.
bool BringsBackFiles(const Request& request) {
	return request.version || request.timestamp || request.mode.ends_with("REPLACE");
}

void CheckFiles(duckdb::ClientContext& context, const ClonePlan& plan, const Source& source) {
	const auto files = NamesOf(plan.entries);
	const auto missing =
		Unwrap(FindMissingFiles(source.table->store(), files, [&] { return context.interrupted.load(); }));
	if (missing.empty()) return;
	throw duckdb::IOException(
		"CLONE of version %lld of table %s: %llu of the %llu files that it would name are gone, perhaps removed by "
		"VACUUM: %s. Clone a later version",
		source.view->version, source.table->root(), missing.size(), files.size(), Describe(missing, files));
}

AnswerRows Clone(duckdb::ClientContext& context, const Request& request, const PlaceToCreate& place) {
	if (!context.transaction.IsAutoCommit()) {
		throw duckdb::TransactionException(
			"CLONE of table %s is a commit of its own, so it is refused inside BEGIN ... COMMIT", request.source);
	}
	const auto target = PlaceOfTarget(context, place, request);
	if (BringsBackFiles(request)) {
		HoldOffVacuum(context, target->root(), "CLONE");
		HoldOffVacuum(context, FindTableLog(context, request.source, "CLONE")->root(), "CLONE");
	}
	const auto source = FindSource(context, request);
	auto lake = place.lake;
	auto& transaction = LakeTransaction::Get(context, *lake);
	const auto replaced = CheckPlace(TableAt(context, transaction, target), *target, source, request);
	if (replaced && request.mode == "IF NOT EXISTS") return {};
	if (!replaced) CheckDirectoryIsFree(target->root(), place.name);
	auto plan = Unwrap(PlanClone(*source.view, source.table->store(), replaced.get(), SystemRandom()));
	if (BringsBackFiles(request)) CheckFiles(context, plan, source);
	auto view = DescribeClone(context, plan, source, replaced, target->root(), request.properties);
	const AnswerRows answer {{Value::BIGINT(plan.source_files.bytes), Value::BIGINT(plan.source_files.files),
							  Value::BIGINT(plan.files_removed.files), Value::BIGINT(0),
							  Value::BIGINT(plan.files_removed.bytes), Value::BIGINT(0)}};
	auto& work = transaction.Create(context, target);
	work.work.yields_to_creator = request.mode == "IF NOT EXISTS";
	Stage(work, std::move(plan), std::move(view), source);
	return answer;
}

Command Bind(duckdb::ClientContext& context, duckdb::TableFunctionBindInput& input) {
	Request request {duckdb::StringValue::Get(input.inputs[0]),
					 duckdb::StringValue::Get(input.inputs[1]),
					 duckdb::StringValue::Get(input.inputs[2]),
					 {},
					 {},
					 {},
					 {}};
	if (request.mode == "DEEP") {
		throw duckdb::NotImplementedException(
			"DEEP CLONE is not supported: CREATE TABLE %s AS SELECT * FROM %s copies the rows, CREATE TABLE %s SHALLOW "
			"CLONE %s "
			"shares the files",
			request.target, request.source, request.target, request.source);
	}
	const auto& words = duckdb::ListValue::GetChildren(input.inputs[3]);
	for (size_t i = 0; i + 1 < words.size(); i += 2)
		request.properties.emplace_back(words[i].ToString(), words[i + 1].ToString());
	for (const auto& [name, value] : input.named_parameters) {
		(name == "version" ? request.version : name == "timestamp" ? request.timestamp : request.location) = value;
	}
	const auto place = FindPlaceToCreate(context, input, request.target, "CLONE");
	return [request, place](duckdb::ClientContext& client) { return Clone(client, request, place); };
}

}  // namespace

void RegisterClone(duckdb::ExtensionLoader& loader) {
	RegisterCommand(loader, {.name = "braid_clone",
							 .arguments = {LogicalType::VARCHAR, LogicalType::VARCHAR, LogicalType::VARCHAR,
										   LogicalType::LIST(LogicalType::VARCHAR)},
							 .options = {{"version", LogicalType::ANY},
										 {"timestamp", LogicalType::ANY},
										 {"location", LogicalType::VARCHAR}},
							 .columns = {{"source_table_size", LogicalType::BIGINT},
										 {"source_num_of_files", LogicalType::BIGINT},
										 {"num_removed_files", LogicalType::BIGINT},
										 {"num_copied_files", LogicalType::BIGINT},
										 {"removed_files_size", LogicalType::BIGINT},
										 {"copied_files_size", LogicalType::BIGINT}},
							 .bind = Bind});
}

}  // namespace braid::engine
