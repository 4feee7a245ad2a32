// SPDX-License-Identifier: Apache-2.0
// RESTORE is staged like any other change and commits alone: it has read the whole table, so that no commit of others may come between.
#include <algorithm>

#include "base/json.h"
#include "duckdb/common/exception.hpp"
#include "duckdb/main/client_context.hpp"
#include "engine/catalog/time_travel.h"
#include "engine/catalog/transaction.h"
#include "engine/io/error_translation.h"
#include "engine/maintenance/command_function.h"
#include "engine/maintenance/maintenance_functions.h"
#include "engine/maintenance/vacuum_lock.h"
#include "engine/settings.h"
#include "engine/statement/named_table.h"
#include "engine/write/staging.h"
#include "kernel/feature/write_requirements.h"
#include "kernel/maintenance/missing_files.h"
#include "kernel/maintenance/restore_plan.h"

namespace braid::engine {

namespace {

using duckdb::LogicalType;
using duckdb::Value;

struct Target {
	duckdb::optional_ptr<LakeCatalog> lake;
	std::shared_ptr<TableHandle> table;
	std::optional<Value> version, timestamp;
};

SnapshotPtr WantedVersion(duckdb::ClientContext& context, const Target& target) {
	return target.version ? SnapshotAtVersion(context, *target.table, *target.version)
						  : SnapshotAtTimestamp(context, *target.table, *target.timestamp);
}

// Files may be gone since: VACUUM keeps them only for a while.
void CheckFiles(duckdb::ClientContext& context, TableHandle& table, const Snapshot& then, RestorePlan& plan) {
	const auto files = NamesOf(plan.restored);
	const auto missing = Unwrap(FindMissingFiles(table.store(), files, [&] { return context.interrupted.load(); }));
	if (missing.empty()) return;
	if (IgnoresMissingFiles(context)) {
		std::vector<size_t> indexes;
		for (const auto& file : missing) indexes.push_back(file.index);
		return LeaveOut(plan, indexes);
	}
	throw duckdb::IOException(
		"RESTORE of table %s to version %lld: %llu of the %llu files that would come back are gone, perhaps removed by "
		"VACUUM: %s. "
		"Restore a later version, or SET braid_restore_ignore_missing_files = true to restore without the rows of "
		"these files",
		table.root(), then.version, missing.size(), files.size(), Describe(missing, files));
}

void Stage(TableWork& work, RestorePlan& plan, SnapshotPtr view, const Target& target) {
	NameOperation(work, "RESTORE");
	std::lock_guard guard(work.mutex);
	auto& transaction = work.work;
	transaction.reads.reads.push_back({Predicate::True(), nullptr});
	auto& changes = transaction.changes;
	changes.replaced_files = std::move(plan.removed);
	changes.entries = std::move(plan.restored);
	changes.protocol = std::move(plan.protocol);
	changes.metadata = std::move(plan.metadata);
	changes.domains = std::move(plan.domains);
	transaction.operation_parameters = {
		{"version", target.version ? target.version->ToString() : "null"},
		{"timestamp", target.timestamp ? JsonString(target.timestamp->ToString()) : "null"}};
	const auto set = [&](const char* name, int64_t value) {
		transaction.operation_metrics[name] = std::to_string(value);
	};
	set("tableSizeAfterRestore", plan.files_after.bytes);
	set("numOfFilesAfterRestore", plan.files_after.files);
	set("numRemovedFiles", plan.files_removed.files);
	set("numRestoredFiles", plan.files_restored.files);
	set("removedFilesSize", plan.files_removed.bytes);
	set("restoredFilesSize", plan.files_restored.bytes);
	work.view = std::move(view);
	work.sealed = true;
}

AnswerRows Restore(duckdb::ClientContext& context, const Target& target) {
	auto lake = target.lake;
	auto& work = LakeTransaction::Get(context, *lake).Modify(context, target.table);
	const auto now = work.view;
	const auto then = WantedVersion(context, target);
	if (work.pin) work.pin->MoveTo(std::min(now->version, then->version));  // until the commit
	Unwrap(CheckWrite(*now, TableOperation::kAlter));
	auto plan = Unwrap(PlanRestore(*now, *then));
	CheckFiles(context, *target.table, *then, plan);
	const AnswerRows answer {{Value::BIGINT(plan.files_after.bytes), Value::BIGINT(plan.files_after.files),
							  Value::BIGINT(plan.files_removed.files), Value::BIGINT(plan.files_restored.files),
							  Value::BIGINT(plan.files_removed.bytes), Value::BIGINT(plan.files_restored.bytes)}};
	if (!plan.Empty()) {
		auto view = Unwrap(RestoredView(plan, *now, *then));
		Stage(work, plan, std::move(view), target);
	}
	return answer;
}

Command Bind(duckdb::ClientContext& context, duckdb::TableFunctionBindInput& input) {
	const auto table = duckdb::StringValue::Get(input.inputs[0]);
	HoldOffVacuum(context, FindTableLog(context, table, "RESTORE")->root(), "RESTORE");
	auto found =
		FindTableToChangeAlone(context, input, table, "RESTORE", duckdb::DatabaseModificationType::UPDATE_DATA);
	Target target {found.lake, found.table, std::nullopt, std::nullopt};
	for (const auto& [name, value] : input.named_parameters) {
		(name == "version" ? target.version : target.timestamp) = value;
	}
	if (target.version.has_value() == target.timestamp.has_value())
		throw duckdb::BinderException("braid_restore: give version or timestamp");
	return [target](duckdb::ClientContext& client) { return Restore(client, target); };
}

}  // namespace

void RegisterRestore(duckdb::ExtensionLoader& loader) {
	RegisterCommand(loader, {.name = "braid_restore",
							 .arguments = {LogicalType::VARCHAR},
							 .options = {{"version", LogicalType::ANY}, {"timestamp", LogicalType::ANY}},
							 .columns = {{"table_size_after_restore", LogicalType::BIGINT},
										 {"num_of_files_after_restore", LogicalType::BIGINT},
										 {"num_removed_files", LogicalType::BIGINT},
										 {"num_restored_files", LogicalType::BIGINT},
										 {"removed_files_size", LogicalType::BIGINT},
										 {"restored_files_size", LogicalType::BIGINT}},
							 .bind = Bind});
}

}  // namespace braid::engine
