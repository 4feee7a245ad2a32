// SPDX-License-Identifier: Apache-2.0
// Logs made by hand, with times: which versions go, and that every version that is left can be read.
#include "kernel/log/log_cleanup.h"

#include <gtest/gtest.h>

#include "kernel/storage/table_lease.h"
#include "tests/kernel/memory_table.h"
#include "tests/kernel/test_log.h"

namespace braid {
namespace {

constexpr int64_t kDay = 24 * 3'600'000;
constexpr int64_t kMidnight = 1'700'006'400'000;  // 2023-11-15 00:00 UTC

LogListing Listing(std::vector<int64_t> times, std::vector<int64_t> checkpoints, int64_t first = 0) {
	LogListing listing;
	for (int64_t time : times) listing.commits.push_back({first++, time});
	for (int64_t version : checkpoints) listing.checkpoints.push_back({version, {"c"}, false});
	return listing;
}

int64_t FirstKept(std::vector<int64_t> times, std::vector<int64_t> checkpoints, int64_t cutoff,
				  int64_t pin = Lease::kNothing) {
	return FirstVersionToKeep(Listing(std::move(times), std::move(checkpoints)), cutoff, pin);
}

TEST(FirstVersionToKeep, IsACheckpointAtOrBeforeTheOldestThatHasNotExpired) {
	EXPECT_EQ(FirstKept({10, 20, 30, 40}, {2}, 20), 2);
	EXPECT_EQ(FirstKept({10, 20, 30, 40}, {3}, 20), -1);  // version 2 would be unreadable
	EXPECT_EQ(FirstKept({10, 20, 30, 40}, {1}, 20), 1);
	EXPECT_EQ(FirstKept({10, 20, 30, 40}, {1, 2}, 20), 2);
	EXPECT_EQ(FirstKept({10, 20, 30, 40}, {1, 2}, 19), 1);
	EXPECT_EQ(FirstKept({10, 20, 30, 40}, {}, 100), -1);
	EXPECT_EQ(FirstKept({10, 20, 30, 40}, {3}, 100), 3);  // all have expired: the newest stays
	EXPECT_EQ(FirstKept({10, 20, 30, 40}, {2}, 5), -1);
	EXPECT_EQ(FirstKept({}, {2}, 5), -1);
}

TEST(FirstVersionToKeep, StopsAtALease) {
	EXPECT_EQ(FirstKept({10, 20, 30, 40}, {1, 3}, 100, 2), 1);
	EXPECT_EQ(FirstKept({10, 20, 30, 40}, {1, 3}, 100, 3), 3);
	EXPECT_EQ(FirstKept({10, 20, 30, 40}, {1, 3}, 100, 0), -1);
}

TEST(FirstVersionToKeep, TimesOfVersionsThatAreLeftDoNotChange) {
	// Version 2 is at 21, because version 1 is at 20: without version 1 it would be at 5.
	EXPECT_EQ(FirstKept({10, 20, 5, 40}, {0, 1, 2, 3}, 20), 1);
	EXPECT_EQ(FirstKept({10, 20, 5, 40}, {0, 1, 2, 3}, 21), 3);
	EXPECT_EQ(FirstKept({10, 20, 5, 6, 40}, {2, 3}, 21), -1);
	EXPECT_EQ(FirstKept({30, 5, 6, 7}, {1, 2, 3}, 29), -1);
	EXPECT_EQ(FirstKept({10, 20, 20, 20}, {1, 2, 3}, 100), 1);
}

class LogCleanupTest : public testing::Test {
protected:
	// Commits up to `last`, one an hour after the start; each adds a file.
	void Fill(int64_t last, const std::string& properties = "{}") {
		std::string files;
		for (int64_t version = 0; version <= last; version++) {
			At(kMidnight + version * 3'600'000);
			const std::string add = AddLine("f" + std::to_string(version));
			(void)log_.store.PutIfAbsent(CommitPath(version),
										 (version == 0 ? kProtocolLine + MetadataLine(properties) : "") + add);
			log_.Put(VersionPrefix(version) + ".crc", "{}");
			files += add;
			state_[version] = kProtocolLine + MetadataLine(properties) + files;
		}
	}
	void At(int64_t ms) { log_.clock.SleepMs(ms - log_.clock.NowMs()); }
	void Checkpoint(int64_t version) { log_.Checkpoint(version, state_[version]); }
	void Clean(int64_t now_ms, int64_t pin = Lease::kNothing) {
		const auto snapshot = LoadSnapshot(log_.source());
		ASSERT_TRUE(snapshot) << snapshot.error().message;
		const Status cleaned = CleanLog(log_.source(), **snapshot, now_ms, pin);
		EXPECT_TRUE(cleaned) << cleaned.error().message;
	}
	int64_t FirstCommit() { return ListLog(log_.store, "t", 0)->commits.front().version; }
	// Every version that has a commit can be read and has the files that it had.
	void ExpectWhole(int64_t first, int64_t last) {
		for (int64_t version = first; version <= last; version++) {
			const auto snapshot = LoadSnapshot(log_.source(), version);
			ASSERT_TRUE(snapshot) << snapshot.error().message;
			EXPECT_EQ((*snapshot)->files->size(), version + 1);
		}
	}

	TestLog log_;
	std::map<int64_t, std::string> state_;
};

TEST_F(LogCleanupTest, DropsWholeDaysOnceTheRetentionIsOver) {
	Fill(50);  // two days and two hours
	for (int64_t version : {10, 20, 30, 40, 50}) Checkpoint(version);
	Clean(kMidnight + 31 * kDay - 1);
	EXPECT_EQ(FirstCommit(), 0);
	Clean(kMidnight + 31 * kDay);  // versions up to 24 have expired
	EXPECT_EQ(FirstCommit(), 20);
	ExpectWhole(20, 50);
	Clean(kMidnight + 31 * kDay + kDay - 1);
	EXPECT_EQ(FirstCommit(), 20);
	Clean(kMidnight + 32 * kDay);
	EXPECT_EQ(FirstCommit(), 40);
	ExpectWhole(40, 50);
	EXPECT_FALSE(LoadSnapshot(log_.source(), 39));
	for (const std::string& path : log_.store.Paths()) {
		const auto name = ParseLogFileName(path.substr(path.rfind('/') + 1));
		EXPECT_TRUE(!name || name->version >= 40) << path;
	}
	Clean(kMidnight + 1000 * kDay);
	EXPECT_EQ(FirstCommit(), 50);
	ExpectWhole(50, 50);
}

TEST_F(LogCleanupTest, NothingGoesThatALeaseNeeds) {
	Fill(50);
	for (int64_t version : {10, 20, 30, 40, 50}) Checkpoint(version);
	Clean(kMidnight + 1000 * kDay, 25);
	EXPECT_EQ(FirstCommit(), 20);
	ExpectWhole(20, 50);
}

TEST_F(LogCleanupTest, PropertiesDecide) {
	Fill(30, R"({"delta.logRetentionDuration":"interval 1 days"})");
	for (int64_t version : {10, 20, 30}) Checkpoint(version);
	Clean(kMidnight + 2 * kDay + 5);
	EXPECT_EQ(FirstCommit(), 20);
	ExpectWhole(20, 30);
}

TEST_F(LogCleanupTest, CanBeSwitchedOff) {
	Fill(30, R"({"delta.enableExpiredLogCleanup":"false"})");
	Checkpoint(30);
	Clean(kMidnight + 1000 * kDay);
	EXPECT_EQ(FirstCommit(), 0);
}

TEST_F(LogCleanupTest, ProtectedVersionsGoAtOnceOrNotAtAll) {
	Fill(30, R"({"delta.requireCheckpointProtectionBeforeVersion":"15"})");
	Checkpoint(10);
	Checkpoint(30);
	Clean(kMidnight + 31 * kDay);
	EXPECT_EQ(FirstCommit(), 0);
	Clean(kMidnight + 32 * kDay);
	EXPECT_EQ(FirstCommit(), 30);
}

TEST_F(LogCleanupTest, AnIncompleteCheckpointIsNone) {
	Fill(30);
	log_.Put(VersionPrefix(30) + ".checkpoint.0000000001.0000000002.parquet", "PAR1");
	Clean(kMidnight + 1000 * kDay);
	EXPECT_EQ(FirstCommit(), 0);
	ExpectWhole(0, 30);
}

TEST_F(LogCleanupTest, CompactedCommitsGoWithTheirVersions) {
	Fill(30);
	Checkpoint(20);
	log_.Put(VersionPrefix(5) + "." + VersionPrefix(9) + ".compacted.json", AddLine("x"));
	log_.Put(VersionPrefix(15) + "." + VersionPrefix(25) + ".compacted.json", AddLine("x"));
	log_.Put(VersionPrefix(21) + "." + VersionPrefix(22) + ".compacted.json", AddLine("f21") + AddLine("f22"));
	Clean(kMidnight + 1000 * kDay);
	EXPECT_EQ(ListLog(log_.store, "t", 0)->compacted.size(), 1);
	ExpectWhole(20, 30);
}

TEST_F(LogCleanupTest, InCommitTimestampsCount) {
	Fill(0, R"({"delta.enableInCommitTimestamps":"true","delta.inCommitTimestampEnablementVersion":"0"})");
	// Files that were copied with an old time, of commits that are young.
	for (int64_t version = 1; version <= 4; version++) {
		const std::string add = AddLine("f" + std::to_string(version));
		const int64_t time = kMidnight + version * kDay;
		(void)log_.store.PutIfAbsent(CommitPath(version), R"({"commitInfo":{"inCommitTimestamp":)" +
															  std::to_string(time) +
															  R"(,"operation":"WRITE"}})"
															  "\n" +
															  add);
		state_[version] = state_[version - 1] + add;
	}
	for (int64_t version : {2, 3, 4}) Checkpoint(version);
	Clean(kMidnight + 32 * kDay);  // version 2 expires now
	EXPECT_EQ(FirstCommit(), 3);
}

TEST_F(LogCleanupTest, SidecarsGoWhenNoCheckpointNamesThem) {
	Fill(30);
	const auto v2 = [&](int64_t version, const std::string& sidecar) {
		log_.Put("_sidecars/" + sidecar, "PAR1");
		log_.parquet.files[log_.store.Location(SidecarPath(sidecar))] =
			state_[version].substr(state_[version].find("{\"add\""));
		log_.Put(VersionPrefix(version) + ".checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json",
				 "{\"checkpointMetadata\":{\"version\":" + std::to_string(version) + "}}\n" + kProtocolLine +
					 MetadataLine() + R"({"sidecar":{"path":")" + sidecar +
					 R"(","sizeInBytes":4,"modificationTime":1}})"
					 "\n");
	};
	At(kMidnight + 2 * kDay);
	v2(10, "old.parquet");
	v2(20, "kept.parquet");
	log_.Put("_sidecars/left-over.parquet", "PAR1");
	At(kMidnight + 1000 * kDay);
	log_.Put("_sidecars/being-written.parquet", "PAR1");
	Clean(kMidnight + 1000 * kDay);
	std::vector<std::string> left;
	const auto files = log_.store.List("_delta_log/_sidecars", "");
	ASSERT_TRUE(files);
	for (const StoredFile& file : *files) left.push_back(file.name);
	EXPECT_EQ(left, (std::vector<std::string> {"being-written.parquet", "kept.parquet"}));
	ExpectWhole(20, 30);
}

// Through a table's life: commits write checkpoints, and these clean up.
TEST(LogCleanup, HappensAfterACheckpointAndNeverFailsACommit) {
	MemoryTable table;
	table.Create({{{1, 1, 0}}}, {{"delta.checkpointInterval", "3"}, {"delta.logRetentionDuration", "interval 2 days"}});
	const auto insert = [&](int64_t k) {
		table.clock.SleepMs(kDay / 2);
		const auto outcome = table.Commit(table.Insert(table.Latest(), {{k, 1, 0}}));
		ASSERT_TRUE(outcome) << outcome.error().message;
	};
	for (int64_t k = 2; k <= 13; k++) insert(k);
	EXPECT_FALSE(table.memory.Read(CommitPath(0)));
	EXPECT_TRUE(table.memory.Read(CommitPath(11)));
	EXPECT_EQ(table.LiveRows(*table.Latest()).size(), 13);
	table.store.FailNth(StoreOperation::kDelete, 1, ErrorKind::kIo);
	for (int64_t k = 14; k <= 16; k++) insert(k);
	EXPECT_TRUE(table.store.AllFired());
	EXPECT_EQ(table.LiveRows(*table.Latest()).size(), 16);
}

}  // namespace
}  // namespace braid
