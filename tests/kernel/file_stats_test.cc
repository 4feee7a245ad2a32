// SPDX-License-Identifier: Apache-2.0
// File statistics: every spelling that is read, exactly what is written, and that bounds only become wider on the way.
#include "kernel/stats/file_stats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "kernel/schema/schema_json.h"

namespace braid {
namespace {

DataTypePtr Primitive(TypeKind kind) { return std::make_shared<DataType>(DataType {.kind = kind}); }
DataTypePtr Struct(std::vector<Field> fields) {
	return std::make_shared<DataType>(DataType {.kind = TypeKind::kStruct, .fields = std::move(fields)});
}
DataTypePtr DecimalType(int precision, int scale) {
	return std::make_shared<DataType>(DataType {.kind = TypeKind::kDecimal, .precision = precision, .scale = scale});
}

const DataTypePtr kSchema = Struct(
	{{"i", Primitive(TypeKind::kInteger)},
	 {"l", Primitive(TypeKind::kLong)},
	 {"f", Primitive(TypeKind::kFloat)},
	 {"d", Primitive(TypeKind::kDouble)},
	 {"s", Primitive(TypeKind::kString)},
	 {"day", Primitive(TypeKind::kDate)},
	 {"ts", Primitive(TypeKind::kTimestamp)},
	 {"ntz", Primitive(TypeKind::kTimestampNtz)},
	 {"dec", DecimalType(38, 10)},
	 {"b", Primitive(TypeKind::kBoolean)},
	 {"bin", Primitive(TypeKind::kBinary)},
	 {"st", Struct({{"x", Primitive(TypeKind::kLong)}, {"in", Struct({{"y", Primitive(TypeKind::kString)}})}})}});

FileStats Parse(std::string_view json, const StructType& schema = *kSchema) {
	auto stats = ParseFileStats(json, schema, ColumnMappingMode::kNone);
	EXPECT_TRUE(stats) << stats.error().message;
	return stats ? *stats : FileStats {};
}

std::string Min(const FileStats& stats, std::vector<std::string> path) {
	const auto column = stats.columns.find(path);
	return column == stats.columns.end() || !column->second.min ? "-" : ToText(*column->second.min);
}

std::string Max(const FileStats& stats, std::vector<std::string> path) {
	const auto column = stats.columns.find(path);
	return column == stats.columns.end() || !column->second.max ? "-" : ToText(*column->second.max);
}

TEST(NumRecords, WithoutParsingTheRest) {
	EXPECT_EQ(NumRecords(R"({"numRecords":17,"minValues":{"a":1}})"), 17);
	EXPECT_EQ(NumRecords(R"({"numRecords":17})"), 17);
	EXPECT_EQ(NumRecords(R"({ "minValues":{"numRecords":3}, "numRecords" : 9007199254740993 })"), 9007199254740993);
	EXPECT_EQ(NumRecords(R"({"numRecords":"17"})"), std::nullopt);
	EXPECT_EQ(NumRecords(R"({"numRecords":1.5})"), std::nullopt);
	EXPECT_EQ(NumRecords(R"({"minValues":{}})"), std::nullopt);
	EXPECT_EQ(NumRecords("{}"), std::nullopt);
	EXPECT_EQ(NumRecords(""), std::nullopt);
	EXPECT_EQ(NumRecords("{\"numRecords\":1"), std::nullopt);
	EXPECT_EQ(NumRecords("nonsense"), std::nullopt);
}

TEST(ParseFileStats, EveryType) {
	const FileStats stats = Parse(
		R"({"numRecords":4,"minValues":{"i":-5,"l":-9223372036854775808,"f":3.14,"d":-1.5e300,"s":"al\"pha","day":"2023-01-15",)"
		R"("ts":"2023-06-15T12:30:00.000Z","ntz":"2023-06-15T12:30:00.000","dec":12345.0123456789,"b":false,)"
		R"("bin":"x","st":{"x":10,"in":{"y":"n"}}},"maxValues":{"i":5,"l":9223372036854775807,"f":6.28,"d":2.5,"s":"z\u00e9","day":"2024-06-15",)"
		R"("ts":"2024-12-25T00:00:00.000Z","dec":"-0.5","b":true,"st":{"x":50}},"nullCount":{"i":0,"bin":2,"st":{"x":1,"in":{"y":4}}},"tightBounds":false})");
	EXPECT_EQ(stats.num_records, 4);
	EXPECT_FALSE(stats.tight_bounds);
	EXPECT_EQ(Min(stats, {"i"}), "-5");
	EXPECT_EQ(Max(stats, {"l"}), "9223372036854775807");
	EXPECT_EQ(Min(stats, {"l"}), "-9223372036854775808");
	EXPECT_EQ(std::get<double>(stats.columns.at({"f"}).min->value),
			  static_cast<double>(3.14F));  // as the file holds it
	EXPECT_EQ(std::get<double>(stats.columns.at({"d"}).min->value), -1.5e300);
	EXPECT_EQ(Min(stats, {"s"}), "al\"pha");
	EXPECT_EQ(Max(stats, {"s"}), "zé");
	EXPECT_EQ(Max(stats, {"day"}), "2024-06-15");
	EXPECT_EQ(Min(stats, {"ts"}), "2023-06-15 12:30:00");
	EXPECT_EQ(Max(stats, {"ts"}), "2024-12-25 00:00:00.000999");  // the maximum may have been cut to its millisecond
	EXPECT_EQ(Min(stats, {"ntz"}), "2023-06-15 12:30:00");
	EXPECT_EQ(Min(stats, {"dec"}), "12345.0123456789");
	EXPECT_EQ(Max(stats, {"dec"}), "-0.5");
	EXPECT_EQ(Min(stats, {"b"}), "false");
	EXPECT_EQ(Min(stats, {"bin"}), "-");
	EXPECT_EQ(stats.columns.at({"bin"}).null_count, 2);
	EXPECT_EQ(Max(stats, {"st", "x"}), "50");
	EXPECT_EQ(Min(stats, {"st", "in", "y"}), "n");
	EXPECT_EQ(stats.columns.at({"st", "in", "y"}).null_count, 4);
}

TEST(ParseFileStats, OtherSpellings) {
	// Struct form of a checkpoint turned into text, offsets, whole numbers as floats, microseconds kept by the writer.
	const FileStats stats = Parse(
		R"({ "maxValues" : {"ts":"2024-01-01 00:00:00+00", "ntz":"2024-01-01 00:00:00.123456", "l":5.0, "i":1E2, "d":"NaN", "f":"Infinity", "day":"2024-01-01"},)"
		R"( "minValues" : {"ts":"2024-01-01T04:00:00.000-08:00", "d":"-Infinity", "f":"NaN", "dec":1e3, "l":"7"}, "numRecords" : 3 })");
	EXPECT_EQ(Max(stats, {"ts"}), "2024-01-01 00:00:00.000999");
	EXPECT_EQ(Max(stats, {"ntz"}), "2024-01-01 00:00:00.123456");
	EXPECT_EQ(Min(stats, {"ts"}), "2024-01-01 12:00:00");
	EXPECT_EQ(Max(stats, {"l"}), "5");
	EXPECT_EQ(Min(stats, {"l"}), "7");
	EXPECT_EQ(Max(stats, {"i"}), "100");
	EXPECT_EQ(Max(stats, {"d"}), "-");
	EXPECT_EQ(Min(stats, {"d"}), "-Infinity");
	EXPECT_EQ(Max(stats, {"f"}), "Infinity");
	EXPECT_EQ(Min(stats, {"f"}), "-");
	EXPECT_EQ(Min(stats, {"dec"}), "1000");
	EXPECT_EQ(stats.num_records, 3);
	EXPECT_TRUE(stats.tight_bounds);
}

TEST(ParseFileStats, WhatCannotBeReadIsNoBound) {
	const FileStats stats = Parse(
		R"({"numRecords":null,"minValues":{"i":"x","l":99999999999999999999,"s":5,"day":"today","ts":{},"dec":[1],"b":1,)"
		R"("unknown":1,"st":7},"maxValues":[],"nullCount":{"i":"many","l":null}})");
	EXPECT_TRUE(stats.columns.empty());
	EXPECT_EQ(stats.num_records, std::nullopt);
	EXPECT_TRUE(Parse("").columns.empty());
	EXPECT_TRUE(Parse("{}").columns.empty());
}

TEST(ParseFileStats, MalformedTextIsAnError) {
	for (const char* json : {"[", "[]", "7", "{\"minValues\":", "{\"a\" 1}", "nonsense"}) {
		const auto stats = ParseFileStats(json, *kSchema, ColumnMappingMode::kNone);
		ASSERT_FALSE(stats) << json;
		EXPECT_EQ(stats.error().kind, ErrorKind::kCorrupt);
	}
}

TEST(ParseFileStats, OnlyWantedColumnsAndPhysicalNames) {
	Field renamed {"new name", Primitive(TypeKind::kLong)};
	renamed.metadata = {{"delta.columnMapping.id", "1"}, {"delta.columnMapping.physicalName", "\"col-a\\\"1\""}};
	Field other {"other", Primitive(TypeKind::kLong)};
	other.metadata = {{"delta.columnMapping.id", "2"}, {"delta.columnMapping.physicalName", "\"col-2\""}};
	const auto schema = Struct({renamed, other});
	const auto stats =
		ParseFileStats(R"({"minValues":{"col-a\"1":5,"col-2":6}})", *schema, ColumnMappingMode::kName, {"col-a\"1"});
	ASSERT_TRUE(stats);
	ASSERT_EQ(stats->columns.size(), 1u);
	EXPECT_EQ(Min(*stats, {"col-a\"1"}), "5");
}

TEST(ParseFileStats, DecimalsThatWentThroughADouble) {
	// Written by deltalake 1.6.6 for the maximum 1234567890123456789012345678.0123456789 and the minimum of its
	// negation.
	const FileStats lossy =
		Parse(R"({"minValues":{"dec":-1.2345678901234567e+27},"maxValues":{"dec":1.2345678901234567e+27}})");
	const Scalar largest {TypeKind::kDecimal, *ParseDecimal("1234567890123456789012345678.0123456789")};
	const Scalar smallest {TypeKind::kDecimal, *ParseDecimal("-1234567890123456789012345678.0123456789")};
	EXPECT_EQ(Compare(largest, *lossy.columns.at({"dec"}).max), std::strong_ordering::less);
	EXPECT_EQ(Compare(smallest, *lossy.columns.at({"dec"}).min), std::strong_ordering::greater);
	// As text nothing can have been lost, and with few digits neither.
	const FileStats exact = Parse(
		R"({"minValues":{"dec":"-1234567890123456789012345678.0123456789"},"maxValues":{"dec":99999.0000000001}})");
	EXPECT_EQ(Min(exact, {"dec"}), "-1234567890123456789012345678.0123456789");
	EXPECT_EQ(Max(exact, {"dec"}), "99999.0000000001");
}

TEST(ParseFileStats, FloatWidenedToDouble) {
	Field widened {"d", Primitive(TypeKind::kDouble)};
	widened.metadata = {{"delta.typeChanges", R"([{"fromType":"float","toType":"double"}])"}};
	const auto schema = Struct({widened});
	const FileStats stats = Parse(R"({"minValues":{"d":0.3},"maxValues":{"d":0.1}})", *schema);
	EXPECT_GE(std::get<double>(stats.columns.at({"d"}).max->value), static_cast<double>(0.1F));  // 0.1F is above 0.1
	EXPECT_LE(std::get<double>(stats.columns.at({"d"}).min->value), 0.3);
}

// Under the address sanitizer: whatever stands in the log, nothing is read outside of it, and what comes out is usable.
TEST(ParseFileStats, GarbledTextNeverCrashes) {
	const std::string original =
		R"({"numRecords":4,"minValues":{"i":-5,"s":"al\"p\u00e9","ts":"2023-06-15T12:30:00.000Z","dec":1.5,"st":{"x":10}},)"
		R"("maxValues":{"i":5,"d":2.5},"nullCount":{"i":0,"st":{"x":1}},"tightBounds":false})";
	std::mt19937_64 random(37);
	int refused = 0;
	for (int round = 0; round < 20'000; round++) {
		std::string text = original;
		for (uint64_t changes = 1 + random() % 4; changes > 0; changes--)
			text[random() % text.size()] = "{}[]\",:\\0e-\x80 "[random() % 14];
		if (random() % 4 == 0) text.resize(random() % text.size());
		text.shrink_to_fit();
		const auto stats = ParseFileStats(text, *kSchema, ColumnMappingMode::kNone);
		refused += stats ? 0 : 1;
		if (stats) {
			const std::string written = WriteFileStats(*stats, *kSchema, ColumnMappingMode::kNone);
			EXPECT_TRUE(ParseFileStats(written, *kSchema, ColumnMappingMode::kNone)) << text << "\n" << written;
		}
		(void)NumRecords(text);
		const auto wide = WidenForDeletionVector(text);
		EXPECT_TRUE(!wide || wide->find("tightBounds") != std::string::npos);
	}
	EXPECT_GT(refused, 1000);
}

ColumnStats Bounds(Scalar min, Scalar max, int64_t nulls) { return {std::move(min), std::move(max), nulls}; }
Scalar Text(std::string value) { return {TypeKind::kString, std::move(value)}; }

TEST(WriteFileStats, TheSpellingOfSpark) {
	FileStats stats {.num_records = 3};
	stats.columns[{"i"}] = Bounds({TypeKind::kInteger, int64_t {-1}}, {TypeKind::kInteger, int64_t {7}}, 0);
	stats.columns[{"d"}] = Bounds({TypeKind::kDouble, 0.5}, {TypeKind::kDouble, 2.0}, 1);
	stats.columns[{"s"}] = Bounds(Text("a\"b"), Text("z"), 0);
	stats.columns[{"day"}] = Bounds({TypeKind::kDate, int64_t {0}}, {TypeKind::kDate, int64_t {19'000}}, 0);
	stats.columns[{"ts"}] =
		Bounds({TypeKind::kTimestamp, int64_t {1'999}}, {TypeKind::kTimestamp, int64_t {4'000'500}}, 0);
	stats.columns[{"ntz"}] = Bounds({TypeKind::kTimestampNtz, int64_t {-1}}, {TypeKind::kTimestampNtz, int64_t {0}}, 0);
	stats.columns[{"dec"}] =
		Bounds({TypeKind::kDecimal, Decimal {-5, 10}}, {TypeKind::kDecimal, Decimal {12'345, 2}}, 0);
	stats.columns[{"b"}] = Bounds({TypeKind::kBoolean, false}, {TypeKind::kBoolean, true}, 0);
	stats.columns[{"bin"}].null_count = 2;
	stats.columns[{"st", "x"}] = Bounds({TypeKind::kLong, int64_t {1}}, {TypeKind::kLong, int64_t {2}}, 0);
	EXPECT_EQ(
		WriteFileStats(stats, *kSchema, ColumnMappingMode::kNone),
		R"({"numRecords":3,"minValues":{"i":-1,"d":0.5,"s":"a\"b","day":"1970-01-01","ts":"1970-01-01T00:00:00.001Z","ntz":"1969-12-31T23:59:59.999",)"
		R"("dec":-0.0000000005,"b":false,"st":{"x":1}},"maxValues":{"i":7,"d":2.0,"s":"z","day":"2022-01-08","ts":"1970-01-01T00:00:04.001Z",)"
		R"("ntz":"1970-01-01T00:00:00.000","dec":123.45,"b":true,"st":{"x":2}},"nullCount":{"i":0,"d":1,"s":0,"day":0,"ts":0,"ntz":0,"dec":0,"b":0,"bin":2,)"
		R"("st":{"x":0}},"tightBounds":true})");
}

TEST(WriteFileStats, WhatJsonCannotHoldIsLeftOut) {
	FileStats stats {.tight_bounds = false};
	stats.columns[{"d"}] =
		Bounds({TypeKind::kDouble, -INFINITY}, {TypeKind::kDouble, std::numeric_limits<double>::quiet_NaN()}, 0);
	stats.columns[{"s"}] = Bounds(Text("\xFF"), Text("ok"), 0);
	stats.columns[{"day"}] = Bounds({TypeKind::kDate, int64_t {-1'000'000}}, {TypeKind::kDate, int64_t {5'000'000}}, 0);
	stats.columns[{"ts"}] = Bounds({TypeKind::kTimestamp, INT64_MIN}, {TypeKind::kTimestamp, INT64_MAX}, 0);
	stats.columns[{"st", "x"}].null_count = 0;
	EXPECT_EQ(
		WriteFileStats(stats, *kSchema, ColumnMappingMode::kNone),
		R"({"minValues":{},"maxValues":{"s":"ok"},"nullCount":{"d":0,"s":0,"day":0,"ts":0,"st":{"x":0}},"tightBounds":false})");
}

std::pair<std::string, std::string> WrittenStringBounds(const std::string& min, const std::string& max) {
	FileStats stats;
	stats.columns[{"s"}] = Bounds(Text(min), Text(max), 0);
	const FileStats read = Parse(WriteFileStats(stats, *kSchema, ColumnMappingMode::kNone));
	return {Min(read, {"s"}), Max(read, {"s"})};
}

TEST(WriteFileStats, LongStringsAreCutTo32Characters) {
	const std::string x32(32, 'x');
	EXPECT_EQ(WrittenStringBounds(x32, x32), std::pair(x32, x32));  // fits
	EXPECT_EQ(WrittenStringBounds(x32 + "abc", x32 + "abc"), std::pair(x32, std::string(31, 'x') + "y"));
	// Characters, not bytes; the last one is raised, over the surrogates, and left out where it is the last there is.
	std::string umlauts;
	for (int i = 0; i < 40; i++) umlauts += "ü";
	EXPECT_EQ(WrittenStringBounds(umlauts, umlauts), std::pair(umlauts.substr(0, 64), umlauts.substr(0, 62) + "ý"));
	const std::string x31(31, 'x');
	EXPECT_EQ(WrittenStringBounds("", x31 + "\xED\x9F\xBF" + "tail").second, x31 + "\xEE\x80\x80");  // U+D7FF -> U+E000
	EXPECT_EQ(WrittenStringBounds("", x31 + "\xF4\x8F\xBF\xBF" + "tail").second, std::string(30, 'x') + "y");
	EXPECT_EQ(WrittenStringBounds("", x31 + "\x7F" + "tail").second, x31 + "\xC2\x80");
	std::string highest;
	for (int i = 0; i < 33; i++) highest += "\xF4\x8F\xBF\xBF";
	EXPECT_EQ(WrittenStringBounds("", highest).second, "-");
}

TEST(WidenForDeletionVector, ChangesNothingElse) {
	EXPECT_EQ(WidenForDeletionVector(R"({"numRecords":3,"minValues":{"d":0.10000000000000000001},"tightBounds":true})"),
			  R"({"numRecords":3,"minValues":{"d":0.10000000000000000001},"tightBounds":false})");
	EXPECT_EQ(WidenForDeletionVector(R"( {"tightBounds" : true , "numRecords":3} )"),
			  R"( {"tightBounds" : false , "numRecords":3} )");
	EXPECT_EQ(WidenForDeletionVector(R"({"numRecords":3,"nullCount":{"tightBounds":3}})"),
			  R"({"numRecords":3,"nullCount":{"tightBounds":3},"tightBounds":false})");
	EXPECT_EQ(WidenForDeletionVector("{}"), "{\"tightBounds\":false}");
	EXPECT_EQ(WidenForDeletionVector(R"({"a":1,"tightBounds":false})"), R"({"a":1,"tightBounds":false})");
	for (const char* json : {"", "[]", "{\"a\":", "x"})
		EXPECT_EQ(WidenForDeletionVector(json).error().kind, ErrorKind::kCorrupt) << json;
}

std::vector<std::string> Chosen(const Configuration& configuration, const std::vector<std::string>& partitions = {}) {
	std::vector<std::string> names;
	for (const auto& path : StatsColumns(*kSchema, ColumnMappingMode::kNone, configuration, partitions)) {
		std::string name;
		for (const std::string& part : path) name += (name.empty() ? "" : ".") + part;
		names.push_back(name);
	}
	return names;
}

TEST(StatsColumns, FirstLeavesOrNamedOnes) {
	EXPECT_EQ(Chosen({}).size(), 13u);
	EXPECT_EQ(Chosen({{"delta.dataSkippingNumIndexedCols", "2"}}), (std::vector<std::string> {"i", "l"}));
	EXPECT_EQ(Chosen({{"delta.dataSkippingNumIndexedCols", "2"}}, {"i"}), (std::vector<std::string> {"l", "f"}));
	EXPECT_EQ(Chosen({{"delta.dataSkippingNumIndexedCols", "0"}}), std::vector<std::string> {});
	EXPECT_EQ(Chosen({{"delta.dataSkippingNumIndexedCols", "-1"}}).size(), 13u);
	EXPECT_EQ(
		Chosen({{"delta.dataSkippingNumIndexedCols", "1"}, {"delta.dataSkippingStatsColumns", "S, st.in , `day`"}}),
		(std::vector<std::string> {"s", "day", "st.in.y"}));
	EXPECT_EQ(Chosen({{"delta.dataSkippingStatsColumns", "st"}}), (std::vector<std::string> {"st.x", "st.in.y"}));
}

TEST(StatsColumns, ThirtyTwoByDefault) {
	std::vector<Field> fields;
	for (int i = 0; i < 50; i++) fields.push_back({"c" + std::to_string(i), Primitive(TypeKind::kLong)});
	const auto chosen = StatsColumns(*Struct(fields), ColumnMappingMode::kNone, {}, {});
	ASSERT_EQ(chosen.size(), 32u);
	EXPECT_EQ(chosen.back(), std::vector<std::string> {"c31"});
}

}  // namespace
}  // namespace braid
