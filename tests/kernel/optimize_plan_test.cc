// SPDX-License-Identifier: Apache-2.0
#include "kernel/maintenance/optimize_plan.h"

#include <gtest/gtest.h>

#include <set>

#include "kernel/maintenance/hilbert.h"

namespace braid {
namespace {

Snapshot PartitionedTable() {
	DataType row {.kind = TypeKind::kStruct};
	row.fields = {{"p", std::make_shared<DataType>(), true, {}},
				  {"at", std::make_shared<DataType>(DataType {.kind = TypeKind::kTimestamp}), true, {}}};
	Snapshot table;
	table.schema = std::make_shared<DataType>(std::move(row));
	return table;
}

struct Files {
	Snapshot table = PartitionedTable();
	std::vector<LiveFile> files;
	DvDescriptor vector {.storage_type = 'i', .cardinality = 6};

	void Add(int64_t size, std::string_view partition = "{}", bool deleted = false,
			 std::string_view stats = R"({"numRecords":100})") {
		LiveFile file;
		file.path = "f";
		file.partition_values = partition;
		file.stats = stats;
		file.size = size;
		if (deleted) file.deletion_vector = &vector;
		files.push_back(file);
	}

	// Sizes by bin.
	std::vector<std::vector<int64_t>> Plan(Rewrite rewrite, int64_t target) const {
		std::vector<const LiveFile*> list;
		for (const LiveFile& file : files) list.push_back(&file);
		std::vector<std::vector<int64_t>> sizes;
		const auto bins = PlanBins(table, list, rewrite, target);
		for (const Bin& bin : bins) {
			sizes.emplace_back();
			for (const LiveFile* file : bin.files) sizes.back().push_back(file->size);
		}
		return sizes;
	}
};

using Sizes = std::vector<std::vector<int64_t>>;

TEST(PlanBins, SmallFilesComeTogetherUpToTheTarget) {
	Files files;
	for (const int64_t size : {60, 10, 100, 30, 20, 40}) files.Add(size);
	EXPECT_EQ(files.Plan(Rewrite::kSmallOrDeleted, 100),
			  (Sizes {{10, 20, 30, 40}}));  // 60 would be alone, 100 is no small file
}

TEST(PlanBins, PartitionsStayApart) {
	Files files;
	for (const auto* partition : {R"({"p":"a"})", R"({"p":null})", R"({"p":"a"})", R"({"p":null})", R"({"p":"b"})"})
		files.Add(10, partition);
	EXPECT_EQ(files.Plan(Rewrite::kSmallOrDeleted, 100), (Sizes {{10, 10}, {10, 10}}));
	EXPECT_EQ(files.Plan(Rewrite::kAll, 100).size(), 3U);
}

// As Spark writes it, and as the protocol also allows.
TEST(PlanBins, SpellingsOfOnePartitionComeTogether) {
	Files files;
	files.Add(10, R"({"at":"2000-01-01 12:00:00"})");
	files.Add(20, R"({ "at" : "2000-01-01T12:00:00.000000Z" })");
	files.Add(30, R"({"at":"2000-01-01 12:00:01"})");
	EXPECT_EQ(files.Plan(Rewrite::kSmallOrDeleted, 100), (Sizes {{10, 20}}));
}

TEST(PlanBins, ManyDeletedRowsAreReasonEnough) {
	Files files;
	files.vector.cardinality = 5;  // of 100: not more than one in twenty
	files.Add(500, "{}", true);
	EXPECT_TRUE(files.Plan(Rewrite::kSmallOrDeleted, 100).empty());
	EXPECT_EQ(files.Plan(Rewrite::kDeleted, 100), (Sizes {{500}}));
	files.vector.cardinality = 6;
	EXPECT_EQ(files.Plan(Rewrite::kSmallOrDeleted, 100), (Sizes {{500}}));
	files.files[0].stats = "";  // who does not know his rows is looked at
	files.vector.cardinality = 1;
	EXPECT_EQ(files.Plan(Rewrite::kSmallOrDeleted, 100), (Sizes {{500}}));
}

TEST(PlanBins, OfAClusteredTableOnlyWhatIsNotClustered) {
	Files files;
	for (const int64_t size : {60, 70, 80}) {
		files.Add(size);
		files.files.back().clustering_provider = kClusteringProvider;
	}
	EXPECT_TRUE(files.Plan(Rewrite::kUnclustered, 100).empty());
	EXPECT_EQ(files.Plan(Rewrite::kAll, 100), (Sizes {{60, 70, 80}}));
	files.Add(90);
	EXPECT_EQ(files.Plan(Rewrite::kUnclustered, 100), (Sizes {{90}}));
	files.files[0].size = 40;
	EXPECT_EQ(files.Plan(Rewrite::kUnclustered, 100), (Sizes {{40, 90}}));
}

TEST(PlanBins, ASecondRunFindsNothing) {
	Files files;
	for (int64_t size = 1; size < 80; size++) files.Add(size);
	Files after;
	for (const auto& bin : files.Plan(Rewrite::kSmallOrDeleted, 100)) {
		int64_t sum = 0;
		for (const int64_t size : bin) sum += size;
		EXPECT_LE(sum, 100);
		after.Add(sum);
	}
	EXPECT_TRUE(after.Plan(Rewrite::kSmallOrDeleted, 100).empty());
}

// Neighbours on the curve differ by one step in one axis, and every point is met once.
TEST(Hilbert, IsAPathThroughEveryPoint) {
	for (const size_t dimensions : {2U, 3U, 4U}) {
		const int bits = dimensions == 4 ? 2 : 3;
		const uint32_t side = 1U << bits;
		uint64_t points = 1;
		for (size_t i = 0; i < dimensions; i++) points *= side;
		std::vector<std::vector<uint32_t>> by_index(points);
		for (uint64_t point = 0; point < points; point++) {
			std::vector<uint32_t> axes;
			for (uint64_t rest = point, i = 0; i < dimensions; i++, rest /= side) axes.push_back(rest % side);
			const uint64_t index = HilbertIndex(axes, bits);
			ASSERT_LT(index, points);
			ASSERT_TRUE(by_index[index].empty());
			by_index[index] = axes;
		}
		for (uint64_t i = 1; i < points; i++) {
			uint32_t steps = 0;
			for (size_t axis = 0; axis < dimensions; axis++) {
				const uint32_t a = by_index[i][axis], b = by_index[i - 1][axis];
				steps += a > b ? a - b : b - a;
			}
			ASSERT_EQ(steps, 1U) << dimensions << " dimensions, " << i;
		}
	}
}

}  // namespace
}  // namespace braid
