// SPDX-License-Identifier: Apache-2.0
// One file of a scan, from opening to the constants and the filter that its rows pass.
#include "engine/scan/file_reader.h"

#include "duckdb/common/multi_file/multi_file_function.hpp"
#include "duckdb/planner/filter/list.hpp"
#include "engine/io/error_translation.h"
#include "engine/scan/column_definitions.h"
#include "engine/scan/dv_filter.h"
#include "engine/scan/filter_bridge.h"
#include "engine/scan/filter_safety.h"
#include "engine/scan/instant_cast.h"
#include "engine/scan/scalar_bridge.h"
#include "kernel/deletion/dv_file.h"
#include "kernel/snapshot/pruning.h"

namespace braid::engine {

namespace {

using Columns = duckdb::vector<duckdb::MultiFileColumnDefinition>;

std::shared_ptr<const PositionSet> DeletedRows(const ScanSource& source, const ScanFile& file) {
	const DvDescriptor* dv = file.deletion_vector();
	if (!dv) return file.staged_deletes;
	auto read = ReadDeletionVector(source.table->store(), *dv, file.path);
	if (!read) ThrowUnreadable(*source.view, read.error());
	auto deleted = std::make_shared<PositionSet>(*std::move(read));
	if (file.staged_deletes) *deleted |= *file.staged_deletes;
	return deleted;
}

PartitionValues PartitionValuesOf(const ScanFile& file) {
	return file.own ? file.own->partition_values : Unwrap(ToAddFile(*file.live)).partition_values;
}

// The value of a partition column in this file. PROTOCOL: Partition Value Serialization.
duckdb::Value PartitionConstant(const ScanSource& source, const PartitionValues& values, const Field& field,
								const duckdb::LogicalType& type) {
	auto value = values.find(PhysicalName(field, source.view->column_mapping));
	if (value == values.end()) return duckdb::Value(type);
	return ToValue(Unwrap(ParsePartitionValue(value->second, *field.type)), type);
}

bool SameTypes(const Columns& file, const Columns& table) {
	for (const auto& column : table) {
		for (const auto& local : file) {
			if (duckdb::StringUtil::CIEquals(local.name, column.GetIdentifierName()) && local.type != column.type)
				return false;
		}
	}
	return true;
}

// ORDER BY ... LIMIT tightens its filter while it runs: files that come late are often out of reach already.
bool TopNExcludes(const LakeFileList& list, const ScanFile& file, const duckdb::TableFilterSet& filters,
				  const duckdb::vector<duckdb::ColumnIndex>& ids, const Columns& columns) {
	if (!file.live) return false;
	std::vector<Predicate> parts;
	for (const auto& [position, filter] : filters.filters) {
		if (ids[position].IsVirtualColumn()) continue;
		const auto& column = columns[ids[position].GetPrimaryIndex()];
		parts.push_back(TopNBound(*filter, {column.name, column.type}));
	}
	Predicate bound = Predicate::And(std::move(parts));
	if (bound.kind == PredicateKind::kTrue) return false;
	const Snapshot& view = *list.source().view;
	return !FilePruner(view.metadata, view.schema, view.column_mapping, std::move(bound)).MayMatch(*file.live);
}

}  // namespace

void ThrowUnreadable(const Snapshot& view, Error error) {
	const std::string where = "Table " + view.table + ", version " + std::to_string(view.version) + ": ";
	if (error.kind == ErrorKind::kNotFound) {
		error.kind = ErrorKind::kIo;
		error.message +=
			". The file is gone: VACUUM deletes the files of old versions once their retention is over "
			"(delta.deletedFileRetentionDuration). Read a newer version; if the newest one needs the file too, FSCK "
			"REPAIR TABLE ... DRY RUN lists what is missing.";
	}
	Throw({error.kind, where + error.message, nullptr});
}

duckdb::unique_ptr<duckdb::MultiFileReader> LakeFileReader::Create(const duckdb::TableFunction& function) {
	return duckdb::make_uniq<LakeFileReader>(
		duckdb::shared_ptr_cast<duckdb::TableFunctionInfo, ScanInfo>(function.function_info));
}

duckdb::unique_ptr<duckdb::MultiFileReader> LakeFileReader::Copy() const {
	return duckdb::make_uniq<LakeFileReader>(info_);
}

duckdb::shared_ptr<duckdb::MultiFileList> LakeFileReader::CreateFileList(duckdb::ClientContext&,
																		 const duckdb::vector<std::string>&,
																		 const duckdb::FileGlobInput&) {
	return duckdb::shared_ptr<duckdb::MultiFileList>(info_->files->Copy().release());
}

bool LakeFileReader::Bind(duckdb::MultiFileOptions& options, duckdb::MultiFileList&,
						  duckdb::vector<duckdb::LogicalType>& types, duckdb::vector<std::string>& names,
						  duckdb::MultiFileReaderBindData& bind_data) {
	options.auto_detect_hive_partitioning = false;  // directories named a=b say nothing here: the log does
	options.hive_partitioning = false;
	options.union_by_name = false;
	bind_data.schema = TableColumns(*info_->files->source().view);
	for (const auto& column : bind_data.schema) {
		names.push_back(column.name);
		types.push_back(column.type);
	}
	bind_data.mapping = duckdb::MultiFileColumnMappingMode::BY_NAME;
	return true;
}

void LakeFileReader::BindOptions(duckdb::MultiFileOptions&, duckdb::MultiFileList&,
								 duckdb::vector<duckdb::LogicalType>&, duckdb::vector<std::string>&,
								 duckdb::MultiFileReaderBindData&) {}

duckdb::unique_ptr<duckdb::MultiFileReaderGlobalState> LakeFileReader::InitializeGlobalState(
	duckdb::ClientContext& context, const duckdb::MultiFileOptions&, const duckdb::MultiFileReaderBindData&,
	const duckdb::MultiFileList& files, const Columns&, const duckdb::vector<duckdb::ColumnIndex>&) {
	const auto& list = files.Cast<LakeFileList>();
	RegisterRead(context, list.registration(), list.conditions());
	return duckdb::make_uniq<duckdb::MultiFileReaderGlobalState>(duckdb::vector<duckdb::LogicalType>(), &files);
}

duckdb::shared_ptr<duckdb::BaseFileReader> LakeFileReader::CreateReader(duckdb::ClientContext& context,
																		duckdb::GlobalTableFunctionState& state,
																		const duckdb::OpenFileInfo& file,
																		duckdb::idx_t index,
																		const duckdb::MultiFileBindData& bind_data) {
	try {
		auto reader = MultiFileReader::CreateReader(context, state, file, index, bind_data);
		NormalizeFileColumns(reader->columns, bind_data.reader_bind.schema);
		return reader;
	} catch (const std::exception& failure) {
		duckdb::ErrorData error(failure);
		if (error.Type() == duckdb::ExceptionType::INTERRUPT) throw;
		ThrowUnreadable(*info_->files->source().view, ToError(error, "cannot read data file " + file.path));
	}
}

duckdb::ReaderInitializeType LakeFileReader::InitializeReader(
	duckdb::MultiFileReaderData& reader_data, const duckdb::MultiFileBindData& bind_data, const Columns& global_columns,
	const duckdb::vector<duckdb::ColumnIndex>& global_column_ids,
	duckdb::optional_ptr<duckdb::TableFilterSet> table_filters, duckdb::ClientContext& context,
	duckdb::MultiFileGlobalState& state) {
	duckdb::unique_ptr<duckdb::TableFilterSet> safe_filters;
	if (table_filters) {
		const auto& list = state.file_list.Cast<LakeFileList>();
		const ScanFile& file = list.File(reader_data.reader->file_list_idx.GetIndex());
		if (TopNExcludes(list, file, *table_filters, global_column_ids, global_columns)) {
			return duckdb::ReaderInitializeType::SKIP_READING_FILE;
		}
		safe_filters = WithoutWrongComparisons(*table_filters);
		if (safe_filters) table_filters = safe_filters.get();
		if (!SameTypes(reader_data.reader->columns, global_columns)) {
			safe_filters = WithoutBloomFilters(*table_filters);
			table_filters = safe_filters.get();
		}
	}
	auto result = MultiFileReader::InitializeReader(reader_data, bind_data, global_columns, global_column_ids,
													table_filters, context, state);
	for (auto& expression : reader_data.expressions) KeepInstants(expression);
	for (auto& [column, expression] : reader_data.reader->expression_map) KeepInstants(expression);
	return result;
}

void LakeFileReader::FinalizeBind(duckdb::MultiFileReaderData& reader_data, const duckdb::MultiFileOptions& options,
								  const duckdb::MultiFileReaderBindData& bind_data, const Columns& global_columns,
								  const duckdb::vector<duckdb::ColumnIndex>& global_column_ids,
								  duckdb::ClientContext& context,
								  duckdb::optional_ptr<duckdb::MultiFileReaderGlobalState> state) {
	MultiFileReader::FinalizeBind(reader_data, options, bind_data, global_columns, global_column_ids, context, state);
	const auto& list = state->file_list->Cast<LakeFileList>();
	const ScanSource& source = list.source();
	const ScanFile& file = list.File(reader_data.reader->file_list_idx.GetIndex());
	const auto& partition_columns = source.view->metadata.partition_columns;
	std::optional<PartitionValues> values;
	for (duckdb::idx_t i = 0; i < global_column_ids.size() && !partition_columns.empty(); ++i) {
		if (global_column_ids[i].IsVirtualColumn()) continue;
		duckdb::idx_t column = global_column_ids[i].GetPrimaryIndex();
		if (column >= source.view->schema->fields.size()) continue;  // hidden
		const Field& field = source.view->schema->fields[column];
		if (std::ranges::find(partition_columns, field.name) == partition_columns.end()) continue;
		if (!values) values = PartitionValuesOf(file);
		reader_data.constant_map.Add(duckdb::MultiFileGlobalIndex(i),
									 PartitionConstant(source, *values, field, global_columns[column].type));
	}
	if (auto deleted = DeletedRows(source, file))
		reader_data.reader->deletion_filter = duckdb::make_uniq<DvFilter>(std::move(deleted));
}

}  // namespace braid::engine
