// SPDX-License-Identifier: Apache-2.0
// FSCK REPAIR TABLE: entries of data files that are gone leave the log, in one commit that is judged like a DELETE of whole files. A file whose
// vector alone is gone is only reported: without its vector, rows that were deleted would come back.
#include "base/json.h"
#include "duckdb/main/client_context.hpp"
#include "engine/catalog/transaction.h"
#include "engine/io/error_translation.h"
#include "engine/maintenance/command_function.h"
#include "engine/maintenance/maintenance_functions.h"
#include "engine/statement/named_table.h"
#include "engine/write/staging.h"
#include "kernel/feature/write_requirements.h"
#include "kernel/maintenance/missing_files.h"

namespace braid::engine {

namespace {

using duckdb::LogicalType;
using duckdb::Value;

struct Target {
	duckdb::optional_ptr<LakeCatalog> lake;
	std::shared_ptr<TableHandle> table;
	bool dry_run = false;
};

void Stage(TableWork& work, std::vector<std::string> paths) {
	NameOperation(work, "FSCK");
	std::lock_guard guard(work.mutex);
	work.work.changes.replaced_files = std::move(paths);
	work.work.operation_parameters = {{"dryRun", "false"}};
	work.sealed = true;
}

AnswerRows Repair(duckdb::ClientContext& context, const Target& target) {
	auto lake = target.lake;
	auto& transaction = LakeTransaction::Get(context, *lake);
	auto& work = target.dry_run ? transaction.Touch(context, target.table) : transaction.Modify(context, target.table);
	const auto files = work.view->files->Files();
	std::vector<NamedFile> named;
	for (const auto* file : files) named.push_back({file->path, file->deletion_vector});
	const auto missing =
		Unwrap(FindMissingFiles(target.table->store(), named, [&] { return context.interrupted.load(); }));
	AnswerRows rows;
	std::vector<std::string> gone;
	for (const auto& file : missing) {
		const auto path = files[file.index]->path;
		const bool no_vector = !file.vector.empty();
		rows.push_back({Value(std::string(path)), Value::BOOLEAN(file.data), no_vector ? Value(file.vector) : Value(),
						Value::BOOLEAN(no_vector)});
		if (file.data) gone.emplace_back(path);
	}
	if (gone.empty() || target.dry_run) return rows;
	Unwrap(CheckWrite(*work.view, TableOperation::kChange));
	Stage(work, std::move(gone));
	return rows;
}

Command Bind(duckdb::ClientContext& context, duckdb::TableFunctionBindInput& input) {
	const auto name = duckdb::StringValue::Get(input.inputs[0]);
	Target target;
	target.dry_run = duckdb::BooleanValue::Get(input.inputs[1]);
	auto found = FindTableToChangeAlone(context, input, name, "FSCK REPAIR TABLE",
										duckdb::DatabaseModificationType::DELETE_DATA);
	target.lake = found.lake;
	target.table = found.table;
	return [target](duckdb::ClientContext& client) { return Repair(client, target); };
}

}  // namespace

void RegisterFsck(duckdb::ExtensionLoader& loader) {
	RegisterCommand(loader, {.name = "braid_fsck",
							 .arguments = {LogicalType::VARCHAR, LogicalType::BOOLEAN},
							 .options = {},
							 .columns = {{"dataFilePath", LogicalType::VARCHAR},
										 {"dataFileMissing", LogicalType::BOOLEAN},
										 {"deletionVectorPath", LogicalType::VARCHAR},
										 {"deletionVectorFileMissing", LogicalType::BOOLEAN}},
							 .bind = Bind});
}

}  // namespace braid::engine
