// SPDX-License-Identifier: Apache-2.0
// One pass over validity masks for top-level columns; nested ones value by value, and only where something is demanded.
#include "engine/write/not_null.h"

#include <optional>

#include "duckdb/common/exception.hpp"
#include "duckdb/common/vector_operations/vector_operations.hpp"

namespace braid::engine {

namespace {

using duckdb::idx_t;

bool DemandsAny(const DataType& type) {
	switch (type.kind) {
		case TypeKind::kStruct:
			for (auto& field : type.fields) {
				if (!field.nullable || DemandsAny(*field.type)) return true;
			}
			return false;
		case TypeKind::kArray:
			return !type.contains_null || DemandsAny(*type.element);
		case TypeKind::kMap:
			return !type.contains_null || DemandsAny(*type.element) || DemandsAny(*type.key);
		default:
			return false;
	}
}

bool IsNull(const duckdb::Value& value, const Field& field, std::string& path) {
	path += path.empty() ? field.name : "." + field.name;
	if (value.IsNull()) return !field.nullable;
	return false;
}

// The path of the first NULL inside `value` that its type forbids; values are compared one by one, for nested columns
// only.
std::optional<std::string> Forbidden(const duckdb::Value& value, const DataType& type, const std::string& path) {
	if (value.IsNull() || !DemandsAny(type)) return std::nullopt;
	if (type.kind == TypeKind::kStruct) {
		auto& children = duckdb::StructValue::GetChildren(value);
		for (size_t i = 0; i < type.fields.size(); i++) {
			auto child_path = path;
			if (IsNull(children[i], type.fields[i], child_path)) return child_path;
			if (auto nested = Forbidden(children[i], *type.fields[i].type, child_path)) return nested;
		}
		return std::nullopt;
	}
	bool map = type.kind == TypeKind::kMap;
	for (auto& child : map ? duckdb::MapValue::GetChildren(value) : duckdb::ListValue::GetChildren(value)) {
		auto& element = map ? duckdb::StructValue::GetChildren(child)[1] : child;
		auto child_path = path + (map ? ".value" : ".element");
		if (element.IsNull() && !type.contains_null) return child_path;
		if (auto nested = Forbidden(element, *type.element, child_path)) return nested;
	}
	return std::nullopt;
}

[[noreturn]] void Refuse(const StructType& schema, const std::string& table, const std::string& column,
						 duckdb::DataChunk& rows, idx_t row) {
	std::string picture;
	for (size_t i = 0; i < schema.fields.size() && i < 8; i++) {
		picture += (i ? ", " : "") + schema.fields[i].name + "=" + rows.GetValue(i, row).ToString();
	}
	throw duckdb::ConstraintException("NOT NULL constraint failed: %s.%s (row: %s)", table, column, picture);
}

}  // namespace

void CheckNotNull(const StructType& schema, const std::string& table, duckdb::DataChunk& rows) {
	for (size_t i = 0; i < schema.fields.size(); i++) {
		auto& field = schema.fields[i];
		if (!field.nullable && duckdb::VectorOperations::HasNull(rows.data[i], rows.size())) {
			idx_t row = 0;
			while (!rows.GetValue(i, row).IsNull()) row++;
			Refuse(schema, table, field.name, rows, row);
		}
		if (!DemandsAny(*field.type)) continue;
		for (idx_t row = 0; row < rows.size(); row++) {
			if (auto path = Forbidden(rows.GetValue(i, row), *field.type, field.name))
				Refuse(schema, table, *path, rows, row);
		}
	}
}

}  // namespace braid::engine
