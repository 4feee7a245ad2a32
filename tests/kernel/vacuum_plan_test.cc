// SPDX-License-Identifier: Apache-2.0
// What a VACUUM may delete, from logs and listings made by hand.
#include "kernel/maintenance/vacuum_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/kernel/test_log.h"

namespace braid {
namespace {

constexpr int64_t kStart = 1'700'000'000'000;  // TestLog writes commit n at kStart + 1000 n
constexpr int64_t kHour = 3'600'000;
constexpr int64_t kOld = 1000;  // of a file

std::string RemoveAt(int64_t ms, const std::string& path, const std::string& more = "") {
	return R"({"remove":{"path":")" + path + R"(","deletionTimestamp":)" + std::to_string(ms) +
		   R"(,"dataChange":true)" + more + "}}\n";
}
std::string FileVector(const std::string& id, int64_t offset = 1) {
	return R"(,"deletionVector":{"storageType":"u","pathOrInlineDv":")" + id + R"(","offset":)" +
		   std::to_string(offset) + R"(,"sizeInBytes":36,"cardinality":1})";
}
// Two vector files by their encoded UUIDs (PROTOCOL: Deletion Vectors, examples).
const std::string kVector = "ab^-aqEH.-t@S}K{vb[*k^";
const std::string kVectorFile = "ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin";

class VacuumPlanTest : public testing::Test {
protected:
	void SetUp() override { log_.Commit(0, kProtocolLine + MetadataLine() + AddLine("a") + AddLine("b")); }

	SnapshotPtr Latest() { return LoadSnapshot(log_.source()).value(); }
	LogListing Listing() { return ListLog(log_.store, "t", 0, true).value(); }
	void File(const std::string& path, int64_t time = kOld, TreeKind kind = TreeKind::kFile) {
		tree_.push_back({path, kind, 10, time});
	}
	void Directory(const std::string& path, int64_t time = kOld) { File(path, time, TreeKind::kDirectory); }

	// Paths that go, in order, with spaces between.
	std::string Plan(int64_t retention_ms, int64_t now_ms = kStart + 1'000'000) {
		const VacuumTerms terms {retention_ms, 168 * kHour, now_ms};
		NeededFiles needed("/lake/t");
		const SnapshotPtr view = Latest();
		needed.AddSnapshot(*view, terms.cutoff_ms());
		const int64_t first = std::min(FirstNeededCommit(Listing(), terms, leases_), view->version + 1);
		EXPECT_TRUE(needed.AddCommits(log_.store, "t", first, view->version));
		deletions_ = PlanVacuum(tree_, needed, terms, leases_);
		std::string paths;
		for (const Deletion& deletion : deletions_) paths += (paths.empty() ? "" : " ") + deletion.path;
		return paths;
	}

	TestLog log_;
	std::vector<TreeEntry> tree_;
	std::vector<Lease> leases_;
	std::vector<Deletion> deletions_;
};

TEST_F(VacuumPlanTest, LiveFilesStayAndUnknownOldOnesGo) {
	for (const char* path : {"a", "b", "orphan"}) File(path);
	File("young", kStart + 999'999);
	EXPECT_EQ(Plan(0, kStart + 999'999), "orphan");
	EXPECT_EQ(Plan(kStart + 1'000'000 - kOld), "");  // as old as the cutoff is not older
	EXPECT_EQ(Plan(kStart + 1'000'000 - kOld - 1), "orphan");
}

TEST_F(VacuumPlanTest, RemovedFilesGoWhenTheRetentionIsOver) {
	log_.Commit(1, RemoveAt(kStart + 1000, "a") + AddLine("c"));
	for (const char* path : {"a", "b", "c"}) File(path);
	EXPECT_EQ(Plan(999'000), "");
	EXPECT_EQ(Plan(998'999), "a");
	EXPECT_EQ(deletions_[0].reason, DeletionReason::kRemoved);
	EXPECT_EQ(deletions_[0].size, 10);
}

TEST_F(VacuumPlanTest, AVectorFileStaysWhileAnyVectorInItIsNeeded) {
	log_.Commit(1, RemoveAt(1, "a") + AddLine("a", 10, FileVector(kVector, 1)) + RemoveAt(1, "b") +
					   AddLine("b", 10, FileVector(kVector, 50)));
	log_.Commit(2, RemoveAt(2, "a", FileVector(kVector, 1)));
	for (const std::string& path : {std::string("a"), std::string("b"), kVectorFile}) File(path);
	EXPECT_EQ(Plan(0), "a");
	log_.Commit(3, RemoveAt(kStart, "b", FileVector(kVector, 50)));
	EXPECT_EQ(Plan(0), kVectorFile + " b a");
	EXPECT_EQ(Plan(1'000'000), "a");  // b may be read for a while, with its vector
}

TEST_F(VacuumPlanTest, WhatAPinnedVersionNeedsStays) {
	log_.Commit(1, RemoveAt(1, "a"));
	log_.Commit(2, RemoveAt(1, "b") + AddLine("b", 10, FileVector(kVector)));
	log_.Commit(3, RemoveAt(1, "b", FileVector(kVector)));
	for (const std::string& path : {std::string("a"), std::string("b"), kVectorFile}) File(path);
	EXPECT_EQ(Plan(0), kVectorFile + " b a");
	leases_ = {{"00000000", 3, 1}};
	EXPECT_EQ(Plan(0), kVectorFile + " b a");
	leases_ = {{"00000000", 2, 1}, {"00000001", Lease::kNothing, Lease::kNothing}};
	EXPECT_EQ(Plan(0), "a");
	leases_.push_back({"00000002", 0, 1});
	EXPECT_EQ(Plan(0), "");
}

TEST_F(VacuumPlanTest, ALeaseOlderThanTheLogKeepsWhatTheLogKnows) {
	log_.Commit(1, RemoveAt(1, "a"));
	log_.Checkpoint(1, kProtocolLine + MetadataLine() + AddLine("b") + RemoveAt(1, "a"));
	log_.Remove("00000000000000000000.json");
	for (const char* path : {"a", "b"}) File(path);
	leases_ = {{"00000000", 0, 1}};
	EXPECT_EQ(Plan(0), "");
}

TEST_F(VacuumPlanTest, FilesOfAnOpenTransactionStay) {
	File("part-00000-abcdef12-1111.parquet", kStart);
	File("deletion_vector_abcdef12-2222.bin", kStart);
	File("part-00000-99999999-1111.parquet", kStart);
	leases_ = {{"abcdef12", 0, kStart}};
	EXPECT_EQ(Plan(0), "part-00000-99999999-1111.parquet");
	leases_[0].oldest_start_ms = kStart + kHour;  // they were left by an earlier one
	EXPECT_EQ(std::ranges::count(Plan(0), ' '), 2);
	leases_[0].oldest_start_ms = Lease::kNothing;
	EXPECT_EQ(std::ranges::count(Plan(0), ' '), 2);
}

TEST_F(VacuumPlanTest, AFileThatWasCommittedAndRemovedIsNotStaged) {
	const std::string path = "part-00000-abcdef12-1111.parquet";
	log_.Commit(1, AddLine(path));
	log_.Commit(2, RemoveAt(kStart, path));
	File(path, kStart);
	leases_ = {{"abcdef12", 2, 1}};
	EXPECT_EQ(Plan(0), path);
}

TEST_F(VacuumPlanTest, ARetentionLongerThanTheTablesLooksIntoTheLog) {
	// The checkpoint has forgotten the remove; the commit is younger than the asked retention.
	log_.Commit(1, RemoveAt(kStart + 1000, "a"));
	log_.Checkpoint(1, kProtocolLine + MetadataLine() + AddLine("b"));
	File("a");
	const int64_t now = kStart + 200 * kHour;
	EXPECT_EQ(Plan(168 * kHour, now), "a");
	EXPECT_EQ(Plan(201 * kHour, now), "");
}

TEST_F(VacuumPlanTest, PathsAreDecodedOnce) {
	log_.Commit(1, AddLine("p=a%2520b/x%20y%25.parquet") + AddLine("p=%C3%A4/f.parquet") +
					   AddLine("file:/lake/t/abs.parquet") + AddLine("/lake/t/plain.parquet") +
					   AddLine("file:///elsewhere/abs.parquet") + AddLine("./q//r/../dots.parquet") +
					   AddLine("raw%20name.parquet"));
	for (const char* path : {"p=a%20b/x y%.parquet", "p=ä/f.parquet", "abs.parquet", "plain.parquet", "q/dots.parquet",
							 "raw%20name.parquet", "raw name.parquet"})
		File(path);
	EXPECT_EQ(Plan(0), "");
	File("p=a b/x y%.parquet");
	File("elsewhere/abs.parquet");
	EXPECT_EQ(Plan(0), "elsewhere/abs.parquet p=a b/x y%.parquet");
}

TEST_F(VacuumPlanTest, DirectoriesThatAreLeftEmptyGo) {
	Directory("p=1");
	File("p=1/orphan");
	Directory("p=2");
	Directory("p=2/q=1");
	File("p=2/q=1/link", kOld, TreeKind::kOther);
	File("p=2/q=1/orphan");
	Directory("p=3");
	Directory("p=3/q=1");
	Directory("new", kStart + 2'000'000);
	File("a");
	EXPECT_EQ(Plan(0), "p=3/q=1 p=3 p=2/q=1/orphan p=1/orphan p=1");
	EXPECT_EQ(deletions_[0].reason, DeletionReason::kEmptyDirectory);
}

TEST_F(VacuumPlanTest, RowMapsGoWhenNobodyCanFollowThem) {
	const VacuumTerms terms {0, 168 * kHour, kStart};
	const std::vector<TreeEntry> maps = {{"old.map", TreeKind::kFile, 5, 1000}, {"new.map", TreeKind::kFile, 5, 5000}};
	EXPECT_EQ(PlanRowMaps(maps, terms, {}).size(), 2);
	const std::vector<Lease> leases = {{"00000000", 7, 3000}};
	ASSERT_EQ(PlanRowMaps(maps, terms, leases).size(), 1);
	EXPECT_EQ(PlanRowMaps(maps, terms, leases)[0].path, "old.map");
	EXPECT_EQ(PlanRowMaps(maps, {kStart - 1000, 168 * kHour, kStart}, {}).size(), 0);
}

TEST_F(VacuumPlanTest, HiddenNames) {
	log_.Commit(1, MetadataLine(R"({"delta.universalFormat.enabledFormats":"iceberg"})"));
	const SnapshotPtr uniform = Latest();
	for (const char* name : {"_delta_log", "_braid", "_anything", ".hidden", ".part.parquet.crc", "_x=1", "metadata"})
		EXPECT_TRUE(IsHiddenFromVacuum(*uniform, name)) << name;
	for (const char* name : {"_change_data", "part.parquet", "p=1", "x_"})
		EXPECT_FALSE(IsHiddenFromVacuum(*uniform, name)) << name;
	Snapshot partitioned = *uniform;
	partitioned.metadata.configuration.clear();
	partitioned.metadata.partition_columns = {"_x"};
	EXPECT_FALSE(IsHiddenFromVacuum(partitioned, "_x=1"));
	EXPECT_FALSE(IsHiddenFromVacuum(partitioned, "metadata"));
	EXPECT_TRUE(IsHiddenFromVacuum(partitioned, "_y=1"));
}

TEST_F(VacuumPlanTest, TheRetentionIsChecked) {
	EXPECT_TRUE(CheckRetention("t", {168 * kHour, 168 * kHour, 0}, true));
	EXPECT_TRUE(CheckRetention("t", {0, 168 * kHour, 0}, false));
	const Status refused = CheckRetention("t", {167 * kHour, 168 * kHour, 0}, true);
	ASSERT_FALSE(refused);
	for (const char* part : {"167 HOURS", "168 hours", "braid_retention_check", "delta.deletedFileRetentionDuration"})
		EXPECT_NE(refused.error().message.find(part), std::string::npos) << refused.error().message;
	EXPECT_FALSE(CheckRetention("t", {-1, 0, 0}, false));
}

TEST_F(VacuumPlanTest, LiteNeedsTheLogSinceTheLastVacuum) {
	for (int version : {1, 2, 3}) log_.Commit(version, AddLine("f" + std::to_string(version)));
	auto range = PlanLite(Listing(), std::nullopt, 2);
	ASSERT_TRUE(range);
	EXPECT_EQ(range->first, 0);
	EXPECT_EQ(range->last, 2);
	range = PlanLite(Listing(), 1, 3);
	ASSERT_TRUE(range);
	EXPECT_EQ(range->first, 2);
	EXPECT_EQ(range->last, 3);
	log_.Remove("00000000000000000000.json");
	EXPECT_TRUE(PlanLite(Listing(), 0, 3));
	EXPECT_TRUE(PlanLite(Listing(), std::nullopt, -1));  // nothing has expired
	for (const auto& refused : {PlanLite(Listing(), std::nullopt, 3), PlanLite(Listing(), -1, 3)}) {
		ASSERT_FALSE(refused);
		EXPECT_NE(refused.error().message.find("DELTA_CANNOT_VACUUM_LITE"), std::string::npos);
		EXPECT_NE(refused.error().message.find("VACUUM FULL"), std::string::npos);
	}
}

TEST_F(VacuumPlanTest, WhereTheLastVacuumCame) {
	EXPECT_EQ(ReadLastVacuum(log_.store), std::nullopt);
	ASSERT_TRUE(WriteLastVacuum(log_.store, 5));
	EXPECT_EQ(*log_.store.Read("_delta_log/_last_vacuum_info"),
			  "{\"latestCommitVersionOutsideOfRetentionWindow\":5}\n");
	EXPECT_EQ(ReadLastVacuum(log_.store), 5);
	log_.Put("_last_vacuum_info", "{\"latestCommitVersionOutsideOfRetentionWindow\":null}");  // Spark's after FULL
	EXPECT_EQ(ReadLastVacuum(log_.store), std::nullopt);
}

TEST_F(VacuumPlanTest, RemovedFilesOfACommit) {
	log_.Commit(1, RemoveLine("a%20b", FileVector(kVector)) + AddLine("new") +
					   R"({"cdc":{"path":"_change_data/c","partitionValues":{},"size":1,"dataChange":false}})"
					   "\n");
	const auto files = FilesRemovedBy(log_.store, "/lake/t", "t", 1);
	ASSERT_TRUE(files);
	EXPECT_EQ(*files, (std::vector<std::string> {"a b", kVectorFile, "_change_data/c"}));
}

}  // namespace
}  // namespace braid
