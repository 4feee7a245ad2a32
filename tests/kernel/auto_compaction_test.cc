// SPDX-License-Identifier: Apache-2.0
#include "kernel/maintenance/auto_compaction.h"

#include <gtest/gtest.h>

#include "kernel/feature/property_table.h"
#include "kernel/snapshot/file_index_builder.h"

namespace braid {
namespace {

constexpr auto kAutoCompact = "delta.autoOptimize.autoCompact";

TEST(AutoCompaction, IsAskedForByTwoProperties) {
	EXPECT_FALSE(CompactsItself({}));
	for (const char* value : {"true", "auto", "legacy"}) EXPECT_TRUE(CompactsItself({{kAutoCompact, value}})) << value;
	EXPECT_TRUE(CompactsItself({{"delta.autoOptimize", "true"}}));
	EXPECT_FALSE(CompactsItself({{"delta.autoOptimize", "true"}, {kAutoCompact, "false"}}));
	EXPECT_EQ(CheckProperty(kAutoCompact, "AUTO").value().second, "auto");
	EXPECT_FALSE(CheckProperty(kAutoCompact, "sometimes"));
}

class Crowd : public testing::Test {
protected:
	Crowd() {
		DataType row {.kind = TypeKind::kStruct};
		row.fields = {{"p", std::make_shared<DataType>(), true, {}}};
		table_.schema = std::make_shared<DataType>(std::move(row));
		table_.metadata.configuration["delta.targetFileSize"] = "100";
	}

	void Add(int count, int64_t size, std::string_view partition) {
		for (int i = 0; i < count; i++) {
			const std::string path = "f" + std::to_string(next_++);
			AddFileView view;
			view.path = path;
			view.partition_values_json = partition;
			view.size = size;
			ASSERT_TRUE(builder_.Add(view));
		}
	}

	size_t Crowding(const std::set<std::string>& partitions, size_t min_files) {
		if (!table_.files) table_.files = builder_.Finish();
		return CrowdingFiles(table_, partitions, min_files).size();
	}

private:
	Snapshot table_;
	FileIndexBuilder builder_;
	int next_ = 0;
};

TEST_F(Crowd, ManySmallFilesOfOnePartition) {
	Add(3, 49, R"({"p":"a"})");
	Add(1, 49, R"({ "p": "a" })");
	Add(9, 50, R"({"p":"a"})");  // half of the target is not small
	Add(3, 1, R"({"p":"b"})");
	Add(5, 1, R"({"p":null})");
	EXPECT_EQ(Crowding({"\"a\","}, 4), 4U);
	EXPECT_EQ(Crowding({"\"a\","}, 5), 0U);
	EXPECT_EQ(Crowding({"\"a\",", "\"b\",", "null,"}, 4), 9U);
	EXPECT_EQ(Crowding({"\"c\","}, 1), 0U);
}

TEST_F(Crowd, TableWithoutPartitions) {
	Add(4, 10, "{}");
	EXPECT_EQ(Crowding({""}, 4), 4U);
	EXPECT_EQ(Crowding({}, 1), 0U);
}

}  // namespace
}  // namespace braid
