// SPDX-License-Identifier: Apache-2.0
// The promise and the trap of WriteSerializable: a blind append may be ignored, unless somebody who saw it has committed since.
#include <gtest/gtest.h>

#include "kernel/action/action_codec.h"
#include "kernel/log/log_path.h"
#include "tests/kernel/memory_table.h"

namespace braid {
namespace {

class WriteSerializable : public testing::Test {
protected:
	Transaction SetX(const SnapshotPtr& base, int64_t from, int64_t to) {
		return table_.Update(base, Equals("x", from), [to](Row& row) { row.x = to; });
	}
	void Wins(const Transaction& transaction) {
		const auto outcome = table_.Commit(transaction);
		ASSERT_TRUE(outcome) << outcome.error().message;
	}
	MemoryTable table_ {"WriteSerializable"};
	const Rows base_rows_ = {{0, 0, 0}, {1, 1, 0}, {3, 9, 0}};
};

TEST_F(WriteSerializable, N30_AReaderOfTheAppendHasCommitted) {
	const SnapshotPtr v0 = table_.Create({base_rows_});
	const Transaction last = SetX(v0, 9, 0);
	Wins(table_.Insert(v0, {{7, 9, 0}, {8, 0, 0}}));
	Wins(table_.Delete(table_.Latest(), Equals("x", 0)));
	ExpectConflict(table_.Commit(last), ConflictClass::kConcurrentAppend);
}

TEST_F(WriteSerializable, N30a_OnePossibleReaderNeverFails) {
	const SnapshotPtr v0 = table_.Create({base_rows_});
	const Transaction last = SetX(v0, 9, 0);
	Wins(table_.Insert(v0, {{7, 9, 0}}));
	Wins(table_.Delete(table_.Latest(), Equals("x", 0)));
	Wins(last);
	EXPECT_EQ(table_.LiveRows(*table_.Latest()), (Rows {{1, 1, 0}, {3, 0, 0}, {7, 9, 0}}));
}

TEST_F(WriteSerializable, N30b_TheCycleRunsThroughAThird) {
	const SnapshotPtr v0 = table_.Create({{{3, 9, 0}, {5, 5, 0}}});
	const Transaction third = SetX(v0, 5, 0), last = SetX(v0, 9, 5);
	Wins(table_.Insert(v0, {{7, 9, 0}, {8, 0, 0}}));
	Wins(table_.Delete(table_.Latest(), Equals("x", 0)));
	Wins(third);
	ExpectConflict(table_.Commit(last), ConflictClass::kConcurrentAppend);
}

TEST_F(WriteSerializable, N31_TheReaderDidNotSeeTheAppend) {
	const SnapshotPtr v0 = table_.Create({base_rows_});
	const Transaction last = SetX(v0, 9, 0), reader = table_.Delete(v0, Equals("x", 0));
	Wins(table_.Insert(v0, {{7, 9, 0}, {8, 0, 0}}));
	Wins(reader);
	Wins(last);
	EXPECT_EQ(table_.LiveRows(*table_.Latest()), (Rows {{1, 1, 0}, {3, 0, 0}, {7, 9, 0}, {8, 0, 0}}));
}

// The row that a non-blind winner added is gone again, but it was there when that winner committed: we cannot follow that winner. The net
// delta alone does not show it.
TEST_F(WriteSerializable, EveryWinnerCountsByItself) {
	const SnapshotPtr v0 = table_.Create({{{1, 1, 0}, {3, 9, 0}}});
	const Transaction last = SetX(v0, 9, 0);
	Wins(SetX(v0, 1, 9));
	Wins(table_.Insert(v0, {{7, 9, 0}}));
	Wins(table_.Delete(table_.Latest(), Equals("k", 1)));
	ExpectConflict(table_.Commit(last), ConflictClass::kConcurrentAppend);
}

// A foreign commit says nothing of what it read: it counts as having read the append.
TEST_F(WriteSerializable, WinnerWithoutRecordedReads) {
	const SnapshotPtr v0 = table_.Create({base_rows_});
	const Transaction last = SetX(v0, 9, 0);
	Wins(table_.Insert(v0, {{7, 9, 0}}));
	CommitInfo info;
	info.operation = "DELETE";
	info.engine_info = "another engine";
	Transaction erase = table_.Delete(table_.Latest(), Equals("x", 0));
	Wins(erase);
	std::string text = table_.CommitText(2);
	std::string foreign;
	AppendActionLine(info, foreign);
	ASSERT_TRUE(table_.memory.Put(CommitPath(2), foreign + text.substr(text.find('\n') + 1)));
	ExpectConflict(table_.Commit(last), ConflictClass::kConcurrentAppend);
}

TEST_F(WriteSerializable, AppendThatRemovesIsNotBlind) {
	const SnapshotPtr v0 = table_.Create({base_rows_});
	const Transaction last = table_.Delete(v0, Equals("x", 9));
	Transaction liar = SetX(v0, 1, 9);
	Wins(liar);
	std::string text = table_.CommitText(1);
	const std::string honest = "\"isBlindAppend\":false";
	ASSERT_NE(text.find(honest), std::string::npos);
	ASSERT_TRUE(
		table_.memory.Put(CommitPath(1), text.replace(text.find(honest), honest.size(), "\"isBlindAppend\":true")));
	ExpectConflict(table_.Commit(last), ConflictClass::kConcurrentAppend);
}

// The level may be raised while we run: the stricter one counts.
TEST_F(WriteSerializable, WinnerRaisesTheLevel) {
	const SnapshotPtr v0 = table_.Create({base_rows_});
	const Transaction last = SetX(v0, 9, 0);
	Transaction alter = table_.Begin(v0, "SET TBLPROPERTIES");
	alter.changes.metadata = v0->metadata;
	alter.changes.metadata->configuration["delta.isolationLevel"] = "Serializable";
	Wins(alter);
	Wins(table_.Insert(v0, {{7, 9, 0}}));
	ExpectConflict(table_.Commit(last), ConflictClass::kConcurrentAppend);
}

}  // namespace
}  // namespace braid
