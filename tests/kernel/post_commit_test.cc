// SPDX-License-Identifier: Apache-2.0
// Checksums and checkpoints after a commit: what stands in them, and that the commit stands without them.
#include <gtest/gtest.h>
#include <simdjson.h>

#include "kernel/action/action_codec.h"
#include "kernel/log/log_path.h"
#include "tests/kernel/memory_table.h"

namespace braid {
namespace {

class PostCommitTest : public testing::Test {
protected:
	void Wins(const Transaction& transaction) {
		const auto outcome = table_.Commit(transaction);
		ASSERT_TRUE(outcome) << outcome.error().message;
	}
	// Appends one row at a time up to the given version.
	void AppendTo(int64_t version) {
		while (table_.Latest()->version < version)
			Wins(table_.Insert(table_.Latest(), {{table_.Latest()->version + 100, 1, 0}}));
	}
	int Count(const std::string& text, const std::string& part) {
		int count = 0;
		for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) count++;
		return count;
	}
	std::string Checkpoint(int64_t version) { return table_.memory.Read(CheckpointPath(version)).value_or(""); }

	MemoryTable table_;
};

TEST_F(PostCommitTest, ChecksumCountsTheTable) {
	const SnapshotPtr base = table_.Create({{{1, 1, 0}, {2, 2, 0}}, {{3, 3, 0}}});
	Wins(table_.Delete(base, AnyOf("k", {1, 3})));
	simdjson::dom::parser parser;
	const simdjson::padded_string text(table_.memory.Read(ChecksumPath(1)).value());
	simdjson::dom::element checksum;
	ASSERT_EQ(parser.parse(text).get(checksum), simdjson::SUCCESS);
	EXPECT_EQ(int64_t(checksum["numFiles"]), 1);
	EXPECT_EQ(int64_t(checksum["tableSizeBytes"]), 102);
	EXPECT_EQ(int64_t(checksum["numMetadata"]), 1);
	EXPECT_EQ(int64_t(checksum["numProtocol"]), 1);
	EXPECT_EQ(int64_t(checksum["protocol"]["minReaderVersion"]), 3);
	EXPECT_EQ(std::string_view(checksum["metadata"]["id"]), base->metadata.id);
	EXPECT_NE(table_.CommitText(1).find(std::string_view(checksum["txnId"])), std::string::npos);
}

TEST_F(PostCommitTest, ChecksumIsNeverReplaced) {
	const SnapshotPtr base = table_.Create({{{1, 1, 0}}});
	ASSERT_TRUE(table_.memory.Put(ChecksumPath(1), "another writer's"));
	Wins(table_.Insert(base, {{2, 2, 0}}));
	EXPECT_EQ(table_.memory.Read(ChecksumPath(1)), "another writer's");
	for (const std::string& path : table_.memory.Paths()) EXPECT_EQ(path.find(".tmp-"), std::string::npos) << path;
}

TEST_F(PostCommitTest, CheckpointAtEveryInterval) {
	table_.Create({{{1, 1, 0}}}, {{"delta.checkpointInterval", "3"}});
	AppendTo(7);
	EXPECT_EQ(Checkpoint(2), "");
	EXPECT_NE(Checkpoint(3), "");
	EXPECT_NE(Checkpoint(6), "");
	EXPECT_EQ(Checkpoint(7), "");
	const std::string pointer = table_.memory.Read(kLastCheckpointPath).value();
	EXPECT_NE(pointer.find("\"version\":6,"), std::string::npos) << pointer;
	EXPECT_NE(pointer.find("\"size\":9,"), std::string::npos) << pointer;  // protocol, metadata, 7 files
	EXPECT_NE(pointer.find("\"numOfAddFiles\":7"), std::string::npos) << pointer;
}

TEST_F(PostCommitTest, TableReadsTheSameFromItsCheckpoint) {
	table_.Create({{{1, 1, 0}, {2, 2, 0}}, {{3, 3, 0}}}, {{"delta.checkpointInterval", "4"}});
	Wins(table_.Delete(table_.Latest(), AnyOf("k", {1, 3})));
	Transaction labelled = table_.Insert(table_.Latest(), {{5, 5, 0}});
	labelled.changes.set_transactions = {{"stream", 7, table_.clock.NowMs()}};
	Wins(labelled);
	AppendTo(5);
	const Rows rows = table_.LiveRows(*table_.Latest());
	for (int64_t version = 0; version <= 4; version++) ASSERT_TRUE(table_.memory.Delete(CommitPath(version)));
	const SnapshotPtr latest = table_.Latest();
	EXPECT_EQ(latest->checkpoint_version, 4);
	EXPECT_EQ(table_.LiveRows(*latest), rows);
	EXPECT_EQ(latest->set_transactions.at("stream").version, 7);
	Wins(table_.Delete(latest, Equals("k", 2)));  // the next writer goes on
}

TEST_F(PostCommitTest, TombstonesStayForTheRetentionAndNoLonger) {
	table_.Create({{{1, 1, 0}}, {{2, 2, 0}, {3, 3, 0}}},
				  {{"delta.checkpointInterval", "3"}, {"delta.deletedFileRetentionDuration", "interval 1 days"}});
	Wins(table_.Delete(table_.Latest(), Equals("k", 1)));
	table_.clock.SleepMs(25 * 3600 * 1000);
	Wins(table_.Delete(table_.Latest(), Equals("k", 2)));
	AppendTo(3);
	const std::string checkpoint = Checkpoint(3);
	EXPECT_EQ(Count(checkpoint, "{\"remove\""), 1) << checkpoint;
	EXPECT_NE(checkpoint.find("\"remove\":{\"path\":\"part-1.parquet\""), std::string::npos) << checkpoint;
	EXPECT_EQ(Count(checkpoint, "{\"add\""), 2) << checkpoint;
	EXPECT_EQ(Count(checkpoint, "commitInfo"), 0);
	EXPECT_EQ(Count(checkpoint, "\"dataChange\":true"), 0);
}

TEST_F(PostCommitTest, ExpiredApplicationsAreForgotten) {
	table_.Create({{{1, 1, 0}}},
				  {{"delta.checkpointInterval", "2"}, {"delta.setTransactionRetentionDuration", "interval 1 hours"}});
	Transaction labelled = table_.Insert(table_.Latest(), {{5, 5, 0}});
	labelled.changes.set_transactions = {{"old", 1, table_.clock.NowMs() - 7'200'000},
										 {"young", 2, table_.clock.NowMs()}};
	Wins(labelled);
	AppendTo(2);
	EXPECT_EQ(Count(Checkpoint(2), "\"appId\":\"old\""), 0);
	EXPECT_EQ(Count(Checkpoint(2), "\"appId\":\"young\""), 1);
}

TEST_F(PostCommitTest, CommitStandsWhenTheCheckpointFails) {
	table_.Create({{{1, 1, 0}}}, {{"delta.checkpointInterval", "2"}});
	AppendTo(1);
	table_.store.FailNth(StoreOperation::kMoveIfAbsent, 1, ErrorKind::kNoSpace);
	table_.store.FailNth(StoreOperation::kMoveIfAbsent, 2, ErrorKind::kNoSpace);
	AppendTo(2);
	EXPECT_TRUE(table_.store.AllFired());
	EXPECT_EQ(Checkpoint(2), "");
	EXPECT_FALSE(table_.memory.Read(kLastCheckpointPath));
	for (const std::string& path : table_.memory.Paths()) EXPECT_EQ(path.find(".tmp-"), std::string::npos) << path;
	AppendTo(4);
	EXPECT_NE(Checkpoint(4), "");
}

}  // namespace
}  // namespace braid
