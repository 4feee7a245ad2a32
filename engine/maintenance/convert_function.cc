// SPDX-License-Identifier: Apache-2.0
// CONVERT TO DELTA: a folder of Parquet files becomes a table. The files stay where they are and are not touched; the first commit names them by
// relative paths. It is made at once, like nothing else here, because the folder need not belong to an attached lake yet.
#include <filesystem>

#include "base/json.h"
#include "duckdb/common/exception/transaction_exception.hpp"
#include "duckdb/main/attached_database.hpp"
#include "duckdb/main/client_context.hpp"
#include "engine/catalog/attached_lakes.h"
#include "engine/catalog/lake_directory.h"
#include "engine/catalog/new_table.h"
#include "engine/catalog/table_commit.h"
#include "engine/catalog/type_mapping.h"
#include "engine/io/error_translation.h"
#include "engine/maintenance/command_function.h"
#include "engine/maintenance/foreign_parquet.h"
#include "engine/maintenance/maintenance_functions.h"
#include "engine/statement/column_spelling.h"
#include "engine/statement/named_table.h"
#include "kernel/log/log_path.h"
#include "kernel/maintenance/parquet_folder.h"

namespace braid::engine {

namespace {

using duckdb::LogicalType;
using duckdb::Value;

struct Request {
	std::string directory;
	bool statistics = true;
	std::vector<Field> partition_columns;
};

bool IsTableAlready(duckdb::ClientContext& context, TableHandle& table) {
	DuckdbParquetGateway parquet(*context.db);
	const auto latest = table.Latest(parquet);
	if (latest) return true;
	if (latest.error().kind != ErrorKind::kNotFound) Throw(latest.error());
	return false;
}

void CheckInterrupt(duckdb::ClientContext& context) {
	if (context.interrupted) throw duckdb::InterruptException();
}

// One schema for all files. A file that does not fit is named together with what is wrong.
StructType SchemaOf(duckdb::ClientContext& context, NestedSession& session, const std::vector<std::string>& locations) {
	StructType schema;
	schema.kind = TypeKind::kStruct;
	for (const auto& location : locations) {
		CheckInterrupt(context);
		auto united = UniteSchemas(schema, ColumnsOfFile(session, location));
		if (!united) {
			throw duckdb::InvalidInputException(
				"[DELTA_FAILED_MERGE_SCHEMA_FILE] CONVERT TO DELTA: file %s does not fit the files before it: %s. "
				"Rewrite it, or move it "
				"out of the folder. SQLSTATE: 42KDA",
				location, united.error().message);
		}
		schema = *std::move(united);
	}
	return schema;
}

// A partition column that the files hold too keeps its place; the others come last.
StructType WithPartitionColumns(StructType schema, const std::vector<Field>& columns, const std::string& directory) {
	for (const auto& column : columns) {
		const auto known = std::ranges::find_if(
			schema.fields, [&](const Field& field) { return duckdb::StringUtil::CIEquals(field.name, column.name); });
		if (known == schema.fields.end()) {
			schema.fields.push_back(column);
		} else {
			*known = column;
		}
	}
	if (schema.fields.size() == columns.size()) {
		throw duckdb::InvalidInputException(
			"CONVERT TO DELTA: the files of %s have no column that is not a partition column", directory);
	}
	return schema;
}

std::vector<AddFile> Entries(NestedSession& session, const Request& request, const std::vector<FoundFile>& files,
							 const std::vector<std::string>& locations, const Snapshot& view) {
	std::map<std::string, FileStats> stats;
	if (request.statistics) {
		const auto wanted = StatsColumns(*view.schema, view.column_mapping, view.metadata.configuration,
										 view.metadata.partition_columns);
		stats = FooterStats(session, locations, *view.schema, wanted);
	}
	std::vector<AddFile> entries;
	for (size_t i = 0; i < files.size(); i++) {
		AddFile add;
		add.path = EncodePath(files[i].path);
		add.size = files[i].size;
		add.modification_time = files[i].modification_time;
		add.partition_values = Unwrap(PartitionValuesOf(files[i].path, request.partition_columns));
		if (request.statistics) add.stats = WriteFileStats(stats.at(locations[i]), *view.schema, view.column_mapping);
		entries.push_back(std::move(add));
	}
	return entries;
}

Transaction Creation(const Request& request, const Snapshot& view, std::vector<AddFile> entries) {
	Transaction transaction;
	transaction.operation = "CONVERT";
	transaction.changes.protocol = view.protocol;
	transaction.changes.metadata = view.metadata;
	const auto count = std::to_string(entries.size());
	transaction.operation_parameters = {{"numFiles", count},
										{"partitionedBy", JsonString(JsonStringList(view.metadata.partition_columns))},
										{"collectStats", request.statistics ? "true" : "false"},
										{"sourceFormat", JsonString("parquet")}};
	transaction.operation_metrics["numConvertedFiles"] = count;
	transaction.changes.entries = std::move(entries);
	return transaction;
}

AnswerRows Convert(duckdb::ClientContext& context, const Request& request) {
	if (!context.transaction.IsAutoCommit()) {
		throw duckdb::TransactionException(
			"CONVERT TO DELTA of %s takes effect at once, so it is refused inside BEGIN ... COMMIT", request.directory);
	}
	std::error_code error;
	if (!std::filesystem::is_directory(request.directory, error))
		throw duckdb::IOException("CONVERT TO DELTA: there is no folder %s", request.directory);
	auto table = OpenTableHandle(request.directory);
	if (IsTableAlready(context, *table)) return {{Value::BIGINT(0)}};
	const auto files = Unwrap(ListDataFiles(table->store(), [&] { return context.interrupted.load(); }));
	if (files.empty()) {
		throw duckdb::InvalidInputException(
			"[DELTA_EMPTY_DIRECTORY] CONVERT TO DELTA: no file found in the folder %s. SQLSTATE: 42K03",
			request.directory);
	}
	std::vector<std::string> locations;
	for (const auto& file : files) locations.push_back(table->store().Location(file.path));
	for (const auto& file : files) Unwrap(PartitionValuesOf(file.path, request.partition_columns));
	NestedSession session(*context.db);
	TableDescription description;
	description.location = request.directory;
	description.schema =
		WithPartitionColumns(SchemaOf(context, session, locations), request.partition_columns, request.directory);
	for (const auto& column : request.partition_columns) description.partition_columns.push_back(column.name);
	const auto view = Unwrap(DescribeNewTable(description, nullptr));
	auto transaction = Creation(request, *view, Entries(session, request, files, locations, *view));
	TableWork work;
	work.table = table;
	work.view = view;
	CommitTools tools(context, work);
	Unwrap(Commit(tools.Context(), transaction));
	return {{Value::BIGINT(static_cast<int64_t>(files.size()))}};
}

// [catalog.][schema.]name: the folder where a table of this name would be.
std::string FolderOf(duckdb::ClientContext& context, duckdb::TableFunctionBindInput& input, const std::string& name) {
	auto place = FindPlaceToCreate(context, input, name, "CONVERT TO DELTA");
	auto& lake = place.lake->lake();
	return lake.TableDirectory(place.schema, place.name);
}

Command Bind(duckdb::ClientContext& context, duckdb::TableFunctionBindInput& input) {
	const auto name = duckdb::StringValue::Get(input.inputs[0]);
	Request request;
	request.directory =
		AbsoluteDirectory(duckdb::BooleanValue::Get(input.inputs[1]) ? name : FolderOf(context, input, name));
	request.statistics = duckdb::BooleanValue::Get(input.inputs[2]);
	const auto& words = duckdb::ListValue::GetChildren(input.inputs[3]);
	for (size_t i = 0; i + 1 < words.size(); i += 2) {
		const auto column = words[i].ToString();
		const auto type = BindType(*input.binder, words[i + 1].ToString());
		request.partition_columns.push_back({column, ToDeltaType(type, column), true, {}});
	}
	if (auto lake = LakeOfTable(context, request.directory); lake && lake->GetAttached().IsReadOnly()) {
		throw duckdb::InvalidInputException("CONVERT TO DELTA: %s lies in \"%s\", which is attached in read-only mode",
											request.directory, lake->GetName());
	}
	return [request](duckdb::ClientContext& client) { return Convert(client, request); };
}

}  // namespace

void RegisterConvert(duckdb::ExtensionLoader& loader) {
	RegisterCommand(loader, {.name = "braid_convert",
							 .arguments = {LogicalType::VARCHAR, LogicalType::BOOLEAN, LogicalType::BOOLEAN,
										   LogicalType::LIST(LogicalType::VARCHAR)},
							 .options = {},
							 .columns = {{"num_converted_files", LogicalType::BIGINT}},
							 .bind = Bind});
}

}  // namespace braid::engine
