// SPDX-License-Identifier: Apache-2.0
// DuckDB's parquet_metadata gives bounds in the same text as its writer, so they go the way of files that we write (stats_bridge.h).
#include "engine/maintenance/foreign_parquet.h"

#include <algorithm>

#include "duckdb/common/exception.hpp"
#include "duckdb/common/string_util.hpp"
#include "duckdb/common/type_visitor.hpp"
#include "engine/catalog/type_mapping.h"
#include "engine/io/error_translation.h"
#include "engine/write/stats_bridge.h"
#include "kernel/stats/stats_merge.h"

namespace braid::engine {

namespace {

constexpr size_t kFilesPerQuery = 500;

// A column of parquet_schema of the file.
std::vector<duckdb::Value> SchemaColumn(NestedSession& session, const std::string& location, const std::string& sql) {
	std::vector<duckdb::Value> values;
	Unwrap(session.Stream("SELECT " + sql + " FROM parquet_schema(" + SqlText(location) + ")",
						  "read the footer of " + location, [&](duckdb::DataChunk& chunk) -> Status {
							  for (duckdb::idx_t i = 0; i < chunk.size(); i++) values.push_back(chunk.GetValue(0, i));
							  return {};
						  }));
	return values;
}

// Both the file and its schema list leaves from left to right.
DataTypePtr WithInstants(const DataTypePtr& type, const std::vector<bool>& int96, size_t& leaf) {
	DataType copy = *type;
	switch (type->kind) {
		case TypeKind::kStruct:
			for (auto& field : copy.fields) field.type = WithInstants(field.type, int96, leaf);
			break;
		case TypeKind::kMap:
			copy.key = WithInstants(copy.key, int96, leaf);
			[[fallthrough]];
		case TypeKind::kArray:
			copy.element = WithInstants(copy.element, int96, leaf);
			break;
		default:
			if (leaf < int96.size() && int96[leaf] && copy.kind == TypeKind::kTimestampNtz)
				copy.kind = TypeKind::kTimestamp;
			leaf++;
	}
	return std::make_shared<DataType>(std::move(copy));
}

// Spark and Hive write moments as INT96, which means an instant whatever the file says.
void MarkInstants(NestedSession& session, const std::string& location, StructType& schema) {
	std::vector<bool> int96;
	for (const auto& type : SchemaColumn(session, location, "CASE WHEN coalesce(num_children, 0) = 0 THEN type END")) {
		if (!type.IsNull()) int96.push_back(duckdb::StringValue::Get(type) == "INT96");
	}
	size_t leaf = 0;
	for (auto& field : schema.fields) field.type = WithInstants(field.type, int96, leaf);
}

// DuckDB calls the second of two columns a and A of one file A_1: a name that is not in the file.
void RefuseNamesThatDifferInCase(NestedSession& session, const std::string& location, const StructType& schema) {
	const auto may_be_renamed = [&](const Field& field) {
		const auto end = field.name.rfind('_');
		return end != std::string::npos && std::ranges::any_of(schema.fields, [&](const Field& other) {
				   return duckdb::StringUtil::CIEquals(other.name, field.name.substr(0, end));
			   });
	};
	for (const auto& field : schema.fields) {
		if (!may_be_renamed(field)) continue;
		const auto names = SchemaColumn(session, location, "name");
		if (std::ranges::find(names, duckdb::Value(field.name)) != names.end()) continue;
		throw duckdb::InvalidInputException(
			"CONVERT TO DELTA: file %s has two columns \"%s\" whose names differ in case only, which Delta does not "
			"allow. Rewrite it, or move it out of the folder",
			location, field.name.substr(0, field.name.rfind('_')));
	}
}

using RowGroups = std::map<std::string, std::map<int64_t, duckdb::CopyFunctionFileStatistics>>;  // by file, by number

// Bytes that are no text come escaped, and no longer bound anything.
bool IsBound(const duckdb::Value& text) {
	return !text.IsNull() && duckdb::StringValue::Get(text).find("\\x") == std::string::npos;
}

void Enter(duckdb::DataChunk& chunk, duckdb::idx_t row, const std::map<std::string, std::string>& keys,
		   RowGroups& groups) {
	const auto value = [&](duckdb::idx_t column) { return chunk.GetValue(column, row); };
	auto& group = groups[value(0).ToString()][value(1).GetValue<int64_t>()];
	group.row_count = value(2).GetValue<uint64_t>();
	const auto key = keys.find(value(3).ToString());
	if (key == keys.end()) return;
	auto& column = group.column_statistics[key->second];
	if (!value(4).IsNull()) column["null_count"] = value(4);
	if (IsBound(value(5))) column["min"] = value(5);
	if (IsBound(value(6))) column["max"] = value(6);
}

}  // namespace

StructType ColumnsOfFile(NestedSession& session, const std::string& location) {
	const auto columns = Unwrap(session.Describe(
		"SELECT * FROM read_parquet(" + SqlText(location) + ", hive_partitioning = false, union_by_name = false)",
		"read the schema of " + location));
	StructType schema;
	schema.kind = TypeKind::kStruct;
	for (const auto& [name, type] : duckdb::StructType::GetChildTypes(columns)) {
		try {
			schema.fields.push_back({name, ToDeltaType(type, name), true, {}});
		} catch (const duckdb::Exception& exception) {
			throw duckdb::InvalidInputException("CONVERT TO DELTA: file %s: %s", location,
												duckdb::ErrorData(exception).RawMessage());
		}
	}
	RefuseNamesThatDifferInCase(session, location, schema);
	if (duckdb::TypeVisitor::Contains(columns, duckdb::LogicalTypeId::TIMESTAMP))
		MarkInstants(session, location, schema);
	return schema;
}

std::map<std::string, FileStats> FooterStats(NestedSession& session, std::span<const std::string> locations,
											 const StructType& schema,
											 const std::vector<std::vector<std::string>>& wanted) {
	std::map<std::string, std::string> keys;  // of the writer, by the name that parquet_metadata has for a leaf
	std::vector<std::string> may_hold_nan;
	for (const auto& path : wanted) {
		keys[duckdb::StringUtil::Join(path, path.size(), ", ", [](const auto& name) { return name; })] =
			WriterKey(path);
		may_hold_nan.push_back(path.front());
	}
	std::map<std::string, FileStats> found;
	for (size_t first = 0; first < locations.size(); first += kFilesPerQuery) {
		const auto batch = locations.subspan(first, std::min(kFilesPerQuery, locations.size() - first));
		RowGroups groups;
		Unwrap(session.Stream(
			"SELECT file_name, row_group_id, row_group_num_rows, path_in_schema, stats_null_count, stats_min_value, "
			"stats_max_value FROM parquet_metadata(" +
				SqlTextList(batch) + ")",
			"read footers of Parquet files", [&](duckdb::DataChunk& chunk) -> Status {
				for (duckdb::idx_t i = 0; i < chunk.size(); i++) Enter(chunk, i, keys, groups);
				return {};
			}));
		for (const auto& location : batch) {
			FileStats& stats = found[location];
			for (const auto& [number, group] : groups[location])
				MergeStats(stats, ToFileStats(group, schema, ColumnMappingMode::kNone, wanted, may_hold_nan));
			if (!stats.num_records) stats.num_records = 0;  // no row group
		}
	}
	return found;
}

}  // namespace braid::engine
