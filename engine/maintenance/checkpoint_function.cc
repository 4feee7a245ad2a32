// SPDX-License-Identifier: Apache-2.0
// CHECKPOINT t: a checkpoint of the version that the statement sees, of the kind that delta.checkpointPolicy asks for; one that is there already is
// as good. CHECKPOINT of an attached database stays DuckDB's.
#include "base/environment.h"
#include "duckdb/main/attached_database.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/main/database_manager.hpp"
#include "duckdb/main/extension/extension_loader.hpp"
#include "duckdb/parser/expression/constant_expression.hpp"
#include "duckdb/parser/expression/function_expression.hpp"
#include "duckdb/parser/qualified_name.hpp"
#include "duckdb/parser/tableref/table_function_ref.hpp"
#include "engine/io/duckdb_parquet_gateway.h"
#include "engine/io/error_translation.h"
#include "engine/maintenance/command_function.h"
#include "engine/maintenance/maintenance_functions.h"
#include "engine/statement/named_table.h"
#include "kernel/log/checkpoint_write.h"

namespace braid::engine {

namespace {

using duckdb::LogicalType;
using duckdb::Value;

duckdb::unique_ptr<duckdb::TableRef> OfDatabase(duckdb::ClientContext& context, duckdb::TableFunctionBindInput& input) {
	const auto name = duckdb::QualifiedName::Parse(input.inputs[0].ToString());
	if (!name.schema.empty() || name.name.find('/') != std::string::npos ||
		!duckdb::DatabaseManager::Get(context).GetDatabase(context, name.name))
		return nullptr;
	duckdb::vector<duckdb::unique_ptr<duckdb::ParsedExpression>> arguments;
	arguments.push_back(duckdb::make_uniq<duckdb::ConstantExpression>(Value(name.name)));
	auto call = duckdb::make_uniq<duckdb::TableFunctionRef>();
	call->function = duckdb::make_uniq<duckdb::FunctionExpression>(SYSTEM_CATALOG, DEFAULT_SCHEMA, "checkpoint",
																   std::move(arguments));
	return call;
}

Command Bind(duckdb::ClientContext& context, duckdb::TableFunctionBindInput& input) {
	const auto found = FindTableToChange(context, input, duckdb::StringValue::Get(input.inputs[0]), "CHECKPOINT",
										 duckdb::DatabaseModificationType::UPDATE_DATA);
	return [table = found.table, view = found.view](duckdb::ClientContext& client) -> AnswerRows {
		DuckdbParquetGateway parquet(*client.db);
		const auto written = WriteCheckpoint({table->store(), parquet}, SystemClock(), SystemRandom(), *view);
		if (!written && written.error().kind != ErrorKind::kAlreadyExists) Throw(written.error());
		return {{Value::BIGINT(view->version)}};
	};
}

}  // namespace

void RegisterCheckpoint(duckdb::ExtensionLoader& loader) {
	RegisterCommand(loader, {.name = "braid_checkpoint",
							 .arguments = {LogicalType::VARCHAR},
							 .options = {},
							 .columns = {{"version", LogicalType::BIGINT}},
							 .bind = Bind,
							 .replace = OfDatabase});
}

}  // namespace braid::engine
