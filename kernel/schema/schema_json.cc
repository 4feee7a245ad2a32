// SPDX-License-Identifier: Apache-2.0
#include "kernel/schema/schema_json.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/json.h"
#include "simdjson.h"

namespace braid {

namespace {

using simdjson::dom::element;
using simdjson::dom::object;

constexpr std::pair<std::string_view, TypeKind> kPrimitives[] = {
	{"string", TypeKind::kString},       {"long", TypeKind::kLong},
	{"integer", TypeKind::kInteger},     {"short", TypeKind::kShort},
	{"byte", TypeKind::kByte},           {"float", TypeKind::kFloat},
	{"double", TypeKind::kDouble},       {"boolean", TypeKind::kBoolean},
	{"binary", TypeKind::kBinary},       {"date", TypeKind::kDate},
	{"timestamp", TypeKind::kTimestamp}, {"timestamp_ntz", TypeKind::kTimestampNtz},
	{"variant", TypeKind::kVariant},     {"void", TypeKind::kVoid},
	{"null", TypeKind::kVoid},  // Spark before 3.1
};

std::unexpected<Error> Malformed(const std::string& column, const std::string& reason) {
	return Fail(ErrorKind::kCorrupt,
				"schemaString is malformed" + (column.empty() ? "" : " at column \"" + column + "\"") + ": " + reason);
}

DataTypePtr Primitive(TypeKind kind) {
	auto type = std::make_shared<DataType>();
	type->kind = kind;
	return type;
}

std::string Lower(std::string text) {
	std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
	return text;
}

// "decimal" is (10,0), as in Spark; else "decimal(p,s)" with optional blanks.
Result<DataTypePtr> ParseDecimal(std::string_view text, const std::string& column) {
	auto type = std::make_shared<DataType>();
	type->kind = TypeKind::kDecimal;
	type->precision = 10;
	if (text == "decimal") return type;
	std::string digits;
	for (const char c : text.substr(7)) {
		if (c != ' ') digits += c;
	}
	const char* end = digits.data() + digits.size();
	const auto precision = std::from_chars(digits.data() + 1, end, type->precision);
	if (!digits.starts_with('(') || precision.ec != std::errc() || precision.ptr == end || *precision.ptr != ',') {
		return Malformed(column, "unreadable type \"" + std::string(text) + "\"");
	}
	const auto scale = std::from_chars(precision.ptr + 1, end, type->scale);
	if (scale.ec != std::errc() || std::string_view(scale.ptr, end) != ")") {
		return Malformed(column, "unreadable type \"" + std::string(text) + "\"");
	}
	if (type->precision > 38) {
		return Fail(ErrorKind::kUnsupported, "column \"" + column + "\" has type " + std::string(text) +
												 ": a decimal has at most 38 digits of precision");
	}
	if (type->precision < 1 || type->scale < 0 || type->scale > type->precision) {
		return Malformed(column, "impossible type \"" + std::string(text) + "\"");
	}
	return type;
}

Result<DataTypePtr> ParsePrimitive(std::string_view name, const std::string& column) {
	for (const auto& [text, kind] : kPrimitives) {
		if (text == name) return Primitive(kind);
	}
	if (name.starts_with("decimal")) return ParseDecimal(name, column);
	return Fail(ErrorKind::kUnsupported,
				"column \"" + column + "\" has the unknown data type \"" + std::string(name) + "\"");
}

Result<DataTypePtr> ParseType(element json, const std::string& column);

Result<Field> ParseField(element json, const std::string& parent) {
	object field;
	if (json.get(field)) return Malformed(parent, "a field is not an object");
	Field result;
	std::string_view name;
	if (field["name"].get(name)) return Malformed(parent, "a field has no name");
	result.name = name;
	const std::string column = parent.empty() ? result.name : parent + "." + result.name;
	element type;
	if (field["type"].get(type)) return Malformed(column, "the field has no type");
	BRAID_TRY(result.type, ParseType(type, column));
	element nullable;
	if (!field["nullable"].get(nullable) && nullable.get(result.nullable)) {
		return Malformed(column, "\"nullable\" is not a boolean");
	}
	element metadata;
	if (!field["metadata"].get(metadata) && !metadata.is_null()) {
		object entries;
		if (metadata.get(entries)) return Malformed(column, "\"metadata\" is not an object");
		for (const auto& [key, value] : entries) result.metadata.emplace(key, simdjson::minify(value));
	}
	return result;
}

Result<DataTypePtr> ParseStruct(object json, const std::string& column) {
	simdjson::dom::array fields;
	if (json["fields"].get(fields)) return Malformed(column, "a struct has no list of fields");
	auto type = std::make_shared<DataType>();
	type->kind = TypeKind::kStruct;
	type->fields.reserve(fields.size());
	std::set<std::string> names;
	for (const element& field : fields) {
		BRAID_TRY(Field parsed, ParseField(field, column));
		if (!names.insert(Lower(parsed.name)).second) {
			return Malformed(column, "duplicate column \"" + parsed.name + "\" (names are case-insensitive)");
		}
		type->fields.push_back(std::move(parsed));
	}
	return type;
}

Result<DataTypePtr> ParseContainer(object json, bool is_map, const std::string& column) {
	auto type = std::make_shared<DataType>();
	type->kind = is_map ? TypeKind::kMap : TypeKind::kArray;
	element child;
	if (json[is_map ? "valueType" : "elementType"].get(child)) return Malformed(column, "an element type is missing");
	BRAID_TRY(type->element, ParseType(child, column + (is_map ? ".value" : ".element")));
	if (is_map) {
		if (json["keyType"].get(child)) return Malformed(column, "the key type of a map is missing");
		BRAID_TRY(type->key, ParseType(child, column + ".key"));
	}
	element contains_null;
	if (!json[is_map ? "valueContainsNull" : "containsNull"].get(contains_null) &&
		contains_null.get(type->contains_null)) {
		return Malformed(column, "\"containsNull\" is not a boolean");
	}
	return type;
}

Result<DataTypePtr> ParseType(element json, const std::string& column) {
	std::string_view name;
	if (!json.get(name)) return ParsePrimitive(name, column);
	object nested;
	if (json.get(nested) || nested["type"].get(name))
		return Malformed(column, "a type is neither a name nor an object");
	if (name == "struct") return ParseStruct(nested, column);
	if (name == "array" || name == "map") return ParseContainer(nested, name == "map", column);
	return Fail(ErrorKind::kUnsupported,
				"column \"" + column + "\" has the unknown data type \"" + std::string(name) + "\"");
}

void AppendType(const DataType& type, std::string& out);

void AppendField(const Field& field, std::string& out) {
	JsonObjectWriter json(out);
	json.String("name", field.name);
	json.Key("type");
	AppendType(*field.type, out);
	json.Bool("nullable", field.nullable);
	json.Key("metadata");
	out += '{';
	bool first = true;
	for (const auto& [key, value] : field.metadata) {
		if (!first) out += ',';
		first = false;
		AppendJsonString(key, out);
		out += ':';
		out += value;
	}
	out += '}';
	json.Close();
}

void AppendType(const DataType& type, std::string& out) {
	if (!IsNested(type.kind)) return AppendJsonString(ToString(type), out);
	JsonObjectWriter json(out);
	if (type.kind == TypeKind::kStruct) {
		json.String("type", "struct");
		json.Key("fields");
		out += '[';
		for (const Field& field : type.fields) {
			if (&field != &type.fields.front()) out += ',';
			AppendField(field, out);
		}
		out += ']';
	} else if (type.kind == TypeKind::kArray) {
		json.String("type", "array");
		json.Key("elementType");
		AppendType(*type.element, out);
		json.Bool("containsNull", type.contains_null);
	} else {
		json.String("type", "map");
		json.Key("keyType");
		AppendType(*type.key, out);
		json.Key("valueType");
		AppendType(*type.element, out);
		json.Bool("valueContainsNull", type.contains_null);
	}
	json.Close();
}

}  // namespace

Result<DataTypePtr> ParseSchema(std::string_view schema_json) {
	simdjson::dom::parser parser;
	element root;
	const simdjson::padded_string padded(schema_json);
	if (const auto error = parser.parse(padded).get(root)) return Malformed("", simdjson::error_message(error));
	BRAID_TRY(DataTypePtr type, ParseType(root, ""));
	if (type->kind != TypeKind::kStruct) return Malformed("", "the schema of a table is not a struct");
	return type;
}

std::string WriteSchema(const StructType& schema) {
	std::string out;
	AppendType(schema, out);
	return out;
}

}  // namespace braid
