// SPDX-License-Identifier: Apache-2.0
// Mode max: rows that clash are changed again instead of failing the transaction. Numbers in names are those of the list of scenarios.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/kernel/memory_table.h"

namespace braid {
namespace {

Rows Hundred() {
	Rows rows;
	for (int64_t id = 0; id < 100; id++) rows.push_back({id, id % 10, 0});
	return rows;
}

// DELETE (no `set`) or UPDATE, run again.
class Statement final : public Repairer {
public:
	Statement(MemoryTable& table, std::function<void(Row&)> set) : table_(table), set_(std::move(set)) {}
	Result<std::optional<Rerun>> Run(const SnapshotPtr&, std::span<const ProbeRequest> requests) override {
		Rerun rerun;
		std::vector<MemoryTable::Located> sources;
		Rows images;
		for (const ProbeRequest& request : requests) {
			rerun.removed.push_back(*request.only);
			for (const uint64_t position : request.only->ToVector()) {
				images.push_back(table_.probe.files.at(request.file->path).at(position));
				sources.push_back({request.file->path, position, images.back()});
				if (set_) set_(images.back());
			}
		}
		rows_run += images.size();
		StagedChanges changes;
		for (const ProbeRequest& request : requests) changes.origin_files.push_back(request.file->path);
		if (set_) rerun.new_files.push_back(table_.WriteImages(sources, images, changes));
		return rerun;
	}
	size_t rows_run = 0;

private:
	MemoryTable& table_;
	std::function<void(Row&)> set_;
};

class MaxMode : public testing::Test {
protected:
	void SetUp() override {
		base_ = table_.Create({Hundred()});
		table_.options.mode = ConcurrencyMode::kMax;
	}
	// T1 commits, then T2, both from the same snapshot; T2 is repaired.
	Result<CommitOutcome> Second(const Transaction& winner, Transaction loser,
								 std::function<void(Row&)> set = nullptr) {
		loser.row_local = true;
		const auto won = table_.Commit(winner);
		EXPECT_TRUE(won) << won.error().message;
		Statement statement(table_, std::move(set));
		auto outcome = Commit(
			{table_.store, table_.parquet, table_.probe, table_.clock, table_.random, table_.options, {}, &statement},
			loser);
		EXPECT_TRUE(outcome) << outcome.error().message;
		rows_run_ = statement.rows_run;
		return outcome;
	}
	static std::function<void(Row&)> SetX(int64_t x) {
		return [x](Row& row) { row.x = x; };
	}
	Rows Now() { return table_.LiveRows(*table_.Latest()); }
	int64_t Count(const std::function<bool(const Row&)>& test) { return std::ranges::count_if(Now(), test); }

	MemoryTable table_ {"Serializable"};
	SnapshotPtr base_;
	size_t rows_run_ = 0;
};

TEST_F(MaxMode, N2_NothingIsLeftToDelete) {
	const auto outcome = Second(table_.Delete(base_, Equals("k", 5)), table_.Delete(base_, Equals("k", 5)));
	EXPECT_EQ(outcome->version, 1) << "no commit of its own";
	EXPECT_EQ(Now().size(), 99u);
}

TEST_F(MaxMode, N3_TheRestIsDeleted) {
	const auto outcome = Second(table_.Delete(base_, AnyOf("k", {1, 2})), table_.Delete(base_, AnyOf("k", {2, 3})));
	EXPECT_EQ(outcome->rows_repaired, 1);
	EXPECT_EQ(Now().size(), 97u);
	const std::string text = table_.CommitText(2);
	EXPECT_NE(text.find("\"readVersion\":1"), std::string::npos) << "it has read version 1 after all";
	EXPECT_NE(text.find("\"numRowsRepaired\":\"1\""), std::string::npos) << text;
}

TEST_F(MaxMode, N5_TheSameRowIsUpdatedTwice) {
	Second(table_.Update(base_, Equals("k", 1), SetX(100)), table_.Update(base_, Equals("k", 1), SetX(200)), SetX(200));
	EXPECT_EQ(rows_run_, 1u) << "only the row that changed runs again";
	EXPECT_EQ(Count([](const Row& row) { return row.k == 1 && row.x == 200; }), 1);
	EXPECT_EQ(Now().size(), 100u);
}

TEST_F(MaxMode, DifferentColumnsOfOneRow) {  // F12
	const auto set_y = [](Row& row) { row.y = 7; };
	Second(table_.Update(base_, Equals("k", 1), SetX(100)), table_.Update(base_, Equals("k", 1), set_y), set_y);
	EXPECT_EQ(Count([](const Row& row) { return row.k == 1 && row.x == 100 && row.y == 7; }), 1);
}

TEST_F(MaxMode, IncrementsAddUp) {  // F15
	const auto add = [](Row& row) { row.y = *row.y + 1; };
	Second(table_.Update(base_, Equals("x", 3), add), table_.Update(base_, Equals("x", 3), add), add);
	EXPECT_EQ(Count([](const Row& row) { return row.x == 3 && row.y == 2; }), 10);
}

TEST_F(MaxMode, N7_TheRowIsNotBroughtBack) {
	Second(table_.Delete(base_, Equals("k", 1)), table_.Update(base_, AnyOf("k", {1, 2}), SetX(200)), SetX(200));
	EXPECT_EQ(Now().size(), 99u);
	EXPECT_EQ(Count([](const Row& row) { return row.x == 200; }), 1);
}

TEST_F(MaxMode, N13_N12_Everything) {
	Second(table_.Delete(base_, Equals("k", 1)), table_.Delete(base_, Predicate::True()));
	EXPECT_EQ(Now().size(), 0u);
}

TEST_F(MaxMode, N15_WriteSkew) {
	Second(table_.Update(base_, Equals("x", 1), SetX(5)), table_.Update(base_, Equals("x", 5), SetX(1)), SetX(1));
	EXPECT_EQ(Count([](const Row& row) { return row.x == 1; }), 20);
	EXPECT_EQ(Count([](const Row& row) { return row.x == 5; }), 0);
}

TEST_F(MaxMode, N16_AnImageEntersTheCondition) {
	Second(table_.Update(base_, Equals("k", 1), SetX(77)), table_.Delete(base_, AnyOf("x", {77, 8})));
	EXPECT_EQ(Now().size(), 89u);
}

TEST_F(MaxMode, N21_AppendedRowsAreDeletedToo) {
	Second(table_.Insert(base_, {{200, 3, 0}}), table_.Delete(base_, Equals("x", 3)));
	EXPECT_EQ(Count([](const Row& row) { return row.x == 3; }), 0);
}

// What is not a sum over rows fails as in `sound`.
TEST_F(MaxMode, ReadersAreNotRepaired) {
	Transaction reader = table_.Insert(base_, {{900, 1, 0}});
	reader.reads.reads.push_back({Equals("x", 3), nullptr, false});
	ASSERT_TRUE(table_.Commit(table_.Delete(base_, Equals("k", 3))));
	ExpectConflict(table_.Commit(reader), ConflictClass::kConcurrentDeleteRead);
}

}  // namespace
}  // namespace braid
