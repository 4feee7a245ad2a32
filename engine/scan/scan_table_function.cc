// SPDX-License-Identifier: Apache-2.0
// braid_scan('path' [, version => n] [, timestamp => t]): one table without ATTACH. A table of an attached lake is read as by its name: at the
// version that the transaction has pinned, with what it has staged, and into its read set.
#include "duckdb/catalog/catalog_entry/table_function_catalog_entry.hpp"
#include "duckdb/common/exception.hpp"
#include "duckdb/common/multi_file/multi_file_states.hpp"
#include "duckdb/main/extension/extension_loader.hpp"
#include "engine/catalog/attached_lakes.h"
#include "engine/catalog/entry_pins.h"
#include "engine/catalog/lake_directory.h"
#include "engine/catalog/time_travel.h"
#include "engine/io/duckdb_parquet_gateway.h"
#include "engine/io/error_translation.h"
#include "engine/scan/scan_function.h"

namespace braid::engine {

namespace {

SnapshotPtr WantedSnapshot(duckdb::ClientContext& context, TableHandle& table,
						   const duckdb::named_parameter_map_t& parameters) {
	auto version = parameters.find("version");
	auto timestamp = parameters.find("timestamp");
	if (version != parameters.end() && timestamp != parameters.end()) {
		throw duckdb::BinderException("braid_scan: give version or timestamp, not both");
	}
	if (version != parameters.end()) return SnapshotAtVersion(context, table, version->second);
	if (timestamp != parameters.end()) return SnapshotAtTimestamp(context, table, timestamp->second);
	DuckdbParquetGateway parquet(*context.db);
	auto pin = table.Pin();
	auto snapshot = Unwrap(table.Latest(parquet));
	pin->MoveTo(snapshot->version);
	EntryPins::Get(context).Add(std::move(pin));
	return snapshot;
}

duckdb::unique_ptr<duckdb::FunctionData> BindScan(duckdb::ClientContext& context, duckdb::TableFunctionBindInput& input,
												  duckdb::vector<duckdb::LogicalType>& types,
												  duckdb::vector<duckdb::string>& names) {
	if (input.inputs[0].IsNull()) throw duckdb::BinderException("braid_scan: the path is NULL");
	std::string directory = AbsoluteDirectory(duckdb::StringValue::Get(input.inputs[0]));
	auto lake = LakeOfTable(context, directory);
	auto table = lake ? lake->lake().Handle(directory) : OpenTableHandle(directory);
	duckdb::unique_ptr<duckdb::FunctionData> bind_data;
	if (lake && input.named_parameters.empty()) {
		SnapshotPtr view = LakeTransaction::Get(context, *lake).Touch(context, table).view;
		MakeScan(context, std::move(table), std::move(view), {.catalog = lake.get(), .entry = nullptr}, bind_data);
	} else {
		SnapshotPtr view = WantedSnapshot(context, *table, input.named_parameters);
		MakeScan(context, std::move(table), std::move(view), LakeReader {}, bind_data);
	}
	const auto& bound = bind_data->Cast<duckdb::MultiFileBindData>();
	types = bound.types;
	names = bound.names;
	return bind_data;
}

}  // namespace

void RegisterScanFunction(duckdb::ExtensionLoader& loader) {
	duckdb::TableFunction function = loader.GetTableFunction("parquet_scan").functions.functions[0];
	UseLakeFiles(function);
	function.bind = BindScan;
	function.named_parameters.clear();
	function.named_parameters["version"] = duckdb::LogicalType::ANY;
	function.named_parameters["timestamp"] = duckdb::LogicalType::ANY;
	loader.RegisterFunction(function);
}

}  // namespace braid::engine
