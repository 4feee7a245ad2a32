// SPDX-License-Identifier: Apache-2.0
// All commits of all golden tables: every partition value is a value of its type, every file's statistics can be
// read, no minimum is above its maximum, and every deletion vector has the cardinality that the log states and only
// positions that the file has. The numbers of what was seen are asserted, so that the walk cannot silently see
// nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "kernel/action/action_codec.h"
#include "kernel/deletion/dv_file.h"
#include "kernel/predicate/scalar.h"
#include "kernel/schema/schema_json.h"
#include "kernel/stats/file_stats.h"
#include "kernel/storage/local_log_store.h"
#include "tests/kernel/golden.h"

namespace braid {
namespace {

struct Seen {
	int tables = 0, files = 0, partition_values = 0, null_partition_values = 0, bounded_columns = 0, records = 0;
	int vectors = 0, vacuumed_vectors = 0;
};

std::vector<std::filesystem::path> Commits(const std::filesystem::path& log) {
	std::vector<std::filesystem::path> commits;
	for (const auto& entry : std::filesystem::directory_iterator(log)) {
		const std::string name = entry.path().filename().string();
		if (name.size() == 25 && name.ends_with(".json")) commits.push_back(entry.path());
	}
	std::ranges::sort(commits);
	return commits;
}

void CheckVector(LogStore& store, const AddFile& add, Seen& seen) {
	const auto positions = ReadDeletionVector(store, *add.deletion_vector, add.path);
	if (!positions && positions.error().kind == ErrorKind::kNotFound) {  // of an older version
		seen.vacuumed_vectors++;
		return;
	}
	ASSERT_TRUE(positions) << positions.error().message;
	if (const auto records = NumRecords(add.stats)) {
		EXPECT_EQ(positions->NextFrom(static_cast<uint64_t>(*records)), UINT64_MAX);
	}
	seen.vectors++;
}

void CheckFile(LogStore& store, const AddFile& add, const Metadata& metadata, const StructType& schema,
			   ColumnMappingMode mode, Seen& seen) {
	seen.files++;
	if (add.deletion_vector) CheckVector(store, add, seen);
	for (const Field& field : schema.fields) {
		if (std::ranges::find(metadata.partition_columns, field.name) == metadata.partition_columns.end()) continue;
		const auto text = add.partition_values.find(PhysicalName(field, mode));
		if (text == add.partition_values.end()) continue;
		const auto value = ParsePartitionValue(text->second, *field.type);
		EXPECT_TRUE(value) << value.error().message;
		if (value) (value->is_null() ? seen.null_partition_values : seen.partition_values)++;
	}
	const auto stats = ParseFileStats(add.stats, schema, mode);
	ASSERT_TRUE(stats) << stats.error().message;
	EXPECT_EQ(stats->num_records, NumRecords(add.stats));
	seen.records += stats->num_records ? 1 : 0;
	for (const auto& [path, column] : stats->columns) {
		if (!column.min || !column.max) continue;
		const auto order = Compare(*column.min, *column.max);
		EXPECT_TRUE(order && *order <= 0) << path.back() << " " << ToText(*column.min) << " " << ToText(*column.max);
		seen.bounded_columns++;
	}
}

// Commits are taken one after another; files before the first readable schema are not looked at.
void WalkTable(const std::filesystem::path& log, Seen& seen) {
	LocalLogStore store(log.parent_path(), false);
	Metadata metadata;
	DataTypePtr schema;
	ColumnMappingMode mode = ColumnMappingMode::kNone;
	for (const auto& commit : Commits(log)) {
		std::ifstream file(commit);
		const std::string bytes {std::istreambuf_iterator<char>(file), {}};
		std::vector<AddFile> adds;
		const Status parsed = ParseCommit(bytes, commit.string(), [&](Action&& action) -> Status {
			if (auto* found = std::get_if<Metadata>(&action)) {
				metadata = std::move(*found);
				const auto read = ParseSchema(metadata.schema_string);
				schema = read ? *read : nullptr;
				const auto property = metadata.configuration.find("delta.columnMapping.mode");
				mode = property == metadata.configuration.end() ? ColumnMappingMode::kNone
																: ParseColumnMappingMode(property->second).value();
			} else if (auto* add = std::get_if<AddFile>(&action)) {
				adds.push_back(std::move(*add));
			}
			return {};
		});
		EXPECT_TRUE(parsed) << parsed.error().message;
		if (schema == nullptr) continue;
		SCOPED_TRACE(commit.string());
		for (const AddFile& add : adds) CheckFile(store, add, metadata, *schema, mode, seen);
	}
	seen.tables++;
}

TEST(GoldenValues, PartitionValuesAndStatisticsOfAllTables) {
	BRAID_REQUIRE_GOLDEN();
	std::ifstream manifest(GoldenRoot() + "/MANIFEST.tsv");
	std::string line;
	std::getline(manifest, line);
	Seen seen;
	while (std::getline(manifest, line)) {
		const std::filesystem::path log =
			std::filesystem::path(GoldenRoot()) / line.substr(0, line.find('\t')) / "_delta_log";
		if (std::filesystem::exists(log)) WalkTable(log, seen);
	}
	EXPECT_GE(seen.vectors, 30) << seen.vectors;
	EXPECT_LE(seen.vacuumed_vectors, 10) << seen.vacuumed_vectors;
	EXPECT_GE(seen.tables, 100) << seen.tables;
	EXPECT_GE(seen.files, 1000) << seen.files;
	EXPECT_GE(seen.partition_values, 250) << seen.partition_values;
	EXPECT_GE(seen.null_partition_values, 10) << seen.null_partition_values;
	EXPECT_GE(seen.bounded_columns, 1000) << seen.bounded_columns;
	EXPECT_GE(seen.records, 800) << seen.records;
}

}  // namespace
}  // namespace braid
