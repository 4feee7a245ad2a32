// SPDX-License-Identifier: Apache-2.0
// Pruning may keep a file too many, never drop one that has a matching row: fixed cases for what is pruned, random
// ones for what must not be.
#include "kernel/snapshot/pruning.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <random>

#include "base/json.h"
#include "kernel/predicate/temporal_text.h"
#include "kernel/stats/file_stats.h"
#include "tests/kernel/golden.h"
#include "tests/kernel/random_predicate.h"

namespace braid {
namespace {

DataTypePtr TestSchema() {
	auto schema = std::make_shared<DataType>(DataType {.kind = TypeKind::kStruct});
	for (const auto& [name, kind] : kTestColumns) {
		DataType type {.kind = kind};
		if (kind == TypeKind::kDecimal) type.precision = 10, type.scale = 2;
		schema->fields.push_back({name, std::make_shared<DataType>(type)});
	}
	const auto leaf = std::make_shared<DataType>(DataType {.kind = TypeKind::kLong});
	schema->fields.push_back(
		{"st", std::make_shared<DataType>(DataType {.kind = TypeKind::kStruct, .fields = {{"x", leaf}}})});
	return schema;
}

FilePruner Pruner(Predicate predicate) {
	Metadata metadata;
	metadata.partition_columns = {"p"};
	return {metadata, TestSchema(), ColumnMappingMode::kNone, std::move(predicate)};
}

Predicate On(const char* column, CompareOp op, Scalar value) {
	return Predicate::Compare({column}, op, std::move(value));
}
Scalar Long(int64_t value) { return {TypeKind::kLong, value}; }
Scalar Double(double value) { return {TypeKind::kDouble, value}; }

constexpr std::string_view kStats =
	R"({"numRecords":10,"minValues":{"l":5,"d":1.5,"s":"b","st":{"x":3}},"maxValues":{"l":9,"d":2.5,"s":"k","st":{"x":3}},)"
	R"("nullCount":{"l":0,"d":1,"s":10,"i":10,"st":{"x":0}}})";

bool Kept(const Predicate& predicate, std::string_view stats = kStats, std::string_view partition = R"({"p":"7"})") {
	return Pruner(predicate).MayMatch(partition, stats);
}

TEST(Pruning, ByBounds) {
	EXPECT_FALSE(Kept(On("l", CompareOp::kEqual, Long(4))));
	EXPECT_TRUE(Kept(On("l", CompareOp::kEqual, Long(5))));
	EXPECT_FALSE(Kept(On("l", CompareOp::kLess, Long(5))));
	EXPECT_TRUE(Kept(On("l", CompareOp::kLessEqual, Long(5))));
	EXPECT_FALSE(Kept(On("l", CompareOp::kGreater, Long(9))));
	EXPECT_TRUE(Kept(On("l", CompareOp::kGreaterEqual, Long(9))));
	EXPECT_TRUE(Kept(On("l", CompareOp::kNotEqual, Long(5))));
	EXPECT_FALSE(Kept(Predicate::Compare({"st", "x"}, CompareOp::kNotEqual, Long(3))));
	EXPECT_TRUE(Kept(Predicate::Compare({"st", "x"}, CompareOp::kEqual, Long(3))));
	EXPECT_FALSE(Kept(Predicate::In({"l"}, {Long(1), Long(4), Long(10)})));
	EXPECT_TRUE(Kept(Predicate::In({"l"}, {Long(1), Long(7), Long(10)})));
	EXPECT_FALSE(Kept(Predicate::Not(Predicate::In({"st", "x"}, {Long(3), Long(4)}))));
	EXPECT_TRUE(Kept(Predicate::Not(Predicate::In({"l"}, {Long(5), Long(9)}))));
	EXPECT_FALSE(Kept(On("L", CompareOp::kEqual, Long(4))));  // names are case-insensitive
	EXPECT_TRUE(Kept(On("nope", CompareOp::kEqual, Long(4))));
	EXPECT_TRUE(Kept(On("l", CompareOp::kEqual, Long(4)), ""));
	EXPECT_TRUE(Kept(On("l", CompareOp::kEqual, Long(4)), "malformed"));
	EXPECT_FALSE(Kept(Predicate::False()));
	EXPECT_TRUE(Kept(Predicate::True()));
}

TEST(Pruning, ByNullCounts) {
	EXPECT_FALSE(Kept(Predicate::IsNull({"l"})));
	EXPECT_TRUE(Kept(Predicate::IsNull({"d"})));
	EXPECT_TRUE(Kept(Predicate::IsNull({"dec"})));  // nothing known
	EXPECT_FALSE(Kept(Predicate::Not(Predicate::IsNull({"i"}))));
	EXPECT_TRUE(Kept(Predicate::Not(Predicate::IsNull({"d"}))));
	EXPECT_FALSE(Kept(On("i", CompareOp::kNotEqual, {TypeKind::kInteger, int64_t {1}})));  // all NULL: nothing is TRUE
	EXPECT_FALSE(Kept(
		Predicate::Not(Predicate::In({"i"}, {{TypeKind::kInteger, int64_t {1}}, {TypeKind::kInteger, int64_t {2}}}))));
	EXPECT_TRUE(Kept(Predicate::IsNull({"st"})));  // a struct has no null count of its own
}

TEST(Pruning, WideStatisticsKeepTheirMeaning) {
	const std::string_view wide =
		R"({"numRecords":10,"minValues":{"l":5},"maxValues":{"l":9},"nullCount":{"l":3,"i":0},"tightBounds":false})";
	EXPECT_TRUE(Kept(Predicate::IsNull({"l"}), wide));
	EXPECT_TRUE(Kept(Predicate::Not(Predicate::IsNull({"l"})), wide));
	EXPECT_FALSE(Kept(Predicate::IsNull({"i"}), wide));
	EXPECT_FALSE(Kept(On("l", CompareOp::kGreater, Long(9)), wide));
}

TEST(Pruning, NanMayHideAboveMax) {
	EXPECT_TRUE(Kept(On("d", CompareOp::kGreater, Double(100))));
	EXPECT_TRUE(Kept(On("d", CompareOp::kGreaterEqual, Double(100))));
	EXPECT_TRUE(Kept(On("d", CompareOp::kEqual, Double(std::numeric_limits<double>::quiet_NaN()))));
	EXPECT_TRUE(Kept(Predicate::In({"d"}, {Double(100), Double(std::numeric_limits<double>::quiet_NaN())})));
	EXPECT_FALSE(Kept(On("d", CompareOp::kEqual, Double(100))));
	EXPECT_FALSE(Kept(On("d", CompareOp::kLess, Double(1.5))));
}

TEST(Pruning, ByPartitionValues) {
	const auto p = [](CompareOp op, int64_t value) { return On("p", op, {TypeKind::kInteger, value}); };
	EXPECT_TRUE(Kept(p(CompareOp::kEqual, 7)));
	EXPECT_FALSE(Kept(p(CompareOp::kEqual, 8)));
	EXPECT_FALSE(Kept(p(CompareOp::kNotEqual, 7)));
	EXPECT_FALSE(Kept(Predicate::IsNull({"p"})));
	EXPECT_FALSE(Kept(p(CompareOp::kEqual, 7), kStats, R"({"p":null})"));
	EXPECT_FALSE(Kept(p(CompareOp::kNotEqual, 7), kStats, R"({"p":""})"));
	EXPECT_TRUE(Kept(Predicate::IsNull({"p"}), kStats, R"({"p":null})"));
	EXPECT_TRUE(Kept(p(CompareOp::kEqual, 8), kStats, R"({"p":"seven"})"));  // unreadable: unknown
	EXPECT_TRUE(Kept(p(CompareOp::kEqual, 8), kStats, "{}"));
	EXPECT_TRUE(Kept(p(CompareOp::kEqual, 8), kStats, "malformed"));
	// The partition value decides, the bounds need not be read.
	EXPECT_FALSE(Kept(Predicate::And({On("l", CompareOp::kEqual, Long(6)), p(CompareOp::kEqual, 8)}), "malformed"));
	EXPECT_TRUE(Kept(Predicate::Or({On("l", CompareOp::kEqual, Long(4)), p(CompareOp::kEqual, 7)})));
	EXPECT_FALSE(Kept(Predicate::Or({On("l", CompareOp::kEqual, Long(4)), p(CompareOp::kEqual, 8)})));
}

TEST(Pruning, GoldenTimestampsAreTruncatedDownwards) {
	BRAID_REQUIRE_GOLDEN();
	auto schema = std::make_shared<DataType>(DataType {.kind = TypeKind::kStruct});
	schema->fields = {{"id", std::make_shared<DataType>(DataType {.kind = TypeKind::kLong})},
					  {"ts_col", std::make_shared<DataType>(DataType {.kind = TypeKind::kTimestamp})}};
	std::ifstream log(GoldenRoot() +
					  "/delta-kernel-rs/timestamp-truncation-stats/_delta_log/00000000000000000001.json");
	std::string line, stats;
	while (std::getline(log, line)) {
		const size_t start = line.find("\"stats\":\"");
		if (start == std::string::npos) continue;
		const auto text =
			JsonStringValue(std::string_view(line).substr(start + 8, line.find("}\"", start) - start - 8 + 2));
		ASSERT_TRUE(text);
		stats = *text;
	}
	ASSERT_NE(stats.find("1970-01-01T00:00:04.000Z"), std::string::npos);
	// The file holds 4.0005 s; its maxValues says 4.000.
	const auto kept = [&](CompareOp op, int64_t micros) {
		return FilePruner({}, schema, ColumnMappingMode::kNone, On("ts_col", op, {TypeKind::kTimestamp, micros}))
			.MayMatch("{}", stats);
	};
	EXPECT_TRUE(kept(CompareOp::kEqual, 4'000'500));
	EXPECT_TRUE(kept(CompareOp::kGreater, 4'000'000));
	EXPECT_FALSE(kept(CompareOp::kGreater, 4'001'000));
	EXPECT_FALSE(kept(CompareOp::kLess, 3'000'000));
}

// A file of random rows and what three kinds of writers say of it.
struct TestFile {
	std::vector<Row> rows;
	std::string partition, stats;
};

enum class Writer { kBraid, kSpark, kParquetBased };

FileStats CollectStats(const std::vector<Row>& rows, Writer writer) {
	FileStats stats {.num_records = static_cast<int64_t>(rows.size())};
	for (const auto& [name, kind] : kTestColumns) {
		if (name == "p") continue;
		ColumnStats column {.null_count = 0};
		for (const Row& row : rows) {
			const Scalar& value = row.at(name);
			if (value.is_null()) {
				++*column.null_count;
				continue;
			}
			const auto* number = std::get_if<double>(&value.value);
			if (writer == Writer::kParquetBased && number != nullptr && std::isnan(*number)) continue;
			if (!column.min || NaiveOrder(value, *column.min) < 0) column.min = value;
			if (!column.max || NaiveOrder(value, *column.max) > 0) column.max = value;
		}
		stats.columns[{name}] = std::move(column);
	}
	return stats;
}

// Statistics as Spark spells them: timestamps cut down to milliseconds on both sides, NaN and infinities as
// strings, long strings cut with a high character behind the maximum.
std::string SparkBound(const Scalar& value, bool is_max) {
	switch (value.kind) {
		case TypeKind::kFloat:
		case TypeKind::kDouble:
			return std::isfinite(std::get<double>(value.value)) ? ToText(value) : JsonString(ToText(value));
		case TypeKind::kString: {
			const std::string& text = std::get<std::string>(value.value);
			const bool cut = text.size() > 32 && (static_cast<uint8_t>(text[32]) & 0xC0) != 0x80;
			return JsonString(!cut ? text : text.substr(0, 32) + (is_max ? "\xF4\x8F\xBF\xBF" : ""));
		}
		case TypeKind::kDate:
			return JsonString(ToText(value));
		case TypeKind::kTimestamp:
		case TypeKind::kTimestampNtz: {
			std::string text;
			AppendTimestamp(std::get<int64_t>(value.value), 'T', 3, text);
			return JsonString(value.kind == TypeKind::kTimestamp ? text + "Z" : text);
		}
		default:
			return ToText(value);
	}
}

std::string SparkStats(const FileStats& stats) {
	std::string json = "{\"numRecords\":" + std::to_string(*stats.num_records);
	for (const bool is_max : {false, true}) {
		std::string group;
		for (const auto& [path, column] : stats.columns) {
			const auto& bound = is_max ? column.max : column.min;
			if (bound) group += (group.empty() ? "" : ",") + JsonString(path[0]) + ":" + SparkBound(*bound, is_max);
		}
		json += std::string(is_max ? ",\"maxValues\":{" : ",\"minValues\":{") + group + "}";
	}
	std::string counts;
	for (const auto& [path, column] : stats.columns) {
		counts += (counts.empty() ? "" : ",") + JsonString(path[0]) + ":" + std::to_string(*column.null_count);
	}
	return json + ",\"nullCount\":{" + counts + "}}";
}

TestFile RandomFile(std::mt19937_64& random) {
	TestFile file;
	const Scalar p = RandomNullable(random, TypeKind::kInteger);
	file.partition = "{\"p\":" + (p.is_null() ? "null" : JsonString(ToText(p))) + "}";
	const uint64_t spread = 1 + random() % 3;
	for (uint64_t i = 0; i < spread; i++) {
		Row row = RandomRow(random);
		row["p"] = p;
		file.rows.push_back(std::move(row));
	}
	const auto writer = static_cast<Writer>(random() % 3);
	const FileStats stats = CollectStats(file.rows, writer);
	file.stats =
		writer == Writer::kSpark ? SparkStats(stats) : WriteFileStats(stats, *TestSchema(), ColumnMappingMode::kNone);
	if (random() % 3 == 0) {
		// A deletion vector hides a row; the statistics become wide.
		file.rows.erase(file.rows.begin());
		file.stats = *WidenForDeletionVector(file.stats);
	}
	return file;
}

TEST(Pruning, NeverDropsAFileWithAMatchingRow) {
	std::mt19937_64 random(31);
	int without_match = 0, pruned = 0;
	for (int round = 0; round < 4000; round++) {
		const NaivePredicate naive = RandomNaive(random, static_cast<int>(random() % 4));
		const Predicate predicate = Build(naive);
		const FilePruner pruner = Pruner(predicate);
		for (int i = 0; i < 10; i++) {
			const TestFile file = RandomFile(random);
			const bool matches =
				std::ranges::any_of(file.rows, [&](const Row& row) { return Evaluate(naive, row) == Truth::kTrue; });
			const bool kept = pruner.MayMatch(file.partition, file.stats);
			ASSERT_TRUE(kept || !matches) << ToString(predicate) << "\n" << file.partition << "\n" << file.stats;
			without_match += matches ? 0 : 1;
			pruned += kept ? 0 : 1;
		}
	}
	// And it does prune: most files without a match are small and have tight bounds.
	EXPECT_GT(pruned, without_match / 3) << pruned << " of " << without_match;
}

TEST(Pruning, HundredThousandFiles) {
	std::vector<std::string> stats;
	for (int i = 0; i < 100'000; i++) {
		const std::string low = std::to_string(i * 100), high = std::to_string(i * 100 + 99);
		stats.push_back(
			"{\"numRecords\":100,\"minValues\":{\"l\":" + low +
			",\"d\":0.25,\"s\":\"aaaaaaaa\"},\"maxValues\":{\"l\":" + high +
			",\"d\":0.75,\"s\":\"zzzzzzzz\"},\"nullCount\":{\"l\":0,\"d\":0,\"s\":0},\"tightBounds\":true}");
	}
	const FilePruner pruner = Pruner(On("l", CompareOp::kEqual, Long(4'242'442)));
	const auto start = std::chrono::steady_clock::now();
	size_t kept = 0;
	for (const std::string& text : stats) kept += pruner.MayMatch("{}", text) ? 1 : 0;
	const auto elapsed =
		std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
	EXPECT_EQ(kept, 1u);
	RecordProperty("milliseconds", static_cast<int>(elapsed.count()));
}

}  // namespace
}  // namespace braid
