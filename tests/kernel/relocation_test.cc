// SPDX-License-Identifier: Apache-2.0
// Rows that move: deletes follow their rows through rearrangements and rewrites of others, and rearrangements of ours carry what others changed.
// Numbers in names are those of the list of scenarios.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernel/txn/row_map.h"
#include "tests/kernel/memory_table.h"

namespace braid {
namespace {

Rows Hundred() {
	Rows rows;
	for (int64_t id = 0; id < 100; id++) rows.push_back({id, id % 10, 0});
	return rows;
}

enum class Map { kThere, kGone, kDamaged, kOfAnother };

// All ways to follow a row: by the map of the rearrangement; without it, or with one that is no good, by stable ids or by content.
class Relocated : public testing::TestWithParam<std::tuple<Map, bool>> {
protected:
	void SetUp() override {
		table_.row_tracking = by_ids();
		base_ = table_.Create({Hundred()});
	}
	void Wins(const Transaction& transaction) { Wins(table_, transaction); }
	static void Wins(MemoryTable& table, const Transaction& transaction) {
		const auto outcome = table.Commit(transaction);
		ASSERT_TRUE(outcome) << outcome.error().message;
		for (const auto& [path, entries] : table.LiveEntries(outcome->version)) EXPECT_LE(entries, 1) << path;
		Spoil(table, transaction.changes.row_map);
	}
	// After its commit nobody may rely on a map.
	static void Spoil(MemoryTable& table, const std::string& map) {
		if (map.empty() || std::get<0>(GetParam()) == Map::kThere) return;
		std::string bytes = table.memory.Read(map).value_or("");
		ASSERT_FALSE(bytes.empty());
		ASSERT_TRUE(table.memory.Delete(map));
		if (std::get<0>(GetParam()) == Map::kGone) return;
		if (std::get<0>(GetParam()) == Map::kDamaged) {
			bytes[bytes.size() / 2] ^= 1;
		} else {  // whole, and of the same files: but another commit's
			const auto other = RowMapWriter::Create(table.memory, NewRowMapPath(table.random), {});
			ASSERT_TRUE((*other)->Finish());
			bytes = *table.memory.Read((*other)->path());
		}
		ASSERT_TRUE(table.memory.Create(map, bytes));
	}
	Rows Now() { return table_.LiveRows(*table_.Latest()); }
	static Rows Without(const std::function<bool(const Row&)>& gone) {
		Rows rows = Hundred();
		std::erase_if(rows, gone);
		return rows;
	}
	Transaction SetX(const SnapshotPtr& base, int64_t k, int64_t x) {
		return table_.Update(base, Equals("k", k), [x](Row& row) { row.x = x; });
	}
	// No deletion vector: the whole file again, as an engine without vectors does it.
	Transaction RewriteFile(const SnapshotPtr& base, const std::function<void(Row&)>& set) {
		Transaction transaction = table_.RearrangeAll(base);
		transaction.operation = "UPDATE";
		transaction.changes.data_change = true;
		for (NewFile& file : transaction.changes.new_files) {
			for (Row& row : table_.probe.files.at(file.add.path)) set(row);
			file.add.stats = "{\"numRecords\":" + std::to_string(file.num_records) + "}";
		}
		transaction.changes.row_map.clear();
		return transaction;
	}
	static bool by_map() { return std::get<0>(GetParam()) == Map::kThere; }
	static bool by_ids() { return std::get<1>(GetParam()); }

	SeededRandom dice_ {7};
	MemoryTable table_ {"Serializable"};
	SnapshotPtr base_;
};
std::string NameOf(const testing::TestParamInfo<std::tuple<Map, bool>>& way) {
	static constexpr const char* kMaps[] = {"Map", "NoMap", "DamagedMap", "MapOfAnother"};
	return std::string(kMaps[static_cast<int>(std::get<0>(way.param))]) +
		   (std::get<1>(way.param) ? "RowIds" : "Content");
}
INSTANTIATE_TEST_SUITE_P(By, Relocated,
						 testing::Combine(testing::Values(Map::kThere, Map::kGone, Map::kDamaged, Map::kOfAnother),
										  testing::Bool()),
						 NameOf);

TEST_P(Relocated, N47_N48_N57_DeleteAndUpdateAfterAShuffle) {
	const Transaction erase = table_.Delete(base_, Equals("x", 0)), update = SetX(base_, 7, 70);
	Wins(table_.RearrangeAll(base_, &dice_));
	Wins(erase);
	Wins(update);
	Rows expected = Without([](const Row& row) { return *row.x == 0; });
	std::ranges::find(expected, 7, [](const Row& row) { return *row.k; })->x = 70;
	EXPECT_EQ(Now(), expected);
}

TEST_P(Relocated, N50_ChainOfRearrangements) {
	const Transaction erase = table_.Delete(base_, AnyOf("k", {3, 30}));
	for (int i = 0; i < 3; i++) Wins(table_.RearrangeAll(table_.Latest(), &dice_));
	Wins(table_.Delete(table_.Latest(), Equals("k", 99)));
	Wins(erase);
	EXPECT_EQ(Now(), Without([](const Row& row) { return row.k == 3 || row.k == 30 || row.k == 99; }));
}

TEST_P(Relocated, N49_TheRowWasDeletedBeforeItMoved) {
	const Transaction gone = table_.Delete(base_, Equals("k", 1)), other = table_.Delete(base_, Equals("k", 2));
	Wins(table_.Delete(base_, Equals("k", 1)));
	Wins(table_.RearrangeAll(table_.Latest(), &dice_));
	const ConflictReport report = ExpectConflict(table_.Commit(gone), ConflictClass::kConcurrentDeleteDelete);
	EXPECT_EQ(report.winner_version, 1);
	EXPECT_EQ(report.sub_condition, "ROW_LEVEL_CHANGES");
	Wins(other);
	EXPECT_EQ(Now().size(), 98u);
}

TEST_P(Relocated, TheRowWasDeletedAfterItMoved) {
	const Transaction gone = table_.Delete(base_, Equals("k", 1));
	Wins(table_.RearrangeAll(base_, &dice_));
	Wins(table_.Delete(table_.Latest(), Equals("k", 1)));
	ExpectConflict(table_.Commit(gone), ConflictClass::kConcurrentDeleteDelete);
}

TEST_P(Relocated, N55_PurgeOfAFileWithAVector) {
	Wins(table_.Delete(base_, Equals("k", 5)));
	base_ = table_.Latest();
	const Transaction erase = table_.Delete(base_, Equals("k", 6));
	Wins(table_.RearrangeAll(base_));  // in order: position 6 becomes 5
	Wins(erase);
	EXPECT_EQ(Now(), Without([](const Row& row) { return row.k == 5 || row.k == 6; }));
}

TEST_P(Relocated, N56_EqualRows) {
	MemoryTable table("Serializable");
	table.row_tracking = by_ids();
	const SnapshotPtr base = table.Create({Rows(5, {1, 1, 1}), Rows(5, {1, 1, 1})});
	Transaction three = table.Begin(base, "DELETE");
	three.reads.reads.push_back({Equals("k", 1), nullptr, false});
	const std::string first(base->files->Files()[0]->path), second(base->files->Files()[1]->path);
	three.changes.deleted_rows = {{first, {0, 4}}, {second, {2}}};
	Wins(table, table.RearrangeAll(base, &dice_));
	const auto outcome = table.Commit(three);
	ASSERT_TRUE(outcome) << outcome.error().message;
	EXPECT_EQ(table.LiveRows(*table.Latest()), Rows(7, {1, 1, 1}));
}

TEST_P(Relocated, N20_CopyOnWriteOfAnotherRow) {
	const Transaction erase = table_.Delete(base_, Equals("k", 2)), same = table_.Delete(base_, Equals("k", 1));
	Transaction reader = table_.Insert(base_, {{900, 90, 0}});
	reader.reads.reads.push_back({AnyOf("k", {2, 3}), nullptr, false});
	Wins(RewriteFile(base_, [](Row& row) { row.x = row.k == 1 ? 100 : row.x; }));
	Wins(reader);  // its rows were copied, not changed
	Wins(erase);
	EXPECT_FALSE(table_.Commit(same));
	EXPECT_EQ(Now().size(), 100u);
}

TEST_P(Relocated, N18_ImagesThatChangeNothing) {
	const Transaction update = table_.Update(base_, Equals("k", 1), [](Row& row) { row.x = 9; });
	Wins(table_.Update(base_, Equals("k", 1), [](Row&) {}));
	if (by_ids()) {
		Wins(update);
		Rows expected = Hundred();
		expected[1].x = 9;
		EXPECT_EQ(Now(), expected);
	} else {
		EXPECT_FALSE(table_.Commit(update));
	}
}

// A copy of a row that somebody else has added meanwhile is as new as that row.
TEST_P(Relocated, ACopyOfANewRowIsANewRow) {
	Transaction reader = table_.Insert(base_, {{900, 90, 0}});
	reader.reads.reads.push_back({Equals("k", 200), nullptr, false});
	Wins(table_.Insert(base_, {{200, 3, 0}}));
	if (by_ids()) {
		Wins(table_.Update(table_.Latest(), Equals("k", 200), [](Row&) {}));
	} else {
		Wins(RewriteFile(table_.Latest(), [](Row& row) { row.x = row.k == 1 ? 100 : row.x; }));
	}
	ExpectConflict(table_.Commit(reader), ConflictClass::kConcurrentAppend);
}

// The row that we read was copied, and then its copy was deleted.
TEST_P(Relocated, ACopyOfOurRowIsDeleted) {
	Transaction reader = table_.Insert(base_, {{900, 90, 0}});
	reader.reads.reads.push_back({Equals("k", 2), nullptr, false});
	Transaction beside = table_.Insert(base_, {{901, 90, 0}});
	beside.reads.reads.push_back({Equals("k", 4), nullptr, false});
	Wins(RewriteFile(base_, [](Row& row) { row.x = row.k == 1 ? 100 : row.x; }));
	Wins(table_.Delete(table_.Latest(), AnyOf("k", {2, 3})));
	ExpectConflict(table_.Commit(reader), ConflictClass::kConcurrentDeleteRead);
	Wins(beside);
}

// As after VACUUM: without the map nobody knows any more. It needs no file and no time.
TEST_P(Relocated, N58_TheOldFileIsGone) {
	const Transaction erase = table_.Delete(base_, Is("k", CompareOp::kLess, 40));
	const std::string path(base_->files->Files()[0]->path);
	Wins(table_.RearrangeAll(base_, &dice_));
	Wins(table_.RearrangeAll(table_.Latest(), &dice_));
	table_.probe.files.erase(path);
	if (by_map()) {
		table_.options.conflict_time_budget_ms = 0;
		Wins(erase);
		EXPECT_EQ(Now(), Without([](const Row& row) { return row.k < 40; }));
		return;
	}
	const ConflictReport report = ExpectConflict(table_.Commit(erase), ConflictClass::kConcurrentDeleteDelete);
	EXPECT_EQ(report.rule, "moved");
	EXPECT_EQ(report.sub_condition, "WITHOUT_HINT");
	EXPECT_EQ(Now().size(), 100u);
}

// A map that does not speak of all the rows, or of other files than the commit, is no help.
TEST_P(Relocated, AMapThatIsWrong) {
	const Transaction erase = table_.Delete(base_, Equals("k", 3));
	const std::string source(base_->files->Files()[0]->path);
	for (const bool other_file : {true, false}) {
		Transaction rearranged = table_.RearrangeAll(table_.Latest(), &dice_);
		const std::string target = other_file ? "elsewhere.parquet" : rearranged.changes.new_files[0].add.path;
		const MappedFile sources[] = {{source, 100}};
		const auto map = RowMapWriter::Create(table_.memory, NewRowMapPath(table_.random), sources);
		ASSERT_TRUE((*map)->Append(target, std::vector<OriginRun> {{0, 0, 0, other_file ? 100u : 99u}}));
		ASSERT_TRUE((*map)->Finish());
		rearranged.changes.row_map = (*map)->path();
		Wins(rearranged);
	}
	Wins(erase);
	EXPECT_EQ(Now(), Without([](const Row& row) { return row.k == 3; }));
}

TEST_P(Relocated, NoTimeToFollow) {
	const Transaction erase = table_.Delete(base_, Equals("k", 3));
	Wins(table_.RearrangeAll(base_, &dice_));
	table_.options.conflict_time_budget_ms = 10;
	table_.probe.on_match = [this] { table_.clock.SleepMs(10); };
	if (by_map()) return Wins(erase);
	const ConflictReport report = ExpectConflict(table_.Commit(erase), ConflictClass::kConcurrentDeleteDelete);
	EXPECT_EQ(report.sub_condition, "ALLOTTED_TIME_EXCEEDED");
}

// Counts agree, content does not: whoever reads on the strength of the counts must not delete a wrong row.
TEST_P(Relocated, ARearrangementThatLies) {
	const Transaction erase = table_.Delete(base_, Equals("k", 3));
	Transaction liar = table_.RearrangeAll(base_, &dice_);
	for (Row& row : table_.probe.files.at(liar.changes.new_files[0].add.path)) {
		if (row.k == 3) row.k = 103;
	}
	table_.probe.row_ids.clear();
	liar.changes.keeps_row_ids = false;
	liar.changes.row_map.clear();
	Wins(liar);
	EXPECT_EQ(ExpectConflict(table_.Commit(erase), ConflictClass::kConcurrentDeleteDelete).rule, "moved");
}

// ------------------------------------------------------------ our own rearrangement comes second

TEST_P(Relocated, N46_RearrangementAfterADelete) {
	Transaction optimize = table_.RearrangeAll(base_, &dice_);
	Wins(table_.Delete(base_, Predicate::Or({Is("k", CompareOp::kLess, 20), Equals("k", 77)})));
	Wins(table_.Update(table_.Latest(), Equals("k", 50), [](Row& row) { row.x = 500; }));
	Wins(optimize);
	Rows expected = Without([](const Row& row) { return *row.k < 20 || row.k == 77; });
	std::ranges::find(expected, 50, [](const Row& row) { return *row.k; })->x = 500;
	EXPECT_EQ(Now(), expected);
	EXPECT_EQ(table_.CommitText(3).find("\"dataChange\":true"), std::string::npos);
}

TEST_P(Relocated, N51_TwoRearrangementsOfTheSameFile) {
	Transaction second = table_.RearrangeAll(base_, &dice_);
	Wins(table_.RearrangeAll(base_, &dice_));
	const auto outcome = table_.Commit(second);
	ASSERT_TRUE(outcome) << outcome.error().message;
	EXPECT_EQ(outcome->version, 1) << "nothing was left to do, so nothing is committed";
	EXPECT_EQ(Now(), Hundred());
	EXPECT_FALSE(table_.memory.Stat(second.changes.new_files[0].add.path)) << "its file is not left behind";
	EXPECT_FALSE(table_.memory.Stat(second.changes.row_map)) << "nor is its map";
}

TEST_P(Relocated, N54_AWholeFileIsGone) {
	MemoryTable table("Serializable");
	table.row_tracking = by_ids();
	const SnapshotPtr base = table.Create({{{1, 1, 0}, {2, 1, 0}}, {{3, 2, 0}}});
	const Transaction optimize = table.RearrangeAll(base, &dice_);
	ASSERT_TRUE(table.Commit(table.Delete(base, Equals("x", 1))));
	const auto outcome = table.Commit(optimize);
	ASSERT_TRUE(outcome) << outcome.error().message;
	EXPECT_EQ(table.LiveRows(*table.Latest()), (Rows {{3, 2, 0}}));
	EXPECT_EQ(table.CommitText(2).find(R"({"remove":{"path":"part-0.parquet")"), std::string::npos)
		<< "not removed again";
	EXPECT_NE(table.CommitText(2).find(R"({"remove":{"path":"part-1.parquet")"), std::string::npos);
}

// Rows that come back (RESTORE) are in no file of ours.
TEST_P(Relocated, RowsThatComeBackStopARearrangement) {
	Wins(table_.Delete(base_, Equals("k", 5)));
	const SnapshotPtr later = table_.Latest();
	Transaction optimize = table_.RearrangeAll(later, &dice_);
	const std::string text = table_.CommitText(1);
	std::string back;  // removes the vector again
	for (size_t at = 0; at < text.size();) {
		const size_t end = text.find('\n', at);
		std::string line = text.substr(at, end - at);
		at = end + 1;
		if (line.starts_with("{\"add\""))
			line.replace(2, 3, "remove"), line.insert(line.size() - 2, ",\"deletionTimestamp\":1");
		else if (line.starts_with("{\"remove\""))
			line.replace(2, 6, "add"), line.insert(line.size() - 2, ",\"modificationTime\":1");
		else if (line.starts_with("{\"commitInfo\""))
			line = R"({"commitInfo":{"operation":"RESTORE"}})";
		back += line + "\n";
	}
	ASSERT_TRUE(table_.memory.PutIfAbsent("_delta_log/00000000000000000002.json", back));
	ASSERT_EQ(Now().size(), 100u);
	EXPECT_FALSE(table_.Commit(optimize));
}

TEST(Mover, N7_WithoutVectorsTouchedBinsAreLeftOut) {
	MemoryTable table("Serializable");
	const SnapshotPtr base =
		table.Create({{{1, 1, 0}}, {{2, 2, 0}}, {{3, 3, 0}}, {{4, 4, 0}}}, {{"delta.enableDeletionVectors", "false"}});
	std::vector<std::string> paths;
	for (const LiveFile* file : base->files->Files()) paths.emplace_back(file->path);
	const Transaction optimize = table.RearrangeBins(base, {{paths[0], paths[1]}, {paths[2], paths[3]}});
	ASSERT_TRUE(table.Commit(table.Delete(base, Equals("k", 1))));
	const auto outcome = table.Commit(optimize);
	ASSERT_TRUE(outcome) << outcome.error().message;
	EXPECT_EQ(table.LiveRows(*table.Latest()), (Rows {{2, 2, 0}, {3, 3, 0}, {4, 4, 0}}));
	EXPECT_TRUE(outcome->snapshot->files->Find(paths[1])) << "the touched bin keeps its files";
	EXPECT_FALSE(outcome->snapshot->files->Find(paths[2]));
}

}  // namespace
}  // namespace braid
