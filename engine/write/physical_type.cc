// SPDX-License-Identifier: Apache-2.0
// Lists and maps have no ids of their own in Delta; the writer takes ids for what is inside them.
#include "engine/write/physical_type.h"

namespace braid::engine {

using duckdb::LogicalType;
using duckdb::Value;

LogicalType PhysicalType(const LogicalType& type, const DataType& delta, ColumnMappingMode mapping) {
	if (mapping == ColumnMappingMode::kNone) return type;
	switch (delta.kind) {
		case TypeKind::kStruct: {
			duckdb::child_list_t<LogicalType> children;
			for (size_t i = 0; i < delta.fields.size(); i++) {
				auto& field = delta.fields[i];
				children.emplace_back(PhysicalName(field, mapping),
									  PhysicalType(duckdb::StructType::GetChildType(type, i), *field.type, mapping));
			}
			return LogicalType::STRUCT(std::move(children));
		}
		case TypeKind::kArray:
			return LogicalType::LIST(PhysicalType(duckdb::ListType::GetChildType(type), *delta.element, mapping));
		case TypeKind::kMap:
			return LogicalType::MAP(PhysicalType(duckdb::MapType::KeyType(type), *delta.key, mapping),
									PhysicalType(duckdb::MapType::ValueType(type), *delta.element, mapping));
		default:
			return type;
	}
}

namespace {

// The ids below one type; empty if it has none (Delta numbers struct fields only).
duckdb::child_list_t<Value> NestedIds(const DataType& type, ColumnMappingMode mapping);

Value IdOf(const Field& field, ColumnMappingMode mapping) {
	auto nested = NestedIds(*field.type, mapping);
	auto id = MetadataInteger(field, kColumnIdKey);
	if (nested.empty()) return Value::BIGINT(id.value_or(0));
	if (id) nested.emplace_back("__duckdb_field_id", Value::BIGINT(*id));
	return Value::STRUCT(std::move(nested));
}

void AddElementIds(const char* name, const DataType& type, ColumnMappingMode mapping,
				   duckdb::child_list_t<Value>& ids) {
	auto nested = NestedIds(type, mapping);
	if (!nested.empty()) ids.emplace_back(name, Value::STRUCT(std::move(nested)));
}

duckdb::child_list_t<Value> NestedIds(const DataType& type, ColumnMappingMode mapping) {
	duckdb::child_list_t<Value> ids;
	switch (type.kind) {
		case TypeKind::kStruct:
			for (auto& field : type.fields) ids.emplace_back(PhysicalName(field, mapping), IdOf(field, mapping));
			break;
		case TypeKind::kArray:
			AddElementIds("element", *type.element, mapping, ids);
			break;
		case TypeKind::kMap:
			AddElementIds("key", *type.key, mapping, ids);
			AddElementIds("value", *type.element, mapping, ids);
			break;
		default:
			break;
	}
	return ids;
}

}  // namespace

Value FieldIds(const std::vector<const Field*>& fields, ColumnMappingMode mapping) {
	duckdb::child_list_t<Value> ids;
	for (auto* field : fields) ids.emplace_back(PhysicalName(*field, mapping), IdOf(*field, mapping));
	return Value::STRUCT(std::move(ids));
}

}  // namespace braid::engine
