// SPDX-License-Identifier: Apache-2.0
// Loading, refreshing and extending snapshots of logs made by hand: replay rules, checkpoints and their failures, gaps, compaction.
#include "kernel/snapshot/snapshot.h"

#include <gtest/gtest.h>

#include "tests/kernel/test_log.h"

namespace braid {
namespace {

const std::string kStart = kProtocolLine + MetadataLine();

SnapshotPtr Load(TestLog& log, std::optional<int64_t> version = std::nullopt) {
	Result<SnapshotPtr> snapshot = LoadSnapshot(log.source(), version);
	if (!snapshot) ADD_FAILURE() << snapshot.error().message;
	return snapshot ? *snapshot : nullptr;
}

void ExpectError(const Result<SnapshotPtr>& result, ErrorKind kind, const std::vector<std::string>& parts) {
	ASSERT_FALSE(result);
	EXPECT_EQ(static_cast<int>(result.error().kind), static_cast<int>(kind)) << result.error().message;
	for (const std::string& part : parts) {
		EXPECT_NE(result.error().message.find(part), std::string::npos)
			<< part << " is not in: " << result.error().message;
	}
}

TEST(Snapshot, ReplaysAddsAndRemovesInOrder) {
	TestLog log;
	log.Commit(0, kStart + AddLine("a", 1) + AddLine("b", 2));
	log.Commit(1, RemoveLine("a") + AddLine("c", 4));
	log.Commit(2, AddLine("a", 8));
	const SnapshotPtr snapshot = Load(log);
	EXPECT_EQ(snapshot->version, 2);
	EXPECT_EQ(Paths(snapshot), "b c a");
	EXPECT_EQ(snapshot->files->total_bytes(), 14);
	EXPECT_EQ(snapshot->timestamp, 1'700'000'002'000);
	EXPECT_EQ(Paths(Load(log, 0)), "a b");
	EXPECT_EQ(Paths(Load(log, 1)), "b c");
	EXPECT_EQ(snapshot->files->Find("a")->size, 8);
	EXPECT_EQ(snapshot->files->Find("d"), nullptr);
}

TEST(Snapshot, PathsAreComparedDecoded) {
	TestLog log;
	log.Commit(0, kStart + AddLine("p=a%20b/x") + AddLine("file:///abs/y%25") + AddLine("z%2"));
	const SnapshotPtr first = Load(log);
	EXPECT_NE(first->files->Find("p=a b/x"), nullptr);
	EXPECT_NE(first->files->Find("/abs/y%"), nullptr);
	log.Commit(1, RemoveLine("p=a b/x") + RemoveLine("file:/abs/y%25") + RemoveLine("z%2"));
	EXPECT_EQ(Load(log)->files->size(), 0U);
}

// PROTOCOL: Action Reconciliation: a file is its path and its deletion vector.
TEST(Snapshot, AFileWithAnotherVectorIsAnotherLogicalFile) {
	TestLog log;
	log.Commit(0, kStart + AddLine("a"));
	log.Commit(1, AddLine("a", 10, Dv("v1", 3)) + RemoveLine("a"));
	const SnapshotPtr one = Load(log);
	ASSERT_EQ(one->files->size(), 1U);
	ASSERT_NE(one->files->Find("a")->deletion_vector, nullptr);
	EXPECT_EQ(one->files->Find("a")->deletion_vector->cardinality, 3);
	log.Commit(2, RemoveLine("a", Dv("v1")) + AddLine("a", 10, Dv("v2", 5)));
	EXPECT_EQ(Load(log)->files->Find("a")->deletion_vector->path_or_inline_dv, "v2");
	log.Commit(3, RemoveLine("a", Dv("v1")));
	EXPECT_EQ(Load(log)->files->size(), 1U) << "a remove of an older vector does not touch the file";
	log.Commit(4, RemoveLine("a", Dv("v2")));
	EXPECT_EQ(Load(log)->files->size(), 0U);
}

TEST(Snapshot, ReAddWithoutRemoveReplaces) {
	TestLog log;
	log.Commit(0, kStart + AddLine("a", 1));
	log.Commit(1, AddLine("a", 1, R"(,"stats":"{\"numRecords\":7}")"));
	const SnapshotPtr snapshot = Load(log);
	EXPECT_EQ(snapshot->files->size(), 1U);
	EXPECT_EQ(snapshot->files->Find("a")->stats, R"({"numRecords":7})");
}

TEST(Snapshot, KeepsTransactionsDomainsAndTombstones) {
	TestLog log;
	log.Commit(0, kStart +
					  R"({"txn":{"appId":"s","version":3}})"
					  "\n"
					  R"({"domainMetadata":{"domain":"d","configuration":"{}","removed":false}})"
					  "\n" +
					  AddLine("a"));
	log.Commit(1, R"({"txn":{"appId":"s","version":4,"lastUpdated":9}})"
				  "\n" +
					  RemoveLine("a"));
	log.Commit(2, R"({"domainMetadata":{"domain":"d","configuration":"","removed":true}})"
				  "\n");
	const SnapshotPtr snapshot = Load(log);
	EXPECT_EQ(snapshot->set_transactions.at("s").version, 4);
	EXPECT_TRUE(snapshot->domains.empty());
	EXPECT_EQ(Load(log, 1)->domains.size(), 1U);
	ASSERT_EQ(snapshot->tombstones.size(), 1U);
	EXPECT_EQ(snapshot->tombstones[0]->front()->path, "a");
}

TEST(Snapshot, NamesWhatIsMissing) {
	TestLog empty;
	ExpectError(LoadSnapshot(empty.source()), ErrorKind::kNotFound, {"lake/t", "not a Delta table"});
	TestLog gap;
	gap.Commit(0, kStart);
	gap.Commit(2, AddLine("a"));
	ExpectError(LoadSnapshot(gap.source()), ErrorKind::kCorrupt, {"lake/t", "commit 1", "version 2"});
	EXPECT_EQ(Load(gap, 0)->version, 0);
	TestLog late;
	late.Commit(1, kStart);
	ExpectError(LoadSnapshot(late.source()), ErrorKind::kCorrupt, {"commit 0"});
	TestLog no_metadata;
	no_metadata.Commit(0, kProtocolLine);
	ExpectError(LoadSnapshot(no_metadata.source()), ErrorKind::kCorrupt, {"no metaData", "version 0"});
	TestLog no_protocol;
	no_protocol.Commit(0, MetadataLine());
	ExpectError(LoadSnapshot(no_protocol.source()), ErrorKind::kCorrupt, {"no protocol"});
}

TEST(Snapshot, RefusesContradictions) {
	TestLog twice;
	twice.Commit(0, kStart + AddLine("a") + AddLine("a"));
	ExpectError(LoadSnapshot(twice.source()), ErrorKind::kCorrupt, {"version 0", "file a is added twice"});
	TestLog metadata;
	metadata.Commit(0, kStart + MetadataLine());
	ExpectError(LoadSnapshot(metadata.source()), ErrorKind::kCorrupt, {"two metaData"});
	TestLog protocols;
	protocols.Commit(0, kStart + kProtocolLine);
	ExpectError(LoadSnapshot(protocols.source()), ErrorKind::kCorrupt, {"two protocol"});
	TestLog garbled;
	garbled.Commit(0, kStart);
	garbled.Commit(1, AddLine("a") + "{\"add\":{\"path\":\"b\"\n");
	ExpectError(LoadSnapshot(garbled.source()), ErrorKind::kCorrupt,
				{"lake/t", "version 1", "00000000000000000001.json", "line 2"});
}

TEST(Snapshot, VersionsThatDoNotExist) {
	TestLog log;
	log.Commit(0, kStart);
	log.Commit(1, AddLine("a"));
	ExpectError(LoadSnapshot(log.source(), 2), ErrorKind::kNotFound,
				{"version 2", "does not exist", "versions 0 to 1"});
	ExpectError(LoadSnapshot(log.source(), -1), ErrorKind::kInvalidArgument, {"version -1"});
}

TEST(Snapshot, StartsAtTheNewestCheckpoint) {
	TestLog log;
	log.Commit(0, kStart + AddLine("a"));
	log.Commit(1, AddLine("b"));
	log.Commit(2, AddLine("c"));
	log.Checkpoint(1, kStart + AddLine("a", 100) + AddLine("b", 100));
	for (const char* hint :
		 {"", "{\"version\":1,\"size\":4}", "{\"version\":17}", "{\"version\":", "{\"version\":0}"}) {
		log.Put("_last_checkpoint", hint);
		const SnapshotPtr snapshot = Load(log);
		EXPECT_EQ(Paths(snapshot), "a b c") << hint;
		EXPECT_EQ(snapshot->files->total_bytes(), 210) << "read from the checkpoint; hint " << hint;
		EXPECT_EQ(snapshot->checkpoint_version, 1);
	}
	EXPECT_EQ(Load(log, 0)->files->total_bytes(), 10);
	EXPECT_EQ(Load(log, 1)->files->total_bytes(), 200);
}

TEST(Snapshot, ADamagedCheckpointFallsBack) {
	TestLog log;
	log.Commit(0, kStart + AddLine("a"));
	for (int64_t version = 1; version <= 4; ++version) log.Commit(version, AddLine("f" + std::to_string(version)));
	log.Checkpoint(2, kStart + AddLine("a") + AddLine("f1") + AddLine("f2"));
	log.Checkpoint(3, "");
	log.parquet.files.erase(log.store.Location(CheckpointPath(3)));
	log.Put("_last_checkpoint", "{\"version\":3}");
	const SnapshotPtr snapshot = Load(log);
	EXPECT_EQ(Paths(snapshot), "a f1 f2 f3 f4");
	EXPECT_EQ(snapshot->checkpoint_version, 2);
	log.parquet.files.clear();
	EXPECT_EQ(Load(log)->checkpoint_version, -1) << "the commits are all there";
	log.Remove("00000000000000000000.json");
	ExpectError(LoadSnapshot(log.source()), ErrorKind::kCorrupt,
				{"not a Parquet file", "00000000000000000003.checkpoint.parquet"});
}

TEST(Snapshot, AReadableCheckpointWithoutMetadataIsFinal) {
	TestLog log;
	log.Commit(0, kStart + AddLine("a"));
	log.Commit(1, AddLine("b"));
	log.Checkpoint(1, kProtocolLine + AddLine("a") + AddLine("b"));
	ExpectError(LoadSnapshot(log.source()), ErrorKind::kCorrupt, {"no metaData"});
}

TEST(Snapshot, ACleanedUpLogNeedsItsCheckpoint) {
	TestLog log;
	log.Checkpoint(3, kStart + AddLine("a"));
	log.Commit(3, AddLine("a"));
	log.Commit(4, AddLine("b"));
	EXPECT_EQ(Paths(Load(log)), "a b");
	ExpectError(LoadSnapshot(log.source(), 1), ErrorKind::kNotFound,
				{"version 1", "no longer available", "versions 3 to 4"});
	log.Commit(6, AddLine("c"));
	ExpectError(LoadSnapshot(log.source()), ErrorKind::kCorrupt, {"commit 5"});
}

TEST(Snapshot, MultiPartCheckpointsMustBeComplete) {
	TestLog log;
	const std::string first = "00000000000000000002.checkpoint.0000000001.0000000002.parquet";
	const std::string second = "00000000000000000002.checkpoint.0000000002.0000000002.parquet";
	log.Put(first, "PAR1");
	log.parquet.files[log.store.Location(LogPath(first))] = kStart + AddLine("a");
	log.parquet.files[log.store.Location(LogPath(second))] = AddLine("b");
	ExpectError(LoadSnapshot(log.source()), ErrorKind::kCorrupt, {"checkpoint 2 is incomplete (1 of 2 parts)"});
	log.Put(second, "PAR1");
	const SnapshotPtr snapshot = Load(log);
	EXPECT_EQ(Paths(snapshot), "a b");
	EXPECT_EQ(snapshot->version, 2);
	EXPECT_EQ(snapshot->checkpoint_version, 2);
	EXPECT_EQ(log.parquet.reads, 2) << "parts may differ in their columns: one call each";
}

// PROTOCOL: V2 Spec: a top-level file in JSON or Parquet that names sidecars.
TEST(Snapshot, V2CheckpointsWithSidecars) {
	const std::string uuid = "80a083e8-7026-4e79-81be-64bd76c43a11";
	const std::string sidecar = R"({"sidecar":{"path":"s1.parquet","sizeInBytes":1,"modificationTime":1}})"
								"\n";
	const std::string top = R"({"checkpointMetadata":{"version":1}})"
							"\n" +
							kStart + sidecar;
	for (const std::string extension : {"json", "parquet"}) {
		TestLog log;
		log.Commit(1, AddLine("b"));
		const std::string name = "00000000000000000001.checkpoint." + uuid + "." + extension;
		log.Put(name, extension == "json" ? top : "PAR1");
		log.parquet.files[log.store.Location(LogPath(name))] = top;
		ExpectError(LoadSnapshot(log.source()), ErrorKind::kCorrupt, {"_sidecars/s1.parquet"});
		log.parquet.files[log.store.Location("_delta_log/_sidecars/s1.parquet")] = AddLine("a") + AddLine("b");
		EXPECT_EQ(Paths(Load(log)), "a b") << extension;
	}
}

TEST(Snapshot, ExpiredTombstonesOfACheckpointAreDropped) {
	TestLog log;
	log.clock.SleepMs(30LL * 86'400'000);
	(void)log.store.PutIfAbsent(CommitPath(4), AddLine("x") + RemoveLine("in-commit"));
	const int64_t now = log.clock.NowMs();
	const auto removed_at = [](const std::string& path, int64_t time) {
		return R"({"remove":{"path":")" + path + R"(","dataChange":false,"deletionTimestamp":)" + std::to_string(time) +
			   "}}\n";
	};
	log.Checkpoint(3, kStart + removed_at("old", now - 8LL * 86'400'000) + removed_at("young", now - 86'400'000));
	const SnapshotPtr snapshot = Load(log);
	std::string kept;
	for (const auto& batch : snapshot->tombstones) {
		for (const auto& remove : *batch) kept += remove->path + " ";
	}
	EXPECT_EQ(kept, "young in-commit ");
}

TEST(Snapshot, CompactedCommitsStandForTheirRange) {
	TestLog log;
	log.Commit(0, kStart + AddLine("a"));
	log.Commit(1, AddLine("b"));
	log.Commit(2, RemoveLine("a"));
	log.Commit(3, AddLine("c"));
	const std::string range = "00000000000000000001.00000000000000000002.compacted.json";
	log.Put(range, AddLine("b", 99) + RemoveLine("a"));
	EXPECT_EQ(Paths(Load(log)), "b c");
	EXPECT_EQ(Load(log)->files->Find("b")->size, 99) << "read from the compacted file";
	EXPECT_EQ(Load(log, 1)->files->Find("b")->size, 10) << "the range goes beyond the version";
	log.Put(range, RemoveLine("a") + AddLine("a") + AddLine("b", 99));
	EXPECT_EQ(Load(log)->files->Find("b")->size, 10) << "not reconciled: the commits count";
	EXPECT_EQ(Paths(Load(log)), "b c");
	log.Put(range, "{");
	EXPECT_EQ(Paths(Load(log)), "b c") << "unreadable: the commits count";
	log.Put(range, AddLine("b", 99) + RemoveLine("a"));
	log.Remove("00000000000000000001.json");
	EXPECT_EQ(Load(log)->files->Find("b")->size, 99);
}

TEST(Snapshot, RefreshReadsOnlyWhatIsNew) {
	TestLog log;
	log.Commit(0, kStart + AddLine("a"));
	const SnapshotPtr first = Load(log);
	EXPECT_EQ(*RefreshSnapshot(log.source(), first), first);
	log.Commit(1, AddLine("b") + RemoveLine("a"));
	log.Commit(2, AddLine("c"));
	const Result<SnapshotPtr> second = RefreshSnapshot(log.source(), first);
	ASSERT_TRUE(second) << second.error().message;
	EXPECT_EQ((*second)->version, 2);
	EXPECT_EQ(Paths(*second), "b c");
	EXPECT_EQ(Paths(first), "a") << "the older snapshot is untouched";
	EXPECT_EQ((*second)->schema, first->schema) << "shared, not parsed again";
	log.Commit(3, "{\"add\":");
	ExpectError(RefreshSnapshot(log.source(), *second), ErrorKind::kCorrupt, {"version 3"});
}

TEST(Snapshot, RefreshNoticesACleanedUpLogAndANewTable) {
	TestLog log;
	log.Commit(0, kStart + AddLine("a"));
	const SnapshotPtr old = Load(log);
	log.Checkpoint(5, kStart + AddLine("z"));
	log.Commit(5, AddLine("z"));
	log.Remove("00000000000000000000.json");
	const Result<SnapshotPtr> newer = RefreshSnapshot(log.source(), old);
	ASSERT_TRUE(newer) << newer.error().message;
	EXPECT_EQ((*newer)->version, 5);

	TestLog other;
	other.Commit(0, kStart + AddLine("a"));
	const SnapshotPtr before = Load(other);
	other.Remove("00000000000000000000.json");
	other.clock.SleepMs(5);
	(void)other.store.PutIfAbsent(CommitPath(0), kProtocolLine + MetadataLine("{}", "n") + AddLine("b"));
	const Result<SnapshotPtr> made_anew = RefreshSnapshot(other.source(), before);
	ASSERT_TRUE(made_anew);
	EXPECT_EQ((*made_anew)->metadata.id, "n");
	EXPECT_EQ(Paths(*made_anew), "b");
}

TEST(Snapshot, ApplyCommitIsTheSameAsLoading) {
	TestLog log;
	log.Commit(0, kStart + AddLine("a"));
	const std::string next = R"({"commitInfo":{"inCommitTimestamp":77,"operation":"WRITE"}})"
							 "\n" +
							 MetadataLine(R"({"delta.enableInCommitTimestamps":"true"})") + AddLine("b");
	const Result<SnapshotPtr> applied = ApplyCommit(Load(log), next, 5);
	ASSERT_TRUE(applied) << applied.error().message;
	EXPECT_EQ((*applied)->version, 1);
	EXPECT_EQ((*applied)->timestamp, 77);
	EXPECT_EQ((*applied)->in_commit_timestamp, 77);
	log.Commit(1, next);
	EXPECT_EQ(Load(log)->timestamp, 77);
	EXPECT_EQ(PropertyOf(Load(log)->metadata, "delta.enableInCommitTimestamps"), "true");
	ExpectError(ApplyCommit(Load(log), R"({"protocol":{"minReaderVersion":9,"minWriterVersion":9}})", 1),
				ErrorKind::kUnsupported, {"version 2", "minReaderVersion 9"});
}

}  // namespace
}  // namespace braid
