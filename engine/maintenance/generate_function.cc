// SPDX-License-Identifier: Apache-2.0
// GENERATE symlink_format_manifest FOR TABLE t: manifests of the version that the statement sees. They are no part of the table and no commit.
#include "duckdb/common/exception.hpp"
#include "duckdb/common/string_util.hpp"
#include "engine/io/error_translation.h"
#include "engine/maintenance/command_function.h"
#include "engine/maintenance/maintenance_functions.h"
#include "engine/statement/named_table.h"
#include "kernel/maintenance/symlink_manifest.h"

namespace braid::engine {

namespace {

using duckdb::LogicalType;

Command Bind(duckdb::ClientContext& context, duckdb::TableFunctionBindInput& input) {
	const auto mode = duckdb::StringValue::Get(input.inputs[1]);
	if (!duckdb::StringUtil::CIEquals(mode, "symlink_format_manifest")) {
		throw duckdb::BinderException(
			"[DELTA_UNSUPPORTED_GENERATE_MODE] GENERATE %s: the only mode is symlink_format_manifest. SQLSTATE: 0AKDC",
			mode);
	}
	const auto found = FindTableToChange(context, input, duckdb::StringValue::Get(input.inputs[0]), "GENERATE",
										 duckdb::DatabaseModificationType::UPDATE_DATA);
	return [table = found.table, view = found.view](duckdb::ClientContext&) -> AnswerRows {
		const auto manifests = Unwrap(SymlinkManifests(*view, table->store()));
		Unwrap(WriteManifests(table->store(), manifests));
		return {{duckdb::Value::BIGINT(static_cast<int64_t>(manifests.size()))}};
	};
}

}  // namespace

void RegisterGenerate(duckdb::ExtensionLoader& loader) {
	RegisterCommand(loader, {.name = "braid_generate",
							 .arguments = {LogicalType::VARCHAR, LogicalType::VARCHAR},
							 .options = {},
							 .columns = {{"num_manifests", LogicalType::BIGINT}},
							 .bind = Bind});
}

}  // namespace braid::engine
