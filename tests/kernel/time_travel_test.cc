// SPDX-License-Identifier: Apache-2.0
// Which version a timestamp means: by file times that are made to rise, by in-commit timestamps, and across the version that enabled them.
#include <gtest/gtest.h>

#include "tests/kernel/test_log.h"

namespace braid {
namespace {

constexpr int64_t kStart = 1'700'000'000'000;

int64_t VersionAt(TestLog& log, int64_t timestamp) {
	const Result<SnapshotPtr> snapshot = LoadSnapshotAt(log.source(), timestamp);
	if (snapshot) return (*snapshot)->version;
	EXPECT_EQ(static_cast<int>(snapshot.error().kind), static_cast<int>(ErrorKind::kNotFound))
		<< snapshot.error().message;
	EXPECT_NE(snapshot.error().message.find("earliest version"), std::string::npos) << snapshot.error().message;
	return -1;
}

void CommitAt(TestLog& log, int64_t version, int64_t time, const std::string& lines) {
	log.clock.SleepMs(time - log.clock.NowMs());
	(void)log.store.PutIfAbsent(CommitPath(version), lines);
}

std::string Info(int64_t in_commit_timestamp) {
	return R"({"commitInfo":{"inCommitTimestamp":)" + std::to_string(in_commit_timestamp) +
		   R"(,"operation":"WRITE"}})"
		   "\n";
}

TEST(TimeTravel, ByFileTimes) {
	TestLog log;
	log.Commit(0, kProtocolLine + MetadataLine());
	log.Commit(1, AddLine("a"));
	log.Commit(2, AddLine("b"));
	EXPECT_EQ(VersionAt(log, kStart - 1), -1);
	EXPECT_EQ(VersionAt(log, kStart), 0);
	EXPECT_EQ(VersionAt(log, kStart + 1999), 1);
	EXPECT_EQ(VersionAt(log, kStart + 2000), 2);
	EXPECT_EQ(VersionAt(log, kStart + 9'000'000), 2);
}

TEST(TimeTravel, FileTimesAreMadeToRise) {
	TestLog log;
	CommitAt(log, 0, kStart, kProtocolLine + MetadataLine());
	CommitAt(log, 1, kStart + 100, AddLine("a"));
	CommitAt(log, 2, kStart + 40, AddLine("b"));   // counts as 101
	CommitAt(log, 3, kStart + 101, AddLine("c"));  // counts as 102
	EXPECT_EQ(VersionAt(log, kStart + 50), 0);
	EXPECT_EQ(VersionAt(log, kStart + 100), 1);
	EXPECT_EQ(VersionAt(log, kStart + 101), 2);
	EXPECT_EQ(VersionAt(log, kStart + 102), 3);
}

TEST(TimeTravel, InCommitTimestampsDecideWhereEnabled) {
	TestLog log;
	CommitAt(log, 0, kStart, kProtocolLine + MetadataLine());
	CommitAt(log, 1, kStart + 10, AddLine("a"));
	CommitAt(log, 2, kStart + 9'999,
			 Info(kStart + 20) +
				 MetadataLine(
					 R"({"delta.enableInCommitTimestamps":"true","delta.inCommitTimestampEnablementVersion":"2"})"));
	CommitAt(log, 3, kStart + 9'998, Info(kStart + 30) + AddLine("b"));
	CommitAt(log, 4, kStart + 9'997, Info(kStart + 40) + AddLine("c"));
	EXPECT_EQ(VersionAt(log, kStart - 1), -1);
	EXPECT_EQ(VersionAt(log, kStart + 5), 0);
	EXPECT_EQ(VersionAt(log, kStart + 19), 1);
	EXPECT_EQ(VersionAt(log, kStart + 20), 2);
	EXPECT_EQ(VersionAt(log, kStart + 39), 3);
	EXPECT_EQ(VersionAt(log, kStart + 40), 4);
}

TEST(TimeTravel, AMissingInCommitTimestampIsAnError) {
	TestLog log;
	log.Commit(0, Info(kStart) + kProtocolLine + MetadataLine(R"({"delta.enableInCommitTimestamps":"true"})"));
	log.Commit(1, R"({"commitInfo":{"operation":"WRITE"}})"
				  "\n" +
					  AddLine("a"));
	ASSERT_TRUE(LoadSnapshot(log.source())) << "reading the newest version does not need it";
	const Result<SnapshotPtr> at = LoadSnapshotAt(log.source(), kStart);
	ASSERT_FALSE(at);
	EXPECT_EQ(static_cast<int>(at.error().kind), static_cast<int>(ErrorKind::kCorrupt));
	EXPECT_NE(at.error().message.find("version 1"), std::string::npos) << at.error().message;
}

TEST(TimeTravel, ACleanedUpLogBeginsAtItsCheckpoint) {
	TestLog log;
	log.Commit(3, AddLine("a"));
	log.Commit(4, AddLine("b"));
	log.Commit(5, AddLine("c"));
	log.Checkpoint(4, kProtocolLine + MetadataLine() + AddLine("a") + AddLine("b"));
	EXPECT_EQ(VersionAt(log, kStart + 3'500), -1);
	EXPECT_EQ(VersionAt(log, kStart + 4'500), 4);
	EXPECT_EQ(VersionAt(log, kStart + 5'500), 5);
}

}  // namespace
}  // namespace braid
