// SPDX-License-Identifier: Apache-2.0
// Names of log files, the compared form of data paths, what a listing makes of a directory, checksum files.
#include "kernel/log/log_path.h"

#include <gtest/gtest.h>

#include "kernel/log/checksum.h"
#include "kernel/log/log_listing.h"
#include "tests/kernel/test_log.h"

namespace braid {
namespace {

const std::string kSeven = "00000000000000000007";

TEST(LogPath, NamesAreWrittenAndRead) {
	EXPECT_EQ(CommitPath(7), "_delta_log/" + kSeven + ".json");
	EXPECT_EQ(ChecksumPath(7), "_delta_log/" + kSeven + ".crc");
	EXPECT_EQ(CheckpointPath(7), "_delta_log/" + kSeven + ".checkpoint.parquet");
	const auto kind = [](const std::string& name) {
		const auto parsed = ParseLogFileName(name);
		return parsed ? static_cast<int>(parsed->kind) : -1;
	};
	EXPECT_EQ(kind(kSeven + ".json"), static_cast<int>(LogFileKind::kCommit));
	EXPECT_EQ(kind(kSeven + ".crc"), static_cast<int>(LogFileKind::kChecksum));
	EXPECT_EQ(kind(kSeven + ".checkpoint.parquet"), static_cast<int>(LogFileKind::kClassicCheckpoint));
	const auto part = ParseLogFileName(kSeven + ".checkpoint.0000000002.0000000003.parquet");
	ASSERT_TRUE(part);
	EXPECT_EQ(part->part, 2);
	EXPECT_EQ(part->parts, 3);
	const auto uuid = ParseLogFileName(kSeven + ".checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json");
	ASSERT_TRUE(uuid);
	EXPECT_TRUE(uuid->json);
	const auto range = ParseLogFileName(kSeven + ".00000000000000000009.compacted.json");
	ASSERT_TRUE(range);
	EXPECT_EQ(range->version, 7);
	EXPECT_EQ(range->last_version, 9);
	for (const std::string name : {"_last_checkpoint", ".tmp-x", "7.json", "0000000000000000000a.json",
								   "99999999999999999999.json", "_sidecars", ""}) {
		EXPECT_EQ(kind(name), -1) << name;
	}
	for (const std::string rest :
		 {"", ".json.tmp", ".checkpoint.parquet.crc", ".checkpoint.0000000004.0000000003.parquet", ".checkpoint",
		  ".00000000000000000006.compacted.json", ".80a083e8-7026-4e79-81be-64bd76c43a11.json", ".parquet"}) {
		EXPECT_EQ(kind(kSeven + rest), -1) << rest;
	}
}

// As java.net.URI spells them, of which Spark's VACUUM takes the names of files: URI(null, null, path, null).toString().
TEST(LogPath, SpelledAsSparkDoes) {
	const std::pair<std::string, std::string> kPaths[] = {
		{"a b/c%d", "a%20b/c%25d"},
		{"-._~!$&'()*+,;=:@/", "-._~!$&'()*+,;=:@/"},
		{"\"#<>?[\\]^`{|}\x01\x7F", "%22%23%3C%3E%3F%5B%5C%5D%5E%60%7B%7C%7D%01%7F"},
		{"p=ü/日本/😀", "p=ü/日本/😀"},
		{"a\u00A0b\u0085c\u2028\u3000", "a%C2%A0b%C2%85c%E2%80%A8%E3%80%80"},
		{"\xFF\xC3", "%FF%C3"},  // no character, which a log could not hold
		{"\xED\xA0\x80\xE4\xBD", "%ED%A0%80%E4%BD"},
	};
	for (const auto& [path, spelled] : kPaths) {
		EXPECT_EQ(EncodePath(path), spelled);
		EXPECT_EQ(DecodePath(spelled), path);
	}
}

TEST(LogPath, DecodedForm) {
	const std::pair<const char*, const char*> kPaths[] = {
		{"a b", "a b"},   {"a%20b", "a b"},      {"a%2520b", "a%20b"},      {"%", "%"},   {"a%2", "a%2"},
		{"a%zz", "a%zz"}, {"file:/x/y", "/x/y"}, {"file:///x%20y", "/x y"}, {"/x", "/x"}, {"s3://b/x%3D", "s3://b/x="},
		{"a+b", "a+b"},
	};
	for (const auto& [path, decoded] : kPaths) {
		EXPECT_EQ(DecodePath(path), decoded);
		EXPECT_TRUE(!IsPlainPath(path) || std::string(path) == decoded) << path;
	}
}

TEST(LogListing, SortsOutADirectory) {
	TestLog log;
	log.Commit(0, "");
	log.Commit(1, "");
	log.Commit(3, "");
	log.Put("00000000000000000001.checkpoint.parquet", "");
	log.Put("00000000000000000001.checkpoint.0000000001.0000000002.parquet", "");
	log.Put("00000000000000000000.00000000000000000001.compacted.json", "");
	log.Put("00000000000000000003.crc", "");
	log.Put("_last_checkpoint", "{\"version\":1}");
	log.Put("_staged_commits/00000000000000000004.80a083e8-7026-4e79-81be-64bd76c43a11.json", "");
	log.Put(".tmp-1", "");
	const Result<LogListing> listing = ListLog(log.store, "t", 0);
	ASSERT_TRUE(listing);
	EXPECT_EQ(listing->commits.size(), 3U);
	EXPECT_EQ(listing->checkpoints.size(), 1U);
	EXPECT_EQ(listing->compacted.size(), 1U);
	EXPECT_EQ(listing->latest(), 3) << "staged commits are not published";
	EXPECT_NE(listing->incomplete_checkpoint.find("1 of 2"), std::string::npos);
	EXPECT_EQ(EarliestVersion(*listing), 0);
	EXPECT_EQ(ReadLastCheckpointVersion(log.store), 1);
	EXPECT_EQ(ListLog(log.store, "t", 3)->commits.size(), 1U);
	const auto plan = PlanCommits(*listing, -1, 1, true);
	ASSERT_TRUE(plan);
	ASSERT_EQ(plan->size(), 1U);
	EXPECT_TRUE(plan->front().compacted);
	EXPECT_EQ(PlanCommits(*listing, -1, 1, false)->size(), 2U);
	EXPECT_EQ(PlanCommits(*listing, 1, 1, true)->size(), 0U);
	EXPECT_FALSE(PlanCommits(*listing, -1, 3, true));
}

TEST(Checksum, TellsTheTimeOfAVersion) {
	TestLog log;
	const auto timestamp = [&](std::string_view text) {
		EXPECT_TRUE(log.store.Put(ChecksumPath(7), text));
		return ReadChecksumTimestamp(log.store, 7);
	};
	EXPECT_EQ(ReadChecksumTimestamp(log.store, 7), std::nullopt);
	EXPECT_EQ(timestamp(R"({"inCommitTimestampOpt":5,"txnId":"t"})"), 5);
	EXPECT_EQ(timestamp(R"({"txnId":"t"})"), std::nullopt);
	EXPECT_EQ(timestamp(R"({"inCommitTimestampOpt":"5"})"), std::nullopt);
	EXPECT_EQ(timestamp("{\"numFiles\""), std::nullopt);
}

}  // namespace
}  // namespace braid
