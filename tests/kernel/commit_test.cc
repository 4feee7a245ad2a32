// SPDX-License-Identifier: Apache-2.0
// What a commit looks like on disk: action set, commitInfo, vectors, row ids, timestamps, metrics.
#include <gtest/gtest.h>

#include "kernel/action/action_codec.h"
#include "kernel/deletion/dv_file.h"
#include "tests/kernel/memory_table.h"

namespace braid {
namespace {

template <class Kind>
std::vector<Kind> Find(MemoryTable& table, int64_t version) {
	std::vector<Kind> found;
	const Status parsed = ParseCommit(table.CommitText(version), "commit", [&](Action&& action) -> Status {
		if (auto* hit = std::get_if<Kind>(&action)) found.push_back(std::move(*hit));
		return {};
	});
	EXPECT_TRUE(parsed) << parsed.error().message;
	return found;
}
CommitInfo InfoOf(MemoryTable& table, int64_t version) {
	const auto infos = Find<CommitInfo>(table, version);
	EXPECT_EQ(infos.size(), 1u);
	EXPECT_TRUE(table.CommitText(version).starts_with("{\"commitInfo\":")) << "commitInfo comes first";
	return infos.empty() ? CommitInfo {} : infos[0];
}

const Rows kRows = {{1, 1, 0}, {2, 2, 0}, {3, 3, 0}};

// Every second row of a file this long makes a vector that does not fit into the log.
Rows Many() {
	Rows rows;
	for (int64_t k = 0; k < 1000; k++) rows.push_back({k, k % 2, k % 3});
	return rows;
}

class CommitTest : public testing::Test {
protected:
	CommitOutcome Wins(const Transaction& transaction) {
		auto outcome = table_.Commit(transaction);
		EXPECT_TRUE(outcome) << outcome.error().message;
		return outcome ? *outcome : CommitOutcome {};
	}
	std::vector<std::string> VectorFiles() {
		std::vector<std::string> files = table_.memory.Paths();
		std::erase_if(files,
					  [](const std::string& path) { return path.find("deletion_vector_") == std::string::npos; });
		return files;
	}
	MemoryTable table_;
};

TEST_F(CommitTest, CreationIsVersionZero) {
	const SnapshotPtr base = table_.Create({kRows});
	ASSERT_TRUE(base);
	EXPECT_EQ(base->version, 0);
	const CommitInfo info = InfoOf(table_, 0);
	EXPECT_EQ(info.operation, "CREATE TABLE AS SELECT");
	EXPECT_EQ(info.read_version, std::nullopt);
	EXPECT_EQ(info.isolation_level, "WriteSerializable");
	EXPECT_EQ(table_.LiveRows(*table_.Latest()), kRows);
}

TEST_F(CommitTest, CreationThatLostTheRace) {
	const Transaction second = table_.Creation({kRows});
	table_.Create({kRows});
	const ConflictReport report = ExpectConflict(table_.Commit(second), ConflictClass::kProtocolChanged);
	EXPECT_EQ(report.sub_condition, "WRITE_TO_EMPTY_DIRECTORY");
	EXPECT_FALSE(report.retry_would_help);
}

// CREATE TABLE IF NOT EXISTS: the rows go into the table of the other; what is not the same table, or was looked at, stays a conflict.
TEST_F(CommitTest, CreationIfNotExistsJoinsTheSameTable) {
	Transaction second = table_.Creation({kRows});
	second.create_if_not_exists = true;
	second.changes.metadata->id = "00000000-0000-4000-8000-000000000002";
	Transaction nothing = second, reader = second, other = second;
	nothing.changes.new_files.clear();
	reader.reads.reads.push_back({});
	other.changes.metadata->partition_columns = {"x"};
	table_.Create({kRows});
	EXPECT_EQ(Wins(nothing).version, 0);  // it is there
	ExpectConflict(table_.Commit(reader), ConflictClass::kProtocolChanged);
	ExpectConflict(table_.Commit(other), ConflictClass::kProtocolChanged);
	const CommitOutcome outcome = Wins(second);
	EXPECT_EQ(outcome.version, 1);
	EXPECT_EQ(outcome.winners, 1);
	EXPECT_EQ(Find<Metadata>(table_, 1).size(), 0u);
	EXPECT_EQ(InfoOf(table_, 1).operation, "WRITE");
	EXPECT_EQ(table_.LiveRows(*table_.Latest()).size(), 2 * kRows.size());
}

// CREATE TABLE IF NOT EXISTS ... SHALLOW CLONE: whatever the other has made.
TEST_F(CommitTest, CreationThatYieldsDoesNothing) {
	Transaction second = table_.Creation({});
	second.yields_to_creator = true;
	second.changes.metadata->partition_columns = {"x"};
	second.changes.entries.push_back({.path = "file:///elsewhere/a", .size = 1, .data_change = true});
	table_.Create({kRows});
	const CommitOutcome outcome = Wins(second);
	EXPECT_EQ(outcome.version, 0);
	EXPECT_EQ(table_.CommitText(1), "");
	EXPECT_EQ(table_.LiveRows(*outcome.snapshot), kRows);
}

TEST_F(CommitTest, EmptyTransactionCommitsNothing) {
	const SnapshotPtr base = table_.Create({kRows});
	const CommitOutcome outcome = Wins(table_.Begin(base, "DELETE"));
	EXPECT_EQ(outcome.version, 0);
	EXPECT_EQ(outcome.snapshot, base);
	EXPECT_EQ(table_.CommitText(1), "");
}

TEST_F(CommitTest, DeleteRemovesAndAddsTheFileWithItsVector) {
	const SnapshotPtr base = table_.Create({kRows});
	const CommitOutcome outcome = Wins(table_.Delete(base, Equals("k", 2)));
	EXPECT_EQ(outcome.attempts, 1);
	const auto adds = Find<AddFile>(table_, 1);
	const auto removes = Find<RemoveFile>(table_, 1);
	ASSERT_EQ(adds.size(), 1u);
	ASSERT_EQ(removes.size(), 1u);
	const LiveFile* before = base->files->Files().at(0);
	EXPECT_EQ(removes[0].path, before->path);
	EXPECT_EQ(removes[0].deletion_vector, std::nullopt);
	EXPECT_EQ(removes[0].size, before->size);
	EXPECT_TRUE(removes[0].extended_file_metadata);
	EXPECT_TRUE(removes[0].data_change);
	EXPECT_EQ(removes[0].deletion_timestamp, table_.clock.NowMs());
	EXPECT_EQ(adds[0].path, before->path);
	EXPECT_EQ(adds[0].size, before->size);
	EXPECT_EQ(adds[0].modification_time, before->modification_time);
	EXPECT_EQ(adds[0].deletion_vector->cardinality, 1);
	EXPECT_NE(adds[0].stats.find("\"numRecords\":3"), std::string::npos) << adds[0].stats;
	EXPECT_NE(adds[0].stats.find("\"tightBounds\":false"), std::string::npos) << adds[0].stats;
	const CommitInfo info = InfoOf(table_, 1);
	EXPECT_EQ(info.read_version, 0);
	EXPECT_EQ(info.is_blind_append, false);
	EXPECT_EQ(info.txn_id, outcome.txn_id);
	EXPECT_EQ(info.operation_metrics.at("numDeletionVectorsAdded"), "1");
	EXPECT_EQ(info.operation_metrics.at("numDeletionVectorsUpdated"), "0");
	EXPECT_EQ(info.operation_metrics.at("numRemovedFiles"), "0");
	EXPECT_EQ(info.operation_metrics.at("commitAttempts"), "1");
	EXPECT_NE(info.reads.find("\"k\""), std::string::npos) << info.reads;
}

TEST_F(CommitTest, SecondDeleteNamesTheFirstVector) {
	table_.Create({kRows});
	Wins(table_.Delete(table_.Latest(), Equals("k", 2)));
	Wins(table_.Delete(table_.Latest(), Equals("k", 3)));
	EXPECT_EQ(Find<RemoveFile>(table_, 2).at(0).deletion_vector, Find<AddFile>(table_, 1).at(0).deletion_vector);
	EXPECT_EQ(Find<AddFile>(table_, 2).at(0).deletion_vector->cardinality, 2);
	EXPECT_EQ(InfoOf(table_, 2).operation_metrics.at("numDeletionVectorsUpdated"), "1");
	Wins(table_.Delete(table_.Latest(), Equals("k", 1)));
	EXPECT_EQ(Find<AddFile>(table_, 3).size(), 0u);
	EXPECT_EQ(InfoOf(table_, 3).operation_metrics.at("numRemovedFiles"), "1");
	EXPECT_EQ(table_.Latest()->files->size(), 0u);
}

TEST_F(CommitTest, AppendIsBlindAndSaysSo) {
	const SnapshotPtr base = table_.Create({kRows});
	Wins(table_.Insert(base, {{4, 4, 0}, {5, 5, 0}}));
	const CommitInfo info = InfoOf(table_, 1);
	EXPECT_EQ(info.is_blind_append, true);
	EXPECT_EQ(info.reads, "[]");
	EXPECT_EQ(info.operation_metrics.at("numFiles"), "1");
	EXPECT_EQ(info.operation_metrics.at("numOutputRows"), "2");
	EXPECT_EQ(info.operation_parameters.at("mode"), "\"Append\"");
}

TEST_F(CommitTest, RowsOfOwnNewFilesThatAreDeletedAgain) {
	const SnapshotPtr base = table_.Create({kRows});
	Transaction transaction = table_.Insert(base, {{4, 4, 0}, {5, 5, 0}});
	transaction.changes.new_files[0].deleted = {0};
	transaction.changes.new_files.push_back(table_.WriteFile({{6, 6, 0}}));
	transaction.changes.new_files[1].deleted = {0};
	transaction.reads.reads.push_back({AnyOf("k", {4, 6}), nullptr, true});
	const std::string dropped = transaction.changes.new_files[1].add.path;
	Wins(transaction);
	const auto adds = Find<AddFile>(table_, 1);
	ASSERT_EQ(adds.size(), 1u) << "a file without rows is not added";
	EXPECT_EQ(adds[0].deletion_vector->cardinality, 1);
	EXPECT_FALSE(table_.memory.Stat(dropped)) << "and does not stay on storage";
	EXPECT_EQ(table_.LiveRows(*table_.Latest()), (Rows {{1, 1, 0}, {2, 2, 0}, {3, 3, 0}, {5, 5, 0}}));
}

TEST_F(CommitTest, EverythingIsDurableBeforeTheCommit) {
	table_.Create({Many()});
	Wins(table_.Update(table_.Latest(), Equals("x", 1), [](Row& row) { row.y = 7; }));
	ASSERT_EQ(VectorFiles().size(), 1u);
	table_.memory.LosePower();
	EXPECT_EQ(table_.LiveRows(*table_.Latest()).size(), 1000u);
	const SnapshotPtr latest = table_.Latest();
	for (const LiveFile* file : latest->files->Files()) EXPECT_TRUE(table_.memory.Stat(file->path));
}

TEST_F(CommitTest, LosersVectorFileDoesNotStay) {
	const SnapshotPtr base = table_.Create({Many()});
	const Transaction second = table_.Delete(base, Predicate::And({Equals("x", 1), Equals("y", 1)}));
	const Transaction clash = table_.Delete(base, Equals("x", 0));
	// The winner comes between our vectors and our commit, so that our first vector is stale.
	table_.store.BeforeNth(StoreOperation::kPutIfAbsent, 1, [&] {
		auto outcome = Commit({table_.memory, table_.parquet, table_.probe, table_.clock, table_.random, {}, {}},
							  table_.Delete(base, Equals("x", 0)));
		ASSERT_TRUE(outcome) << outcome.error().message;
	});
	const CommitOutcome outcome = Wins(second);
	EXPECT_EQ(outcome.version, 2);
	EXPECT_EQ(outcome.attempts, 2);
	EXPECT_EQ(VectorFiles().size(), 2u) << "the winner's and the united one";
	EXPECT_EQ(InfoOf(table_, 2).operation_metrics.at("numConflictsResolved"), "1");
	ExpectConflict(table_.Commit(clash), ConflictClass::kConcurrentDeleteDelete);
	EXPECT_EQ(VectorFiles().size(), 2u);
}

// A transaction that fails at its second attempt has written a vector at its first.
TEST_F(CommitTest, FailedTransactionLeavesNoVectorFile) {
	const SnapshotPtr base = table_.Create({Many()});
	const Transaction second = table_.Delete(base, Equals("x", 1));
	table_.store.BeforeNth(StoreOperation::kPutIfAbsent, 1, [&] {
		auto outcome = Commit({table_.memory, table_.parquet, table_.probe, table_.clock, table_.random, {}, {}},
							  table_.Delete(base, Equals("k", 1)));
		ASSERT_TRUE(outcome) << outcome.error().message;
	});
	ExpectConflict(table_.Commit(second), ConflictClass::kConcurrentDeleteDelete);
	EXPECT_TRUE(VectorFiles().empty());
}

TEST_F(CommitTest, FileWithoutNumRecordsNeedsItForAVector) {
	Transaction creation = table_.Creation({kRows});
	creation.changes.new_files[0].add.stats = "";
	Wins(creation);
	Transaction erase = table_.Delete(table_.Latest(), Equals("k", 2));
	const auto refused = table_.Commit(erase);
	ASSERT_FALSE(refused);
	EXPECT_NE(refused.error().message.find("DELTA_DELETION_VECTOR_MISSING_NUM_RECORDS"), std::string::npos);
	erase.changes.physical_rows[creation.changes.new_files[0].add.path] = 3;
	Wins(erase);
	EXPECT_NE(Find<AddFile>(table_, 1).at(0).stats.find("\"numRecords\":3"), std::string::npos);
}

TEST_F(CommitTest, VectorsNeedTheTablesConsent) {
	const SnapshotPtr base = table_.Create({kRows}, {{"delta.enableDeletionVectors", "false"}});
	const auto outcome = table_.Commit(table_.Delete(base, Equals("k", 2)));
	ASSERT_FALSE(outcome);
	EXPECT_EQ(outcome.error().kind, ErrorKind::kUnsupported);
	Wins(table_.Delete(base, Predicate::True()));  // a whole file needs none
}

// Scenarios 90 to 95.
TEST_F(CommitTest, RowIdsContinueAndStay) {
	Transaction creation = table_.Creation({kRows}, {{"delta.enableRowTracking", "true"}});
	for (const char* feature : {"rowTracking", "domainMetadata"})
		creation.changes.protocol->writer_features->push_back(feature);
	Wins(creation);
	const SnapshotPtr base = table_.Latest();
	EXPECT_EQ(base->files->Files().at(0)->base_row_id, 0);
	const Transaction second = table_.Insert(base, {{8, 8, 0}}), third = table_.Delete(base, Equals("k", 1));
	Wins(table_.Insert(base, {{4, 4, 0}, {5, 5, 0}}));
	Wins(second);
	EXPECT_EQ(Find<AddFile>(table_, 2).at(0).base_row_id, 5);
	EXPECT_EQ(Find<AddFile>(table_, 2).at(0).default_row_commit_version, 2);
	EXPECT_EQ(Find<DomainMetadata>(table_, 2).at(0).configuration, "{\"rowIdHighWaterMark\":5}");
	Wins(third);
	EXPECT_EQ(Find<AddFile>(table_, 3).at(0).base_row_id, 0);
	EXPECT_EQ(Find<AddFile>(table_, 3).at(0).default_row_commit_version, 0);
	EXPECT_TRUE(Find<DomainMetadata>(table_, 3).empty());
}

// Scenario 96: a clock that runs behind.
TEST_F(CommitTest, InCommitTimestampsGrow) {
	Transaction creation = table_.Creation({kRows}, {{"delta.enableInCommitTimestamps", "true"}});
	creation.changes.protocol->writer_features->push_back("inCommitTimestamp");
	Wins(creation);
	const SnapshotPtr base = table_.Latest();
	const Transaction second = table_.Insert(base, {{5, 5, 0}});
	Wins(table_.Insert(base, {{4, 4, 0}}));
	Wins(second);
	const int64_t first = *InfoOf(table_, 0).in_commit_timestamp;
	EXPECT_EQ(first, table_.clock.NowMs());
	EXPECT_EQ(InfoOf(table_, 1).in_commit_timestamp, first + 1);
	EXPECT_EQ(InfoOf(table_, 2).in_commit_timestamp, first + 2);
	EXPECT_TRUE(table_.CommitText(2).starts_with("{\"commitInfo\":{\"inCommitTimestamp\":"));
}

TEST_F(CommitTest, LongReadsAreRecordedWide) {
	const SnapshotPtr base = table_.Create({kRows});
	Transaction transaction = table_.Insert(base, {{9, 9, 9}});
	for (int64_t i = 0; i < 100; i++) {
		std::vector<int64_t> keys;
		for (int64_t k = 0; k < 1000; k++) keys.push_back(10'000 + i * 5000 + 2 * k);
		transaction.reads.reads.push_back({AnyOf("k", keys), nullptr, false});
	}
	Wins(transaction);
	EXPECT_LE(InfoOf(table_, 1).reads.size(), 17u * 1024);
	EXPECT_EQ(InfoOf(table_, 1).is_blind_append, false);
}

TEST_F(CommitTest, OnePathIsStagedForOneThing) {
	const SnapshotPtr base = table_.Create({kRows});
	const std::string path(base->files->Files().at(0)->path);
	Transaction both = table_.Delete(base, Equals("k", 1));
	both.changes.replaced_files = {path};
	Transaction again = table_.Insert(base, {{4, 4, 0}});
	again.changes.new_files.push_back(again.changes.new_files[0]);
	Transaction active = table_.Insert(base, {{4, 4, 0}});
	active.changes.new_files[0].add.path = path;
	for (const Transaction& transaction : {both, again, active}) {
		const auto outcome = table_.Commit(transaction);
		ASSERT_FALSE(outcome);
		EXPECT_EQ(outcome.error().kind, ErrorKind::kInvalidArgument);
	}
	EXPECT_EQ(table_.CommitText(1), "");
}

// ------------------------------------------------------------ gates

TEST_F(CommitTest, MetadataOfAWinnerFailsEverybody) {
	const SnapshotPtr base = table_.Create({kRows});
	const Transaction insert = table_.Insert(base, {{4, 4, 0}}), erase = table_.Delete(base, Equals("k", 1));
	Transaction alter = table_.Begin(base, "SET TBLPROPERTIES");
	alter.changes.metadata = base->metadata;
	Wins(alter);  // the same metadata again harms nobody
	Wins(table_.Insert(base, {{5, 5, 0}}));
	alter.base = table_.Latest();
	alter.changes.metadata->configuration["delta.appendOnly"] = "true";
	Wins(alter);
	ExpectConflict(table_.Commit(insert), ConflictClass::kMetadataChanged);
	ExpectConflict(table_.Commit(erase), ConflictClass::kMetadataChanged);
}

TEST_F(CommitTest, ProtocolOfAWinnerFailsEverybody) {  // unless it is on the list of adoption.h
	const SnapshotPtr base = table_.Create({kRows});
	const Transaction insert = table_.Insert(base, {{4, 4, 0}});
	Transaction upgrade = table_.Begin(base, "UPGRADE PROTOCOL");
	upgrade.changes.protocol = base->protocol;
	upgrade.changes.protocol->writer_features->push_back("clustering");
	Wins(upgrade);
	EXPECT_EQ(ExpectConflict(table_.Commit(insert), ConflictClass::kProtocolChanged).sub_condition,
			  "CONFLICTING_COMMIT");
}

TEST_F(CommitTest, OneApplicationTwice) {
	const SnapshotPtr base = table_.Create({kRows});
	Transaction first = table_.Insert(base, {{4, 4, 0}}), second = table_.Insert(base, {{4, 4, 0}}), other = first;
	first.changes.set_transactions = second.changes.set_transactions = {{"stream", 7, std::nullopt}};
	other.changes.set_transactions = {{"other", 1, std::nullopt}};
	Wins(first);
	ExpectConflict(table_.Commit(second), ConflictClass::kConcurrentTransaction);
	Wins(other);
}

TEST_F(CommitTest, RestoreAllowsNoWinner) {
	const SnapshotPtr base = table_.Create({kRows});
	Transaction restore = table_.Begin(base, "RESTORE");
	restore.changes.new_files.push_back(table_.WriteFile(kRows));
	Wins(table_.Insert(base, {{4, 4, 0}}));
	ExpectConflict(table_.Commit(restore), ConflictClass::kConcurrentWrite);
}

// ------------------------------------------------------------ budgets

TEST_F(CommitTest, SpentBudgetIsNeverASilentAccept) {
	Rows rows;
	for (int64_t k = 0; k < 10; k++) rows.push_back({k, k, 0});
	MemoryTable table("Serializable");
	const SnapshotPtr base = table.Create({rows});
	const Transaction wide = table.Delete(base, Predicate::Or({Equals("x", 3), Equals("y", 5)}));
	const Transaction narrow = table.Delete(base, Equals("x", 4));
	for (int i = 0; i < 40; i++) ASSERT_TRUE(table.Commit(table.Insert(base, {{100 + i, 2, 0}, {200 + i, 5, 9}})));
	table.options.conflict_time_budget_ms = 10;
	table.probe.on_match = [&] { table.clock.SleepMs(50); };
	const ConflictReport report = ExpectConflict(table.Commit(wide), ConflictClass::kConcurrentAppend);
	EXPECT_EQ(report.sub_condition, "ALLOTTED_TIME_EXCEEDED");
	table.options.conflict_time_budget_ms = 1000;
	EXPECT_TRUE(table.Commit(narrow));
}

// A race that is lost again and again ends at the commit timeout.
TEST_F(CommitTest, LosesUntilTheTimeout) {
	const SnapshotPtr base = table_.Create({kRows});
	const Transaction insert = table_.Insert(base, {{4, 4, 0}});
	table_.options.commit_timeout_ms = 50;
	for (int n = 1; n <= 100; n++) {
		table_.store.BeforeNth(StoreOperation::kPutIfAbsent, n, [&] {
			EXPECT_TRUE(Commit({table_.memory, table_.parquet, table_.probe, table_.clock, table_.random, {}, {}},
							   table_.Insert(table_.Latest(), {{100, 0, 0}})));
		});
	}
	const ConflictReport report = ExpectConflict(table_.Commit(insert), ConflictClass::kConcurrentWrite);
	EXPECT_NE(report.rule.find("50 ms"), std::string::npos) << report.rule;
	EXPECT_EQ(table_.LiveRows(*table_.Latest()).size(), 3u + static_cast<size_t>(table_.Latest()->version));
}

// Scenario 102: many winners, a checkpoint among them, are met one by one.
TEST_F(CommitTest, ManyWinnersAndACheckpoint) {
	const SnapshotPtr base = table_.Create({Many()});
	const Transaction erase = table_.Delete(base, Equals("k", 900));
	const Transaction clash = table_.Delete(base, Equals("k", 13));
	for (int64_t k = 0; k < 25; k++) Wins(table_.Delete(table_.Latest(), Equals("k", k)));
	EXPECT_TRUE(table_.memory.Stat("_delta_log/00000000000000000010.checkpoint.parquet"));
	const CommitOutcome outcome = Wins(erase);
	EXPECT_EQ(outcome.winners, 25);
	EXPECT_EQ(outcome.snapshot->files->Files().at(0)->deletion_vector->cardinality, 26);
	EXPECT_EQ(ExpectConflict(table_.Commit(clash), ConflictClass::kConcurrentDeleteDelete).winner_version, 14);
}

TEST_F(CommitTest, InterruptedBeforeItBegins) {
	const SnapshotPtr base = table_.Create({kRows});
	const auto outcome =
		Commit({table_.store, table_.parquet, table_.probe, table_.clock, table_.random, {}, [] { return true; }},
			   table_.Insert(base, {{4, 4, 0}}));
	ASSERT_FALSE(outcome);
	EXPECT_EQ(outcome.error().kind, ErrorKind::kInterrupted);
	EXPECT_EQ(table_.CommitText(1), "");
}

TEST_F(CommitTest, TableMadeAnewIsNotTheOneThatWasRead) {
	const SnapshotPtr base = table_.Create({kRows});
	Wins(table_.Insert(base, {{4, 4, 0}}));
	const Transaction late = table_.Insert(table_.Latest(), {{5, 5, 0}});
	const auto drop = [&] {
		for (const std::string& path : table_.memory.Paths()) ASSERT_TRUE(table_.memory.Delete(path));
	};
	drop();
	auto outcome = table_.Commit(late);
	ASSERT_FALSE(outcome);
	EXPECT_NE(outcome.error().message.find("dropped or made anew"), std::string::npos) << outcome.error().message;
	table_.clock.SleepMs(5);
	table_.Create({{{9, 9, 9}}});
	EXPECT_FALSE(table_.Commit(late)) << "version 2 of the new table would have no version 1";
	Wins(table_.Insert(table_.Latest(), {{4, 4, 0}}));
	EXPECT_FALSE(table_.Commit(late)) << "version 1 is another one";
	EXPECT_EQ(table_.Latest()->version, 1);
}

// The log was cleaned up to a checkpoint at the version that we read: nothing is missing.
TEST_F(CommitTest, CheckpointStandsForACleanedCommit) {
	table_.Create({kRows}, {{"delta.checkpointInterval", "2"}});
	for (int64_t k = 10; k < 12; k++) Wins(table_.Insert(table_.Latest(), {{k, k, 0}}));
	const Transaction late = table_.Delete(table_.Latest(), Equals("k", 1));
	for (const char* version : {"0", "1", "2"}) {
		ASSERT_TRUE(table_.memory.Delete("_delta_log/0000000000000000000" + std::string(version) + ".json"));
	}
	Wins(late);
	EXPECT_EQ(table_.LiveRows(*table_.Latest()), (Rows {{2, 2, 0}, {3, 3, 0}, {10, 10, 0}, {11, 11, 0}}));
}

// Scenario 103.
TEST_F(CommitTest, CommitsThatWereCleanedUpCannotBeChecked) {
	const SnapshotPtr base = table_.Create({kRows});
	const Transaction late = table_.Delete(base, Equals("k", 1));
	for (int64_t k = 10; k < 15; k++) Wins(table_.Insert(table_.Latest(), {{k, k, 0}}));
	for (const char* version : {"0", "1", "2"}) {
		ASSERT_TRUE(table_.memory.Delete("_delta_log/0000000000000000000" + std::string(version) + ".json"));
	}
	const auto outcome = table_.Commit(late);
	ASSERT_FALSE(outcome);
	EXPECT_NE(outcome.error().message.find("gone from the log"), std::string::npos) << outcome.error().message;
	EXPECT_EQ(table_.CommitText(1), "");
}

}  // namespace
}  // namespace braid
