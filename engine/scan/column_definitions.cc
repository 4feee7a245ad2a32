// SPDX-License-Identifier: Apache-2.0
// Definitions for DuckDB's column mapper, and the repair of what a Parquet file says of itself.
#include "engine/scan/column_definitions.h"

#include "duckdb/common/string_util.hpp"
#include "duckdb/parser/expression/constant_expression.hpp"
#include "engine/catalog/type_mapping.h"

namespace braid::engine {

namespace {

using Column = duckdb::MultiFileColumnDefinition;
using duckdb::LogicalTypeId;

// Names by which DuckDB's mapper knows what is inside lists and maps.
constexpr const char* kElement = "list";
constexpr const char* kKey = "key";
constexpr const char* kValue = "value";

Column Define(const std::string& name, const std::string& physical, const DataType& type, ColumnMappingMode mode) {
	Column column(name, ToDuckType(type, name));
	column.identifier = duckdb::Value(physical);
	column.default_expression = duckdb::make_uniq<duckdb::ConstantExpression>(duckdb::Value(column.type));
	switch (type.kind) {
		case TypeKind::kStruct:
			for (const Field& field : type.fields) {
				column.children.push_back(Define(field.name, PhysicalName(field, mode), *field.type, mode));
			}
			break;
		case TypeKind::kArray:
			column.children.push_back(Define(kElement, kElement, *type.element, mode));
			break;
		case TypeKind::kMap:
			column.children.push_back(Define(kKey, kKey, *type.key, mode));
			column.children.push_back(Define(kValue, kValue, *type.element, mode));
			break;
		default:
			break;
	}
	return column;
}

const Column* FindByPhysicalName(const duckdb::vector<Column>& columns, const std::string& name) {
	for (const Column& column : columns) {
		if (duckdb::StringUtil::CIEquals(column.GetIdentifierName(), name)) return &column;
	}
	return nullptr;
}

void Normalize(Column& file, const Column& table);

void NormalizeStruct(Column& file, const Column& table) {
	for (Column& child : file.children) {
		if (const Column* known = FindByPhysicalName(table.children, child.name)) Normalize(child, *known);
	}
}

// The name of a list's element and of a map's entry is the writer's choice ("element", "array", "bag", "entries", ...).
void NormalizeList(Column& file, const Column& table) {
	if (file.children.size() != 1) return;
	Column& element = file.children[0];
	element.name = kElement;
	Normalize(element, table.children[0]);
}

void NormalizeMap(Column& file, const Column& table) {
	if (file.children.size() != 1 || file.children[0].children.size() != 2) return;
	Column& entry = file.children[0];
	entry.children[0].name = kKey;
	entry.children[1].name = kValue;
	Normalize(entry.children[0], table.children[0]);
	Normalize(entry.children[1], table.children[1]);
}

void Normalize(Column& file, const Column& table) {
	LogicalTypeId file_type = file.type.id();
	LogicalTypeId table_type = table.type.id();
	if (file_type == LogicalTypeId::STRUCT && table_type == LogicalTypeId::STRUCT) {
		NormalizeStruct(file, table);
	} else if (file_type == LogicalTypeId::LIST && table_type == LogicalTypeId::LIST) {
		NormalizeList(file, table);
	} else if (file_type == LogicalTypeId::MAP && table_type == LogicalTypeId::MAP) {
		NormalizeMap(file, table);
	}
}

}  // namespace

duckdb::vector<Column> TableColumns(const Snapshot& snapshot) {
	duckdb::vector<Column> columns;
	for (const Field& field : snapshot.schema->fields) {
		columns.push_back(
			Define(field.name, PhysicalName(field, snapshot.column_mapping), *field.type, snapshot.column_mapping));
	}
	return columns;
}

void NormalizeFileColumns(duckdb::vector<Column>& file_columns, const duckdb::vector<Column>& table_columns) {
	for (Column& file : file_columns) {
		if (const Column* table = FindByPhysicalName(table_columns, file.name)) Normalize(file, *table);
	}
}

}  // namespace braid::engine
