// SPDX-License-Identifier: Apache-2.0
#include "kernel/schema/type.h"

#include "base/json.h"

namespace braid {

namespace {

const char* PrimitiveName(TypeKind kind) {
	switch (kind) {
		case TypeKind::kString:
			return "string";
		case TypeKind::kLong:
			return "long";
		case TypeKind::kInteger:
			return "integer";
		case TypeKind::kShort:
			return "short";
		case TypeKind::kByte:
			return "byte";
		case TypeKind::kFloat:
			return "float";
		case TypeKind::kDouble:
			return "double";
		case TypeKind::kBoolean:
			return "boolean";
		case TypeKind::kBinary:
			return "binary";
		case TypeKind::kDate:
			return "date";
		case TypeKind::kTimestamp:
			return "timestamp";
		case TypeKind::kTimestampNtz:
			return "timestamp_ntz";
		case TypeKind::kVariant:
			return "variant";
		case TypeKind::kVoid:
			return "void";
		case TypeKind::kDecimal:
		case TypeKind::kStruct:
		case TypeKind::kArray:
		case TypeKind::kMap:
			break;
	}
	return "";
}

bool SameType(const DataTypePtr& a, const DataTypePtr& b) { return a == b || (a && b && *a == *b); }

}  // namespace

bool IsNested(TypeKind kind) { return kind == TypeKind::kStruct || kind == TypeKind::kArray || kind == TypeKind::kMap; }

std::string ToString(const DataType& type) {
	switch (type.kind) {
		case TypeKind::kDecimal:
			return "decimal(" + std::to_string(type.precision) + "," + std::to_string(type.scale) + ")";
		case TypeKind::kArray:
			return "array<" + ToString(*type.element) + ">";
		case TypeKind::kMap:
			return "map<" + ToString(*type.key) + "," + ToString(*type.element) + ">";
		case TypeKind::kStruct: {
			std::string text = "struct<";
			for (const Field& field : type.fields) {
				if (&field != &type.fields.front()) text += ",";
				text += field.name + ":" + ToString(*field.type);
			}
			return text + ">";
		}
		default:
			return PrimitiveName(type.kind);
	}
}

bool operator==(const DataType& a, const DataType& b) {
	return a.kind == b.kind && a.precision == b.precision && a.scale == b.scale && a.fields == b.fields &&
		   a.contains_null == b.contains_null && SameType(a.element, b.element) && SameType(a.key, b.key);
}

bool operator==(const Field& a, const Field& b) {
	return a.name == b.name && a.nullable == b.nullable && a.metadata == b.metadata && SameType(a.type, b.type);
}

std::optional<std::string> MetadataString(const Field& field, const std::string& key) {
	const auto found = field.metadata.find(key);
	if (found == field.metadata.end()) return std::nullopt;
	return JsonStringValue(found->second);
}

std::optional<int64_t> MetadataInteger(const Field& field, const std::string& key) {
	const auto found = field.metadata.find(key);
	if (found == field.metadata.end()) return std::nullopt;
	return JsonIntegerValue(found->second);
}

}  // namespace braid
