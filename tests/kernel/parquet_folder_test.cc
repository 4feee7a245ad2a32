// SPDX-License-Identifier: Apache-2.0
#include "kernel/maintenance/parquet_folder.h"

#include <gtest/gtest.h>

#include "kernel/maintenance/missing_files.h"
#include "kernel/schema/schema_json.h"
#include "kernel/stats/stats_merge.h"
#include "kernel/storage/memory_log_store.h"
#include "tests/kernel/deterministic.h"

namespace braid {
namespace {

Field Column(const std::string& name, TypeKind kind) {
	return {name, std::make_shared<DataType>(DataType {kind}), true, {}};
}

StructType Struct(std::vector<Field> fields) {
	StructType schema {TypeKind::kStruct};
	schema.fields = std::move(fields);
	return schema;
}

TEST(PartitionValuesOf, FoldersAreDecodedAndChecked) {
	const std::vector<Field> columns {Column("P", TypeKind::kString), Column("n", TypeKind::kInteger)};
	const auto values = PartitionValuesOf("p=a%2Fb c/other/n=007/f=1.parquet", columns).value();
	EXPECT_EQ(values, (PartitionValues {{"P", "a/b c"}, {"n", "7"}}));
	const auto nothing = PartitionValuesOf("p=__HIVE_DEFAULT_PARTITION__/n=/f.parquet", columns).value();
	EXPECT_EQ(nothing, (PartitionValues {{"P", std::nullopt}, {"n", std::nullopt}}));
	for (const auto* path :
		 {"f.parquet", "p=a/f.parquet", "n=1/p=a/f.parquet", "p=a/n=x/f.parquet", "p=a/n=1/q=2/f.parquet"})
		EXPECT_FALSE(PartitionValuesOf(path, columns)) << path;
}

TEST(UniteSchemas, ColumnsAreAddedAndStructsUnited) {
	const StructType a = Struct({Column("x", TypeKind::kLong),
								 {"s", std::make_shared<DataType>(Struct({Column("i", TypeKind::kLong)})), true, {}}});
	const StructType b = Struct({Column("y", TypeKind::kString),
								 {"s", std::make_shared<DataType>(Struct({Column("j", TypeKind::kDate)})), true, {}}});
	EXPECT_EQ(ToString(UniteSchemas(a, b).value()), "struct<x:long,s:struct<i:long,j:date>,y:string>");
	EXPECT_EQ(UniteSchemas(Struct({}), a).value(), a);
	EXPECT_FALSE(UniteSchemas(a, Struct({Column("x", TypeKind::kInteger)})));
	EXPECT_FALSE(UniteSchemas(a, Struct({Column("X", TypeKind::kLong)})));
}

TEST(ListDataFiles, HiddenNamesAreLeftOut) {
	ManualClock clock;
	MemoryLogStore store(clock);
	for (const auto* path : {"b", "_delta_log/x", "_SUCCESS", ".crc", "p=1/a", "_q=1/c", "_tmp/d", "p=1/_e"})
		ASSERT_TRUE(store.Put(path, "PAR1"));
	ASSERT_TRUE(store.Put("nothing", ""));
	std::string found;
	const auto files = ListDataFiles(store, {}).value();
	for (const FoundFile& file : files) found += file.path + " ";
	EXPECT_EQ(found, "_q=1/c b p=1/a ");
}

TEST(FindMissingFiles, DataAndVectors) {
	ManualClock clock;
	MemoryLogStore store(clock);
	ASSERT_TRUE(store.Put("a b", "x"));
	const DvDescriptor inside {.storage_type = 'i', .path_or_inline_dv = "x"};
	const DvDescriptor absent {.storage_type = 'p', .path_or_inline_dv = "/v"};
	const std::vector<NamedFile> files {{"a%20b"}, {"c"}, {"a%20b", &inside}, {"a%20b", &absent}, {"d", &absent}};
	const auto missing = FindMissingFiles(store, files, {}).value();
	ASSERT_EQ(missing.size(), 3U);
	EXPECT_EQ(missing[0].index, 1U);
	EXPECT_TRUE(missing[0].data && missing[0].vector.empty());
	EXPECT_TRUE(!missing[1].data && missing[1].vector == "/v");
	EXPECT_TRUE(missing[2].data && missing[2].vector == "/v");
	EXPECT_EQ(FindMissingFiles(store, files, [] { return true; }).error().kind, ErrorKind::kInterrupted);
}

ColumnStats Bounds(std::optional<int64_t> min, std::optional<int64_t> max, std::optional<int64_t> nulls) {
	const auto scalar = [](std::optional<int64_t> value) {
		return value ? std::optional(Scalar {TypeKind::kLong, *value}) : std::nullopt;
	};
	return {scalar(min), scalar(max), nulls};
}

FileStats Part(int64_t rows, ColumnStats column) {
	FileStats stats;
	stats.num_records = rows;
	stats.columns[{"x"}] = std::move(column);
	return stats;
}

std::string Merged(const std::vector<FileStats>& parts) {
	FileStats file;
	for (const FileStats& part : parts) MergeStats(file, part);
	const auto column = file.columns.find({"x"});
	std::string text = std::to_string(*file.num_records);
	if (column == file.columns.end()) return text;
	for (const auto& bound : {column->second.min, column->second.max}) text += " " + (bound ? ToText(*bound) : "?");
	return text + " " + (column->second.null_count ? std::to_string(*column->second.null_count) : "?");
}

TEST(MergeStats, OnlyWhatHoldsForEveryPart) {
	EXPECT_EQ(Merged({Part(5, Bounds(3, 7, 1)), Part(6, Bounds(1, 4, 2))}), "11 1 7 3");
	EXPECT_EQ(Merged({Part(5, Bounds({}, {}, 5)), Part(6, Bounds(1, 4, 0)), Part(2, Bounds({}, {}, 2))}), "13 1 4 7");
	EXPECT_EQ(Merged({Part(5, Bounds(3, 7, 1)), Part(6, Bounds({}, {}, 2))}), "11 ? ? 3");
	EXPECT_EQ(Merged({Part(5, Bounds(3, 7, {})), Part(6, Bounds(1, {}, 2))}), "11 1 ? ?");
	EXPECT_EQ(Merged({Part(5, Bounds(3, 7, 1)),
					  [] {
						  FileStats other;
						  other.num_records = 1;
						  return other;
					  }()}),
			  "6");
}

}  // namespace
}  // namespace braid
