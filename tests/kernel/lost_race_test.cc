// SPDX-License-Identifier: Apache-2.0
// Two and more transactions from one snapshot: who commits, who fails and why, and what the table holds afterwards. Numbers in names are
// those of the list of scenarios that a conforming engine passes.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernel/deletion/dv_file.h"
#include "tests/kernel/memory_table.h"

namespace braid {
namespace {

constexpr const char* kLevels[] = {"Serializable", "WriteSerializable"};

// Rows (id, id % 10) for id 0 to 99, in one file.
Rows Hundred() {
	Rows rows;
	for (int64_t id = 0; id < 100; id++) rows.push_back({id, id % 10, 0});
	return rows;
}

class LostRace : public testing::TestWithParam<const char*> {
protected:
	void SetUp() override { base_ = table_.Create({Hundred()}); }

	void Wins(const Transaction& transaction) {
		const auto outcome = table_.Commit(transaction);
		ASSERT_TRUE(outcome) << outcome.error().message;
		CheckTable(outcome->version);
	}
	void CheckTable(int64_t version) {
		for (const auto& [path, entries] : table_.LiveEntries(version)) EXPECT_LE(entries, 1) << path;
	}
	Rows Now() { return table_.LiveRows(*table_.Latest()); }
	Rows Without(const std::function<bool(const Row&)>& gone) {
		Rows rows = Hundred();
		std::erase_if(rows, gone);
		return rows;
	}
	bool serializable() const { return std::string(GetParam()) == "Serializable"; }
	Transaction SetX(const Predicate& where, int64_t x) {
		return table_.Update(base_, where, [x](Row& row) { row.x = x; });
	}

	MemoryTable table_ {GetParam()};
	SnapshotPtr base_;
};
INSTANTIATE_TEST_SUITE_P(Levels, LostRace, testing::ValuesIn(kLevels),
						 [](const auto& level) { return std::string(level.param); });

TEST_P(LostRace, N1_DisjointDeletesOfOneFile) {
	const Transaction second = table_.Delete(base_, Is("k", CompareOp::kGreaterEqual, 90));
	Wins(table_.Delete(base_, Is("k", CompareOp::kLess, 10)));
	const auto outcome = table_.Commit(second);
	ASSERT_TRUE(outcome) << outcome.error().message;
	EXPECT_EQ(outcome->version, 2);
	EXPECT_EQ(outcome->winners, 1);
	EXPECT_EQ(outcome->rows_rebased, 10);
	EXPECT_EQ(Now(), Without([](const Row& row) { return *row.k < 10 || *row.k >= 90; }));
	CheckTable(2);
	const LiveFile* file = outcome->snapshot->files->Files().at(0);
	EXPECT_EQ(file->deletion_vector->cardinality, 20);
}

TEST_P(LostRace, N2_DeletesOfTheSameRow) {
	const Transaction second = table_.Delete(base_, Equals("k", 5));
	Wins(table_.Delete(base_, Equals("k", 5)));
	const ConflictReport report = ExpectConflict(table_.Commit(second), ConflictClass::kConcurrentDeleteDelete);
	EXPECT_EQ(report.sub_condition, "ROW_LEVEL_CHANGES");
	EXPECT_EQ(report.rows, std::vector<std::string> {"k=5, x=5, y=0"});
	EXPECT_EQ(report.read_version, 0);
	EXPECT_EQ(report.winner_version, 1);
	EXPECT_EQ(report.winner_operation, "DELETE");
	EXPECT_EQ(Now().size(), 99u);
}

TEST_P(LostRace, N3_OverlappingDeletesFailAsAWhole) {
	const Transaction second = table_.Delete(base_, AnyOf("k", {2, 3}));
	Wins(table_.Delete(base_, AnyOf("k", {1, 2})));
	ExpectConflict(table_.Commit(second), ConflictClass::kConcurrentDeleteDelete);
	EXPECT_EQ(Now(), Without([](const Row& row) { return *row.k == 1 || *row.k == 2; }));
}

TEST_P(LostRace, N4_DisjointUpdatesOfOneFile) {
	const Transaction second = SetX(Equals("k", 2), 200);
	Wins(SetX(Equals("k", 1), 100));
	Wins(second);
	Rows expected = Hundred();
	expected[1].x = 100;
	expected[2].x = 200;
	EXPECT_EQ(Now(), expected);
}

TEST_P(LostRace, N5_N6_N7_TheSameRowTwice) {
	const Transaction update = SetX(Equals("k", 1), 200), erase = table_.Delete(base_, Equals("k", 1));
	Wins(SetX(Equals("k", 1), 100));
	// The winner's image of row 1 is there to be read.
	const ConflictReport report = ExpectConflict(table_.Commit(update), ConflictClass::kConcurrentAppend);
	EXPECT_EQ(report.old_rows, std::vector<std::string> {"k=1, x=1, y=0"});
	EXPECT_EQ(report.new_rows, std::vector<std::string> {"k=1, x=100, y=0"});
	EXPECT_EQ(report.matched_predicate, "k = 1");
	EXPECT_EQ(report.winner_engine, "Braid");
	EXPECT_TRUE(report.winner_timestamp);
	ExpectConflict(table_.Commit(erase), ConflictClass::kConcurrentAppend);
	MemoryTable other(GetParam());
	base_ = other.Create({Hundred()});
	const Transaction late = other.Update(base_, Equals("k", 1), [](Row& row) { row.x = 200; });
	ASSERT_TRUE(other.Commit(other.Delete(base_, Equals("k", 1))));
	ExpectConflict(other.Commit(late), ConflictClass::kConcurrentDeleteDelete);
	EXPECT_EQ(other.LiveRows(*other.Latest()).size(), 99u);
}

TEST_P(LostRace, N8_VectorAtTheStartIsNotAnOverlap) {
	Wins(table_.Delete(base_, Equals("k", 5)));
	base_ = table_.Latest();
	const Transaction second = table_.Delete(base_, Equals("k", 2));
	Wins(table_.Delete(base_, Equals("k", 1)));
	Wins(second);
	EXPECT_EQ(Now(), Without([](const Row& row) { return *row.k == 1 || *row.k == 2 || *row.k == 5; }));
}

TEST_P(LostRace, N9_N10_ChainOfWinners) {
	std::vector<Transaction> all;
	for (int64_t k = 1; k <= 8; k++) all.push_back(table_.Delete(base_, Equals("k", k)));
	const Transaction overlapping = table_.Delete(base_, AnyOf("k", {2, 33}));
	for (size_t i = 0; i < all.size(); i++) {
		const auto outcome = table_.Commit(all[i]);
		ASSERT_TRUE(outcome) << outcome.error().message;
		EXPECT_EQ(outcome->version, static_cast<int64_t>(i) + 1);
		EXPECT_EQ(outcome->winners, static_cast<int>(i));
	}
	ExpectConflict(table_.Commit(overlapping), ConflictClass::kConcurrentDeleteDelete);
	EXPECT_EQ(Now(), Without([](const Row& row) { return *row.k >= 1 && *row.k <= 8; }));
	CheckTable(8);
}

TEST_P(LostRace, N11_TheLastRowsGoWithTheFile) {
	const Transaction second = table_.Delete(base_, Is("k", CompareOp::kGreaterEqual, 50));
	Wins(table_.Delete(base_, Is("k", CompareOp::kLess, 50)));
	Wins(second);
	EXPECT_EQ(table_.Latest()->files->size(), 0u);
	EXPECT_EQ(table_.CommitText(2).find("\"add\""), std::string::npos) << "no add with a full vector";
}

TEST_P(LostRace, N12_N13_EverythingAgainstOneRow) {
	const Transaction one = table_.Delete(base_, Equals("k", 1)), all = table_.Delete(base_, Predicate::True());
	Wins(all);
	ExpectConflict(table_.Commit(one), ConflictClass::kConcurrentDeleteDelete);
	MemoryTable other(GetParam());
	base_ = other.Create({Hundred()});
	const Transaction late = other.Delete(base_, Predicate::True());
	ASSERT_TRUE(other.Commit(other.Delete(base_, Equals("k", 1))));
	ExpectConflict(other.Commit(late), ConflictClass::kConcurrentDeleteDelete);
}

TEST_P(LostRace, N15_WriteSkew) {
	const Transaction second = SetX(Equals("x", 5), 1);
	Wins(SetX(Equals("x", 1), 5));
	ExpectConflict(table_.Commit(second), ConflictClass::kConcurrentAppend);
}

TEST_P(LostRace, N16_N17_ImageEntersTheCondition) {
	const Transaction into = table_.Delete(base_, AnyOf("x", {77, 8})), beside = table_.Delete(base_, Equals("x", 8));
	const Transaction nothing = table_.Delete(base_, Equals("x", 77));
	EXPECT_TRUE(nothing.changes.empty());
	Wins(SetX(Equals("k", 1), 77));
	const ConflictReport report = ExpectConflict(table_.Commit(into), ConflictClass::kConcurrentAppend);
	EXPECT_EQ(report.rows, std::vector<std::string> {"k=1, x=77, y=0"});
	EXPECT_EQ(table_.Commit(nothing)->version, 0);
	Wins(beside);
}

TEST_P(LostRace, N21_N22_N23_BlindInsertBeforeADelete) {
	const Transaction matching = table_.Delete(base_, Equals("x", 3)), other = table_.Delete(base_, Equals("x", 4));
	Wins(table_.Insert(base_, {{200, 3, 0}}));
	if (serializable()) {
		ExpectConflict(table_.Commit(matching), ConflictClass::kConcurrentAppend);
	} else {
		Wins(matching);
		const Rows now = Now();
		EXPECT_EQ(std::ranges::count(now, 3, [](const Row& row) { return *row.x; }), 1) << "row 200 survives";
	}
	Wins(other);
}

TEST_P(LostRace, N24_N25_N26_BlindInsertAfterAnything) {
	const Transaction insert = table_.Insert(base_, {{200, 3, 0}}), again = table_.Insert(base_, {{201, 3, 0}});
	Wins(table_.Delete(base_, Equals("x", 3)));
	Wins(table_.Update(table_.Latest(), Equals("x", 4), [](Row& row) { row.x = 3; }));
	Wins(table_.Delete(table_.Latest(), Predicate::True()));
	Wins(insert);
	Wins(again);
	EXPECT_EQ(Now(), (Rows {{200, 3, 0}, {201, 3, 0}}));
}

TEST_P(LostRace, N27_N28_N29_InsertThatReads) {
	Transaction counting = table_.Insert(base_, {{900, 100, 0}});
	counting.reads.reads.push_back({Predicate::True(), nullptr, false});
	Transaction copying = table_.Insert(base_, {{1001, 1, 0}});
	copying.reads.reads.push_back({Is("k", CompareOp::kLess, 10), nullptr, false});
	const Transaction update = SetX(Predicate::Or({Is("k", CompareOp::kGreaterEqual, 1000), Equals("k", 50)}), 1);
	Wins(table_.Insert(base_, {{200, 3, 0}}));
	if (serializable()) {
		ExpectConflict(table_.Commit(counting), ConflictClass::kConcurrentAppend);
	} else {
		Wins(counting);
	}
	Wins(copying);
	ExpectConflict(table_.Commit(update), ConflictClass::kConcurrentAppend);  // row 1001 was not appended blindly

	MemoryTable other(GetParam());
	base_ = other.Create({Hundred()});
	Transaction late = other.Insert(base_, {{1001, 1, 0}});
	late.reads.reads.push_back({Is("k", CompareOp::kLess, 10), nullptr, false});
	ASSERT_TRUE(other.Commit(other.Delete(base_, Equals("k", 1))));
	ExpectConflict(other.Commit(late), ConflictClass::kConcurrentDeleteRead);
}

TEST_P(LostRace, N32_NullIsNotTrue) {
	const Transaction second = table_.Delete(base_, Is("k", CompareOp::kNotEqual, 5));
	Wins(table_.Insert(base_, {{std::nullopt, 1, 0}}));
	Wins(second);
	EXPECT_EQ(Now(), (Rows {{std::nullopt, 1, 0}, {5, 5, 0}}));
}

TEST_P(LostRace, N33_AppendThatDoesNotCallItselfBlind) {
	const Transaction matching = table_.Delete(base_, Equals("x", 3)), other = table_.Delete(base_, Equals("x", 4));
	Transaction foreign = table_.Insert(base_, {{200, 3, 0}});
	foreign.reads.reads.push_back({Equals("k", 777), nullptr, false});
	Wins(foreign);
	ExpectConflict(table_.Commit(matching), ConflictClass::kConcurrentAppend);
	Wins(other);
}

// MERGE keyed on k: rows whose key is in the source are read, matched or not, changed or not.
TEST_P(LostRace, N36_N37_N40_N41_N43_Merge) {
	const auto merge = [&](MemoryTable& table, const SnapshotPtr& base, const std::vector<int64_t>& keys,
						   const Rows& inserted) {
		Transaction transaction = table.Insert(base, inserted);
		transaction.operation = "MERGE";
		transaction.reads.reads.push_back({AnyOf("k", keys), nullptr, false});
		return transaction;
	};
	const Transaction same = merge(table_, base_, {500}, {{500, 2, 0}}),
					  different = merge(table_, base_, {501}, {{501, 2, 0}});
	const Transaction unmatched = merge(table_, base_, {5, 300}, {{300, 0, 0}});
	const Transaction beside = merge(table_, base_, {7, 301}, {{301, 0, 0}});
	Wins(merge(table_, base_, {500}, {{500, 1, 0}}));
	ExpectConflict(table_.Commit(same), ConflictClass::kConcurrentAppend);
	Wins(different);
	Wins(table_.Update(table_.Latest(), Equals("k", 5), [](Row& row) { row.k = 105; }));
	ExpectConflict(table_.Commit(unmatched), ConflictClass::kConcurrentDeleteRead);
	Wins(beside);
}

TEST_P(LostRace, TruncateAndBlindAppends) {
	Transaction truncate = table_.Begin(base_, "TRUNCATE");
	truncate.changes.removes_all = true;
	const Transaction again = truncate;
	Wins(table_.Insert(base_, {{200, 3, 0}}));
	if (serializable()) {
		ExpectConflict(table_.Commit(truncate), ConflictClass::kConcurrentAppend);
	} else {
		Wins(truncate);
		EXPECT_EQ(Now(), (Rows {{200, 3, 0}})) << "a blind append survives, ordered after";
		ExpectConflict(table_.Commit(again), ConflictClass::kConcurrentDeleteDelete);
	}
}

TEST_P(LostRace, ReplaceTableIsNotOrderedBeforeAppends) {
	Transaction replace = table_.Begin(base_, "CREATE OR REPLACE TABLE AS SELECT");
	replace.changes.removes_all = true;
	replace.changes.metadata = base_->metadata;
	Wins(table_.Insert(base_, {{200, 3, 0}}));
	ExpectConflict(table_.Commit(replace), ConflictClass::kConcurrentAppend);
}

// ------------------------------------------------------------ several files

TEST_P(LostRace, SeveralFilesAllOrNothing) {
	MemoryTable table(GetParam());
	const SnapshotPtr base = table.Create({{{1, 1, 0}, {2, 2, 0}}, {{3, 1, 0}, {4, 2, 0}}, {{5, 1, 0}, {6, 2, 0}}});
	const Transaction both = table.Delete(base, Equals("x", 1));
	const Transaction rest = table.Delete(base, AnyOf("k", {4, 6}));
	ASSERT_TRUE(table.Commit(table.Delete(base, Equals("k", 2))));
	ASSERT_TRUE(table.Commit(table.Delete(base, Equals("k", 3))));
	ExpectConflict(table.Commit(both), ConflictClass::kConcurrentDeleteDelete);
	EXPECT_EQ(table.LiveRows(*table.Latest()), (Rows {{1, 1, 0}, {4, 2, 0}, {5, 1, 0}, {6, 2, 0}}));
	const auto outcome = table.Commit(rest);
	ASSERT_TRUE(outcome) << outcome.error().message;
	EXPECT_EQ(table.LiveRows(*table.Latest()), (Rows {{1, 1, 0}, {5, 1, 0}}));
	for (const auto& [path, entries] : table.LiveEntries(outcome->version)) EXPECT_LE(entries, 1) << path;
}

TEST_P(LostRace, WinnerRemovesAWholeFile) {
	MemoryTable table(GetParam());
	const SnapshotPtr base = table.Create({{{1, 1, 0}, {2, 1, 0}}, {{3, 7, 0}, {4, 8, 0}}});
	const Transaction inside = table.Delete(base, AnyOf("k", {2, 3}));
	const Transaction outside = table.Delete(base, Equals("x", 7));
	Transaction reader = table.Insert(base, {{9, 9, 9}});
	reader.reads.reads.push_back({Equals("k", 1), nullptr, false});
	ASSERT_TRUE(table.Commit(table.Delete(base, Equals("x", 1))));
	EXPECT_EQ(table.Latest()->files->size(), 1u);
	ExpectConflict(table.Commit(inside), ConflictClass::kConcurrentDeleteDelete);
	ExpectConflict(table.Commit(reader), ConflictClass::kConcurrentDeleteRead);
	ASSERT_TRUE(table.Commit(outside));
	EXPECT_EQ(table.LiveRows(*table.Latest()), (Rows {{4, 8, 0}}));
}

TEST_P(LostRace, RowInsertedAndDeletedAgainVanishes) {
	const Transaction second = table_.Delete(base_, Equals("x", 3));
	Wins(table_.Insert(base_, {{200, 3, 0}, {201, 4, 0}}));
	Wins(table_.Delete(table_.Latest(), Equals("k", 200)));
	Wins(second);  // at both levels: nothing of what it read changed in the end
}

// ------------------------------------------------------------ rearrangements

// The whole of a file's live rows into a new one, as OPTIMIZE does.
Transaction Rearrange(MemoryTable& table, const SnapshotPtr& base, size_t drop = 0) {
	Transaction transaction = table.Begin(base, "OPTIMIZE");
	transaction.changes.data_change = false;
	Rows rows = table.LiveRows(*base);
	rows.resize(rows.size() - drop);
	transaction.changes.new_files.push_back(table.WriteFile(rows));
	for (const LiveFile* file : base->files->Files()) transaction.changes.replaced_files.emplace_back(file->path);
	return transaction;
}

TEST_P(LostRace, N49_N63_RearrangementIsNoPhantom) {
	Transaction reader = table_.Insert(base_, {{900, 100, 0}});
	reader.reads.reads.push_back({Predicate::True(), nullptr, false});
	const Transaction moved = table_.Delete(base_, Equals("k", 2)), gone = table_.Delete(base_, Equals("k", 1));
	Transaction saw_the_row = table_.Insert(base_, {{901, 100, 0}});
	saw_the_row.reads.reads.push_back({Equals("k", 1), nullptr, false});
	Wins(Rearrange(table_, base_));
	Wins(reader);
	Wins(moved);
	base_ = table_.Latest();
	Wins(table_.Delete(base_, Equals("k", 1)));
	ExpectConflict(table_.Commit(saw_the_row), ConflictClass::kConcurrentDeleteRead);
	ExpectConflict(table_.Commit(gone), ConflictClass::kConcurrentDeleteDelete);
}

TEST_P(LostRace, RearrangementOfAnAppendStaysAnAppend) {
	const Transaction second = table_.Delete(base_, Equals("x", 3));
	Transaction foreign = table_.Insert(base_, {{200, 3, 0}});
	foreign.reads.reads.push_back({Equals("k", 777), nullptr, false});
	Wins(foreign);
	const SnapshotPtr before = table_.Latest();
	Transaction compact = table_.Begin(before, "OPTIMIZE");  // only the appended file
	compact.changes.data_change = false;
	compact.changes.replaced_files = {foreign.changes.new_files[0].add.path};
	compact.changes.new_files.push_back(table_.WriteFile({{200, 3, 0}}));
	Wins(compact);
	ExpectConflict(table_.Commit(second), ConflictClass::kConcurrentAppend);
}

TEST_P(LostRace, N60_FalseRearrangementCountsAsChange) {
	Transaction reader = table_.Insert(base_, {{900, 100, 0}});
	reader.reads.reads.push_back({Equals("k", 50), nullptr, false});
	Wins(Rearrange(table_, base_, 1));
	EXPECT_FALSE(table_.Commit(reader));
}

// ------------------------------------------------------------ copy-on-write

TEST_P(LostRace, N19_ReplacedFilesAreJudgedPerFile) {
	MemoryTable table(GetParam());
	const SnapshotPtr base =
		table.Create({{{1, 1, 0}, {2, 2, 0}}, {{3, 3, 0}}}, {{"delta.enableDeletionVectors", "false"}});
	const auto rewrite = [&](size_t file, const Rows& rows, int64_t key) {
		Transaction transaction = table.Begin(base, "UPDATE");
		transaction.reads.reads.push_back({Equals("k", key), nullptr, true});
		transaction.changes.replaced_files = {std::string(base->files->Files().at(file)->path)};
		transaction.changes.new_files.push_back(table.WriteFile(rows));
		return transaction;
	};
	const Transaction same_file = rewrite(0, {{1, 1, 0}, {2, 9, 0}}, 2), other_file = rewrite(1, {{3, 9, 0}}, 3);
	ASSERT_TRUE(table.Commit(rewrite(0, {{1, 9, 0}, {2, 2, 0}}, 1)));
	EXPECT_FALSE(table.Commit(same_file));
	ASSERT_TRUE(table.Commit(other_file));
	EXPECT_EQ(table.LiveRows(*table.Latest()), (Rows {{1, 9, 0}, {2, 2, 0}, {3, 9, 0}}));
}

TEST_P(LostRace, N20_RowsOfARewrittenFileAreNotDeletedTwice) {
	const Transaction second = table_.Delete(base_, Equals("k", 2));
	Transaction rewrite = table_.Begin(base_, "UPDATE");
	rewrite.reads.reads.push_back({Equals("k", 1), nullptr, true});
	rewrite.changes.replaced_files = {std::string(base_->files->Files().at(0)->path)};
	Rows rows = Hundred();
	rows[1].x = 100;
	rewrite.changes.new_files.push_back(table_.WriteFile(rows));
	Wins(rewrite);
	Wins(second);
	rows.erase(rows.begin() + 2);
	EXPECT_EQ(Now(), rows) << "its row was copied: found by its content";
}

}  // namespace
}  // namespace braid
