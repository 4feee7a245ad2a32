// SPDX-License-Identifier: Apache-2.0
#include "kernel/schema/schema_json.h"

#include <gtest/gtest.h>

#include "kernel/schema/column_mapping.h"

namespace braid {
namespace {

std::string Struct(const std::string& fields) { return R"({"type":"struct","fields":[)" + fields + "]}"; }
std::string FieldOf(const std::string& type, const std::string& metadata = "{}", const std::string& name = "c") {
	return R"({"name":")" + name + R"(","type":)" + type + R"(,"nullable":true,"metadata":)" + metadata + "}";
}

std::string SchemaError(const std::string& json, ErrorKind kind) {
	const Result<DataTypePtr> schema = ParseSchema(json);
	if (schema) return "";
	EXPECT_EQ(static_cast<int>(schema.error().kind), static_cast<int>(kind)) << schema.error().message;
	return schema.error().message;
}

TEST(SchemaJson, EveryTypeThereAndBack) {
	const std::pair<const char*, const char*> kTypes[] = {
		{R"("string")", "string"},
		{R"("long")", "long"},
		{R"("integer")", "integer"},
		{R"("short")", "short"},
		{R"("byte")", "byte"},
		{R"("float")", "float"},
		{R"("double")", "double"},
		{R"j("decimal(38,18)")j", "decimal(38,18)"},
		{R"("boolean")", "boolean"},
		{R"("binary")", "binary"},
		{R"("date")", "date"},
		{R"("timestamp")", "timestamp"},
		{R"("timestamp_ntz")", "timestamp_ntz"},
		{R"("variant")", "variant"},
		{R"("void")", "void"},
		{R"({"type":"array","elementType":"long","containsNull":false})", "array<long>"},
		{R"({"type":"map","keyType":"string","valueType":{"type":"array","elementType":"date","containsNull":true},"valueContainsNull":false})",
		 "map<string,array<date>>"},
		{R"({"type":"struct","fields":[{"name":"x y","type":"long","nullable":false,"metadata":{}}]})",
		 "struct<x y:long>"},
	};
	for (const auto& [json, text] : kTypes) {
		const std::string schema = Struct(FieldOf(json, R"({"delta.columnMapping.id":4,"note":"a\"b"})"));
		const Result<DataTypePtr> parsed = ParseSchema(schema);
		ASSERT_TRUE(parsed) << parsed.error().message;
		EXPECT_EQ(ToString(*(*parsed)->fields[0].type), text);
		EXPECT_EQ(WriteSchema(**parsed), schema);
		EXPECT_TRUE(**ParseSchema(WriteSchema(**parsed)) == **parsed);
	}
}

TEST(SchemaJson, OrderOfKeysAndOldSpellings) {
	const Result<DataTypePtr> schema = ParseSchema(
		R"j({"fields":[{"metadata":{},"nullable":false,"type":{"containsNull":true,"elementType":"decimal( 5 , 2 )","type":"array"},"name":"a"},{"name":"b","type":"decimal"},{"name":"n","type":"null"}],"type":"struct"})j");
	ASSERT_TRUE(schema) << schema.error().message;
	EXPECT_EQ(ToString(**schema), "struct<a:array<decimal(5,2)>,b:decimal(10,0),n:void>");
	EXPECT_FALSE((*schema)->fields[0].nullable);
	EXPECT_TRUE((*schema)->fields[1].nullable);
}

TEST(SchemaJson, RefusesByName) {
	const auto expect = [](const std::string& json, ErrorKind kind, const char* reason) {
		const std::string error = SchemaError(json, kind);
		EXPECT_NE(error.find(reason), std::string::npos) << json << " gave: " << error;
	};
	expect(Struct(FieldOf(R"("hyperloglog")")), ErrorKind::kUnsupported,
		   "column \"c\" has the unknown data type \"hyperloglog\"");
	expect(Struct(FieldOf(R"({"type":"struct","fields":[{"name":"d","type":"x"}]})")), ErrorKind::kUnsupported,
		   "column \"c.d\"");
	expect(Struct(FieldOf(R"j("decimal(39,1)")j")), ErrorKind::kUnsupported, "38 digits");
	expect(Struct(FieldOf(R"j("decimal(5,6)")j")), ErrorKind::kCorrupt, "decimal(5,6)");
	expect(Struct(FieldOf(R"("decimal(5")")), ErrorKind::kCorrupt, "decimal(5");
	expect(Struct(FieldOf(R"("decimal(5,1)x")")), ErrorKind::kCorrupt, "decimal(5,1)x");
	expect(Struct(FieldOf(R"("long")", "{}", "Ab") + "," + FieldOf(R"("long")", "{}", "aB")), ErrorKind::kCorrupt,
		   "duplicate column \"aB\"");
	expect(Struct(FieldOf("5")), ErrorKind::kCorrupt, "c");
	expect(Struct("7"), ErrorKind::kCorrupt, "field");
	expect(R"({"type":"struct"})", ErrorKind::kCorrupt, "no list of fields");
	expect(R"("long")", ErrorKind::kCorrupt, "not a struct");
	expect("{", ErrorKind::kCorrupt, "malformed");
	expect("", ErrorKind::kCorrupt, "malformed");
	std::string deep = R"("long")";
	for (int i = 0; i < 3000; ++i) deep = R"({"type":"array","containsNull":true,"elementType":)" + deep + "}";
	expect(Struct(FieldOf(deep)), ErrorKind::kCorrupt, "malformed");
}

TEST(ColumnMapping, NeedsIdAndNameAtEveryLevel) {
	const std::string mapped = R"({"delta.columnMapping.id":1,"delta.columnMapping.physicalName":"col-1"})";
	const std::string inner = R"({"type":"array","containsNull":true,"elementType":)";
	const DataTypePtr good =
		*ParseSchema(Struct(FieldOf(inner + Struct(FieldOf(R"("long")", mapped, "d")) + "}", mapped)));
	EXPECT_TRUE(CheckColumnMapping(*good, ColumnMappingMode::kName));
	EXPECT_EQ(PhysicalName(good->fields[0], ColumnMappingMode::kId), "col-1");
	EXPECT_EQ(PhysicalName(good->fields[0], ColumnMappingMode::kNone), "c");
	const DataTypePtr bad =
		*ParseSchema(Struct(FieldOf(inner + Struct(FieldOf(R"("long")", "{}", "d")) + "}", mapped)));
	EXPECT_TRUE(CheckColumnMapping(*bad, ColumnMappingMode::kNone));
	const Status status = CheckColumnMapping(*bad, ColumnMappingMode::kName);
	ASSERT_FALSE(status);
	EXPECT_NE(status.error().message.find("c.element.d"), std::string::npos) << status.error().message;
	EXPECT_FALSE(ParseColumnMappingMode("names"));
	EXPECT_EQ(*ParseColumnMappingMode("id"), ColumnMappingMode::kId);
}

}  // namespace
}  // namespace braid
