// SPDX-License-Identifier: Apache-2.0
// parquet_scan with a few functions exchanged (duckdb.md 3.1).
#include "engine/scan/scan_function.h"

#include <atomic>

#include "duckdb/catalog/catalog_entry/table_function_catalog_entry.hpp"
#include "duckdb/common/multi_file/multi_file_states.hpp"
#include "duckdb/execution/operator/scan/physical_table_scan.hpp"
#include "duckdb/main/extension/extension_loader.hpp"
#include "duckdb/parser/tableref/table_function_ref.hpp"
#include "engine/io/error_translation.h"
#include "engine/scan/file_reader.h"
#include "engine/scan/scan_statistics.h"

namespace braid::engine {

namespace {

const LakeFileList& ListOf(const duckdb::FunctionData& bind_data) {
	return bind_data.Cast<duckdb::MultiFileBindData>().file_list->Cast<LakeFileList>();
}

// DuckDB finds the table of an UPDATE or DELETE through this.
duckdb::BindInfo GetBindInfo(const duckdb::optional_ptr<duckdb::FunctionData> bind_data) {
	if (auto entry = ListOf(*bind_data).entry()) return duckdb::BindInfo(*entry);
	return duckdb::BindInfo(duckdb::ScanType::EXTERNAL);
}

duckdb::virtual_column_map_t GetVirtualColumns(duckdb::ClientContext&, duckdb::optional_ptr<duckdb::FunctionData>) {
	return ScanVirtualColumns();
}

duckdb::vector<duckdb::column_t> GetRowIdColumns(duckdb::ClientContext&, duckdb::optional_ptr<duckdb::FunctionData>) {
	return ScanRowIdColumns();
}

duckdb::InsertionOrderPreservingMap<duckdb::string> ToText(duckdb::TableFunctionToStringInput& input) {
	duckdb::InsertionOrderPreservingMap<duckdb::string> text;
	const LakeFileList& list = ListOf(*input.bind_data);
	text["Table"] = list.entry() ? list.entry()->name : list.source().view->table;
	text["Version"] = std::to_string(list.source().view->version);
	text["Files"] = std::to_string(list.size()) + " of " + std::to_string(list.source().Count());
	return text;
}

}  // namespace

const duckdb::TableFunction& ParquetScan(duckdb::ClientContext& context) {
	auto& system = duckdb::Catalog::GetSystemCatalog(context);
	auto& entry = system.GetEntry<duckdb::TableFunctionCatalogEntry>(context, DEFAULT_SCHEMA, "parquet_scan");
	return entry.functions.functions[0];
}

duckdb::virtual_column_map_t ScanVirtualColumns() {
	using Reader = duckdb::MultiFileReader;
	duckdb::virtual_column_map_t columns;
	columns.insert({Reader::COLUMN_IDENTIFIER_FILENAME, duckdb::TableColumn("filename", duckdb::LogicalType::VARCHAR)});
	columns.insert({Reader::COLUMN_IDENTIFIER_FILE_ROW_NUMBER,
					duckdb::TableColumn("file_row_number", duckdb::LogicalType::BIGINT)});
	columns.insert(
		{Reader::COLUMN_IDENTIFIER_FILE_INDEX, duckdb::TableColumn("file_index", duckdb::LogicalType::UBIGINT)});
	columns.insert(
		{duckdb::COLUMN_IDENTIFIER_EMPTY, duckdb::TableColumn("", duckdb::LogicalType::BOOLEAN)});  // count(*)
	return columns;
}

duckdb::vector<duckdb::column_t> ScanRowIdColumns() {
	return {duckdb::MultiFileReader::COLUMN_IDENTIFIER_FILENAME,
			duckdb::MultiFileReader::COLUMN_IDENTIFIER_FILE_ROW_NUMBER};
}

// A file whose footer DuckDB remembers is opened when its first row group is read.
static std::atomic<duckdb::table_function_t> inherited_scan;

static void ScanFiles(duckdb::ClientContext& context, duckdb::TableFunctionInput& input, duckdb::DataChunk& chunk) {
	try {
		inherited_scan.load()(context, input, chunk);
	} catch (const duckdb::IOException& failure) {
		const duckdb::ErrorData error(failure);
		auto known = ToError(error, "cannot read a data file");
		if (known.kind != ErrorKind::kNotFound || error.RawMessage().starts_with("Table ")) throw;
		ThrowUnreadable(*ListOf(*input.bind_data).source().view, std::move(known));
	}
}

void UseLakeFiles(duckdb::TableFunction& function) {
	function.name = "braid_scan";
	inherited_scan = function.function;
	function.function = ScanFiles;
	function.get_multi_file_reader = LakeFileReader::Create;
	function.get_bind_info = GetBindInfo;
	function.get_virtual_columns = GetVirtualColumns;
	function.get_row_id_columns = GetRowIdColumns;
	function.statistics = ColumnStatistics;  // the inherited one looks at the first file only (trap 14)
	function.get_partition_stats = ExactCounts;
	function.to_string = ToText;
	function.serialize = nullptr;
	function.deserialize = nullptr;
}

static duckdb::TableFunction Bind(duckdb::ClientContext& context, std::shared_ptr<LakeFileList> files,
								  duckdb::unique_ptr<duckdb::FunctionData>& bind_data) {
	auto info = duckdb::make_shared_ptr<ScanInfo>();
	info->files = std::move(files);

	duckdb::TableFunction function = ParquetScan(context);
	UseLakeFiles(function);
	function.function_info = info;

	duckdb::vector<duckdb::Value> inputs {duckdb::Value("")};
	// Bounds that other writers leave in Parquet footers do not tell of NaN (trap 42).
	duckdb::named_parameter_map_t parameters {{"can_have_nan", duckdb::Value::BOOLEAN(true)}};
	duckdb::vector<duckdb::LogicalType> input_types, types;
	duckdb::vector<duckdb::string> input_names, names;
	duckdb::TableFunctionRef reference;
	duckdb::TableFunctionBindInput input(inputs, parameters, input_types, input_names, nullptr, nullptr, function,
										 reference);
	bind_data = function.bind(context, input, types, names);
	bind_data->Cast<duckdb::MultiFileBindData>().virtual_columns = ScanVirtualColumns();
	return function;
}

duckdb::TableFunction MakeScan(duckdb::ClientContext& context, std::shared_ptr<TableHandle> table, SnapshotPtr view,
							   LakeReader reader, duckdb::unique_ptr<duckdb::FunctionData>& bind_data) {
	auto registration = std::make_shared<ReadRegistration>();
	registration->root = table->root();
	TableWork* work = reader.catalog ? LakeTransaction::Get(context, *reader.catalog).Find(table->root()) : nullptr;
	if (work) registration->catalog = reader.catalog;
	auto source = MakeScanSource(std::move(table), std::move(view), work);
	return Bind(context, std::make_shared<LakeFileList>(std::move(source), std::move(registration), reader.entry),
				bind_data);
}

duckdb::TableFunction MakeScan(duckdb::ClientContext& context, ScanSourcePtr source,
							   duckdb::unique_ptr<duckdb::FunctionData>& bind_data) {
	return Bind(context,
				std::make_shared<LakeFileList>(std::move(source), std::make_shared<ReadRegistration>(), nullptr),
				bind_data);
}

void NoteRemovalOfAllMatches(const duckdb::PhysicalOperator& child) {
	const duckdb::PhysicalOperator* current = &child;
	while (current->type == duckdb::PhysicalOperatorType::PROJECTION) current = &current->children[0].get();
	if (current->type != duckdb::PhysicalOperatorType::TABLE_SCAN) return;
	const auto& scan = current->Cast<duckdb::PhysicalTableScan>();
	ReadRegistration* registration = RegistrationOf(scan.function, scan.bind_data.get());
	if (!registration || scan.extra_info.sample_options) return;
	std::lock_guard lock(registration->mutex);
	registration->feeds_removal = true;
}

ReadRegistration* RegistrationOf(const duckdb::TableFunction& function, const duckdb::FunctionData* bind_data) {
	if (function.get_multi_file_reader != LakeFileReader::Create || !bind_data) return nullptr;
	ReadRegistration& registration = ListOf(*bind_data).registration();
	return registration.catalog ? &registration : nullptr;
}

}  // namespace braid::engine
