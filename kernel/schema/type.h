// SPDX-License-Identifier: Apache-2.0
// Delta's data types and fields as plain data (PROTOCOL: Schema Serialization Format).
// A StructType is immutable once built and shared; field metadata keeps every key, known or not, as JSON text.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace braid {

enum class TypeKind {
	kString,
	kLong,
	kInteger,
	kShort,
	kByte,
	kFloat,
	kDouble,
	kDecimal,
	kBoolean,
	kBinary,
	kDate,
	kTimestamp,
	kTimestampNtz,
	kVariant,
	kVoid,
	kStruct,
	kArray,
	kMap
};

struct DataType;
using DataTypePtr = std::shared_ptr<const DataType>;

// Values of the metadata object, each as JSON text ("3", "\"col-1\"", "[...]").
using FieldMetadata = std::map<std::string, std::string>;

struct Field {
	std::string name;
	DataTypePtr type;
	bool nullable = true;
	FieldMetadata metadata;
};

struct DataType {
	TypeKind kind = TypeKind::kString;
	int precision = 0;          // kDecimal: 1..38
	int scale = 0;              // kDecimal: 0..precision
	std::vector<Field> fields;  // kStruct
	DataTypePtr element;        // kArray: element; kMap: value
	DataTypePtr key;            // kMap
	bool contains_null = true;  // kArray: elements; kMap: values
};

using StructType = DataType;  // with kind == kStruct

bool IsNested(TypeKind kind);
// "decimal(10,2)", "array<struct<a:integer>>": for messages.
std::string ToString(const DataType& type);
bool operator==(const DataType& a, const DataType& b);
bool operator==(const Field& a, const Field& b);

// Metadata helpers: a string or a number of a field's metadata, if present and of that kind.
std::optional<std::string> MetadataString(const Field& field, const std::string& key);
std::optional<int64_t> MetadataInteger(const Field& field, const std::string& key);

}  // namespace braid
