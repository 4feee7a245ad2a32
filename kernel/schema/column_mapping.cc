// SPDX-License-Identifier: Apache-2.0
#include "kernel/schema/column_mapping.h"

#include <algorithm>

#include "base/json.h"

namespace braid {

namespace {

Status CheckType(const DataType& type, const std::string& parent);

Status CheckField(const Field& field, const std::string& parent) {
	const std::string column = parent.empty() ? field.name : parent + "." + field.name;
	for (const std::string& key : {kColumnIdKey, kPhysicalNameKey}) {
		const bool present =
			key == kColumnIdKey ? MetadataInteger(field, key).has_value() : MetadataString(field, key).has_value();
		if (!present) {
			return Fail(ErrorKind::kCorrupt,
						"column mapping is on, but column \"" + column + "\" has no " + key + " in the schema");
		}
	}
	return CheckType(*field.type, column);
}

Status CheckType(const DataType& type, const std::string& parent) {
	for (const Field& field : type.fields) BRAID_TRY(CheckField(field, parent));
	if (type.key) BRAID_TRY(CheckType(*type.key, parent + ".key"));
	if (type.element) BRAID_TRY(CheckType(*type.element, parent + (type.key ? ".value" : ".element")));
	return {};
}

// `identify` is asked for every field, parents first.
template <class Identify>
DataTypePtr WithIds(const DataType& type, const Identify& identify) {
	auto mapped = std::make_shared<DataType>(type);
	for (Field& field : mapped->fields) {
		identify(field);
		field.type = WithIds(*field.type, identify);
	}
	if (type.key) mapped->key = WithIds(*type.key, identify);
	if (type.element) mapped->element = WithIds(*type.element, identify);
	return mapped;
}

}  // namespace

DataTypePtr WithNewColumnIds(const DataType& type, int64_t& last_id, Random& random) {
	return WithIds(type, [&](Field& field) {
		field.metadata[kColumnIdKey] = std::to_string(++last_id);
		field.metadata[kPhysicalNameKey] = JsonString("col-" + NewUuid(random));
	});
}

DataTypePtr WithColumnIdsForFiles(const DataType& type, int64_t& last_id) {
	return WithIds(type, [&](Field& field) {
		if (!MetadataInteger(field, kColumnIdKey)) field.metadata[kColumnIdKey] = std::to_string(++last_id);
		if (!MetadataString(field, kPhysicalNameKey)) field.metadata[kPhysicalNameKey] = JsonString(field.name);
	});
}

Result<ColumnMappingMode> ParseColumnMappingMode(const std::string& value) {
	if (value == "none") return ColumnMappingMode::kNone;
	if (value == "name") return ColumnMappingMode::kName;
	if (value == "id") return ColumnMappingMode::kId;
	return Fail(ErrorKind::kUnsupported,
				"delta.columnMapping.mode is \"" + value + "\"; known modes are none, name and id");
}

Status CheckColumnMapping(const StructType& schema, ColumnMappingMode mode) {
	if (mode == ColumnMappingMode::kNone) return {};
	return CheckType(schema, "");
}

std::string PhysicalName(const Field& field, ColumnMappingMode mode) {
	if (mode == ColumnMappingMode::kNone) return field.name;
	return MetadataString(field, kPhysicalNameKey).value_or(field.name);
}

std::vector<std::string> LogicalPath(std::vector<std::string> physical, const StructType& schema,
									 ColumnMappingMode mode) {
	const StructType* level = &schema;
	for (std::string& name : physical) {
		const auto field =
			std::ranges::find_if(level->fields, [&](const Field& f) { return PhysicalName(f, mode) == name; });
		if (field == level->fields.end()) break;
		name = field->name;
		level = field->type.get();
	}
	return physical;
}

}  // namespace braid
