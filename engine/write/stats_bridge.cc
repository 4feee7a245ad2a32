// SPDX-License-Identifier: Apache-2.0
// The writer names a leaf by its quoted path and gives bounds as text.
#include "engine/write/stats_bridge.h"

#include <algorithm>

#include "engine/catalog/type_mapping.h"
#include "engine/scan/scalar_bridge.h"

namespace braid::engine {

namespace {

const DataType* FindLeaf(const StructType& schema, ColumnMappingMode mapping, const std::vector<std::string>& path) {
	const DataType* type = &schema;
	for (auto& name : path) {
		if (type->kind != TypeKind::kStruct) return nullptr;
		auto field = std::ranges::find_if(type->fields, [&](auto& f) { return PhysicalName(f, mapping) == name; });
		if (field == type->fields.end()) return nullptr;
		type = field->type.get();
	}
	return type;
}

bool HasBounds(TypeKind kind) {
	return kind != TypeKind::kBoolean && kind != TypeKind::kBinary && kind != TypeKind::kVariant &&
		   kind != TypeKind::kVoid && !IsNested(kind);
}

// Bounds come as text; timestamps with zone in UTC ("... +00"), which a zone-less cast reads correctly.
std::optional<Scalar> Bound(const duckdb::case_insensitive_map_t<duckdb::Value>& column, const char* which,
							const DataType& type) {
	auto entry = column.find(which);
	if (entry == column.end() || entry->second.IsNull()) return std::nullopt;
	// TIMESTAMP WITH TIME ZONE would be read in the session's zone.
	auto target = type.kind == TypeKind::kTimestamp ? duckdb::LogicalType::TIMESTAMP : ToDuckType(type, which);
	duckdb::Value value;
	std::string problem;
	if (!entry->second.DefaultTryCastAs(target, value, &problem)) return std::nullopt;  // no bound is always right
	auto scalar = ToScalar(value);
	if (scalar) scalar->kind = type.kind;
	return scalar;
}

}  // namespace

std::string WriterKey(const std::vector<std::string>& path) {
	std::string key;
	for (auto& name : path) {
		if (!key.empty()) key += '.';
		key += '"';
		for (char c : name) key.append(c == '"' ? 2 : 1, c);
		key += '"';
	}
	return key;
}

FileStats ToFileStats(const duckdb::CopyFunctionFileStatistics& written, const StructType& schema,
					  ColumnMappingMode mapping, const std::vector<std::vector<std::string>>& wanted,
					  const std::vector<std::string>& nan_columns) {
	FileStats stats;
	stats.num_records = static_cast<int64_t>(written.row_count);
	for (auto& path : wanted) {
		auto column = written.column_statistics.find(WriterKey(path));
		auto* type = FindLeaf(schema, mapping, path);
		if (column == written.column_statistics.end() || !type || IsNested(type->kind)) continue;
		ColumnStats leaf;
		if (HasBounds(type->kind)) {
			leaf.min = Bound(column->second, "min", *type);
			leaf.max = Bound(column->second, "max", *type);
			bool floating = type->kind == TypeKind::kFloat || type->kind == TypeKind::kDouble;
			// The writer's bounds leave NaN out, Delta orders it above everything.
			if (floating && std::ranges::find(nan_columns, path.front()) != nan_columns.end()) leaf.max.reset();
		}
		auto nulls = column->second.find("null_count");
		if (nulls != column->second.end()) leaf.null_count = nulls->second.GetValue<int64_t>();
		stats.columns.emplace(path, std::move(leaf));
	}
	return stats;
}

}  // namespace braid::engine
