// SPDX-License-Identifier: Apache-2.0
// One switch for each direction.
#include "engine/catalog/type_mapping.h"

#include "duckdb/common/exception.hpp"

namespace braid::engine {

namespace {

using duckdb::LogicalType;
using duckdb::LogicalTypeId;

DataTypePtr Primitive(TypeKind kind) {
	auto type = std::make_shared<DataType>();
	type->kind = kind;
	return type;
}

DataTypePtr DecimalType(int precision, int scale) {
	auto type = std::make_shared<DataType>();
	type->kind = TypeKind::kDecimal;
	type->precision = precision;
	type->scale = scale;
	return type;
}

[[noreturn]] void Refuse(const LogicalType& type, const std::string& column, const char* nearest) {
	throw duckdb::InvalidInputException("Column \"%s\": Delta has no type for %s; the nearest is %s (write %s::%s)",
										column, type.ToString(), nearest, column, nearest);
}

// Types whose refusal names an alternative.
const char* Nearest(LogicalTypeId id) {
	switch (id) {
		case LogicalTypeId::UTINYINT:
			return "SMALLINT";
		case LogicalTypeId::USMALLINT:
			return "INTEGER";
		case LogicalTypeId::UINTEGER:
			return "BIGINT";
		case LogicalTypeId::UBIGINT:
			return "DECIMAL(20,0)";
		case LogicalTypeId::HUGEINT:
		case LogicalTypeId::UHUGEINT:
			return "DECIMAL(38,0)";
		case LogicalTypeId::TIMESTAMP_SEC:
		case LogicalTypeId::TIMESTAMP_MS:
		case LogicalTypeId::TIMESTAMP_NS:
			return "TIMESTAMP";
		case LogicalTypeId::TIME:
		case LogicalTypeId::TIME_TZ:
		case LogicalTypeId::TIME_NS:
		case LogicalTypeId::INTERVAL:
		case LogicalTypeId::ENUM:
		case LogicalTypeId::UUID:
		case LogicalTypeId::BIT:
			return "VARCHAR";
		case LogicalTypeId::UNION:
			return "STRUCT";
		case LogicalTypeId::GEOMETRY:
			return "BLOB";
		default:
			return "VARCHAR";
	}
}

}  // namespace

LogicalType ToDuckType(const DataType& type, const std::string& column) {
	switch (type.kind) {
		case TypeKind::kString:
			return LogicalType::VARCHAR;
		case TypeKind::kLong:
			return LogicalType::BIGINT;
		case TypeKind::kInteger:
		case TypeKind::kVoid:
			return LogicalType::INTEGER;
		case TypeKind::kShort:
			return LogicalType::SMALLINT;
		case TypeKind::kByte:
			return LogicalType::TINYINT;
		case TypeKind::kFloat:
			return LogicalType::FLOAT;
		case TypeKind::kDouble:
			return LogicalType::DOUBLE;
		case TypeKind::kDecimal:
			return LogicalType::DECIMAL(static_cast<uint8_t>(type.precision), static_cast<uint8_t>(type.scale));
		case TypeKind::kBoolean:
			return LogicalType::BOOLEAN;
		case TypeKind::kBinary:
			return LogicalType::BLOB;
		case TypeKind::kDate:
			return LogicalType::DATE;
		case TypeKind::kTimestamp:
			return LogicalType::TIMESTAMP_TZ;
		case TypeKind::kTimestampNtz:
			return LogicalType::TIMESTAMP;
		case TypeKind::kVariant:
			break;
		case TypeKind::kStruct: {
			duckdb::child_list_t<LogicalType> children;
			for (const Field& field : type.fields) {
				children.emplace_back(field.name, ToDuckType(*field.type, column + "." + field.name));
			}
			return LogicalType::STRUCT(std::move(children));
		}
		case TypeKind::kArray:
			return LogicalType::LIST(ToDuckType(*type.element, column + ".element"));
		case TypeKind::kMap:
			return LogicalType::MAP(ToDuckType(*type.key, column + ".key"),
									ToDuckType(*type.element, column + ".value"));
	}
	throw duckdb::NotImplementedException("Column \"%s\": type %s (feature variantType) is not supported", column,
										  ToString(type));
}

DataTypePtr ToDeltaType(const LogicalType& type, const std::string& column) {
	switch (type.id()) {
		case LogicalTypeId::VARCHAR:
			if (!duckdb::StringType::GetCollation(type).empty()) {
				throw duckdb::InvalidInputException(
					"Column \"%s\": Delta has no collations; leave out COLLATE %s and use it in queries", column,
					duckdb::StringType::GetCollation(type));
			}
			return Primitive(TypeKind::kString);
		case LogicalTypeId::BIGINT:
			return Primitive(TypeKind::kLong);
		case LogicalTypeId::INTEGER:
			return Primitive(TypeKind::kInteger);
		case LogicalTypeId::SMALLINT:
			return Primitive(TypeKind::kShort);
		case LogicalTypeId::TINYINT:
			return Primitive(TypeKind::kByte);
		case LogicalTypeId::FLOAT:
			return Primitive(TypeKind::kFloat);
		case LogicalTypeId::DOUBLE:
			return Primitive(TypeKind::kDouble);
		case LogicalTypeId::DECIMAL:
			return DecimalType(duckdb::DecimalType::GetWidth(type), duckdb::DecimalType::GetScale(type));
		case LogicalTypeId::BOOLEAN:
			return Primitive(TypeKind::kBoolean);
		case LogicalTypeId::BLOB:
			return Primitive(TypeKind::kBinary);
		case LogicalTypeId::DATE:
			return Primitive(TypeKind::kDate);
		case LogicalTypeId::TIMESTAMP_TZ:
			return Primitive(TypeKind::kTimestamp);
		case LogicalTypeId::TIMESTAMP:
			return Primitive(TypeKind::kTimestampNtz);
		case LogicalTypeId::STRUCT: {
			auto result = std::make_shared<DataType>();
			result->kind = TypeKind::kStruct;
			for (const auto& [name, child] : duckdb::StructType::GetChildTypes(type)) {
				result->fields.push_back(Field {name, ToDeltaType(child, column + "." + name), true, {}});
			}
			return result;
		}
		case LogicalTypeId::ARRAY:
			Refuse(type, column, (duckdb::ArrayType::GetChildType(type).ToString() + "[]").c_str());
		case LogicalTypeId::LIST: {
			auto result = std::make_shared<DataType>();
			result->kind = TypeKind::kArray;
			result->element = ToDeltaType(duckdb::ListType::GetChildType(type), column + ".element");
			return result;
		}
		case LogicalTypeId::MAP: {
			auto result = std::make_shared<DataType>();
			result->kind = TypeKind::kMap;
			result->key = ToDeltaType(duckdb::MapType::KeyType(type), column + ".key");
			result->element = ToDeltaType(duckdb::MapType::ValueType(type), column + ".value");
			return result;
		}
		default:
			Refuse(type, column, Nearest(type.id()));
	}
}

}  // namespace braid::engine
