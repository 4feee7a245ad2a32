// SPDX-License-Identifier: Apache-2.0
// Checkpoints of tables with delta.checkpointPolicy = v2 (PROTOCOL: V2 Spec): a JSON file that names a sidecar, and nothing but files in that.
#include <gtest/gtest.h>

#include "kernel/log/checkpoint_write.h"
#include "kernel/log/log_path.h"
#include "tests/kernel/memory_table.h"

namespace braid {
namespace {

class V2Checkpoint : public testing::Test {
protected:
	void SetUp() override {
		Transaction creation = table_.Creation({{{1, 1, 1}, {2, 2, 2}}, {{3, 3, 3}}},
											   {{"delta.checkpointPolicy", "v2"}, {"delta.checkpointInterval", "100"}});
		creation.changes.protocol->writer_features->push_back("v2Checkpoint");
		creation.changes.protocol->reader_features->push_back("v2Checkpoint");
		creation.changes.set_transactions = {{"loader", 5, std::nullopt}};
		ASSERT_TRUE(table_.Commit(creation));
		ASSERT_TRUE(table_.Commit(table_.Delete(table_.Latest(), Equals("k", 1))));
		ASSERT_TRUE(table_.Commit(table_.Delete(table_.Latest(), Equals("k", 3))));
	}
	Status Write() {
		return WriteCheckpoint({table_.store, table_.parquet}, table_.clock, table_.random, *table_.Latest());
	}
	std::vector<std::string> Names(const std::string& directory, const std::string& part) {
		std::vector<std::string> names;
		const auto files = table_.memory.List(directory, "");
		for (const StoredFile& file : files ? *files : std::vector<StoredFile> {}) {
			if (!file.is_directory && file.name.find(part) != std::string::npos)
				names.push_back(directory + "/" + file.name);
		}
		return names;
	}

	MemoryTable table_;
};

TEST_F(V2Checkpoint, NamesASidecarThatHoldsTheFiles) {
	const Rows before = table_.LiveRows(*table_.Latest());
	ASSERT_TRUE(Write());
	const auto top = Names("_delta_log", ".checkpoint.");
	const auto sidecars = Names("_delta_log/_sidecars", "");
	ASSERT_EQ(top.size(), 1);
	ASSERT_EQ(sidecars.size(), 1);
	EXPECT_TRUE(top[0].ends_with(".json"));
	const std::string text = *table_.memory.Read(top[0]), files = *table_.memory.Read(sidecars[0]);
	EXPECT_EQ(text.find(R"({"checkpointMetadata":{"version":2}})"), 0);
	EXPECT_NE(text.find("\"sidecar\":{\"path\":\"" + sidecars[0].substr(sidecars[0].rfind('/') + 1)),
			  std::string::npos);
	EXPECT_NE(text.find("\"sizeInBytes\":" + std::to_string(files.size())), std::string::npos);
	for (const char* action : {"{\"protocol\"", "{\"metaData\"", "{\"txn\""}) {
		EXPECT_NE(text.find(action), std::string::npos) << action;
		EXPECT_EQ(files.find(action), std::string::npos) << action;
	}
	for (const char* action : {"{\"add\"", "{\"remove\""}) {
		EXPECT_EQ(text.find(action), std::string::npos) << action;
		EXPECT_NE(files.find(action), std::string::npos) << action;
	}
	EXPECT_NE(table_.memory.Read(kLastCheckpointPath)->find("\"version\":2"), std::string::npos);

	for (const int64_t version : {0, 1}) ASSERT_TRUE(table_.memory.Delete(CommitPath(version)));
	const SnapshotPtr read = table_.Latest();
	EXPECT_EQ(read->checkpoint_version, 2);
	EXPECT_EQ(table_.LiveRows(*read), before);
	EXPECT_EQ(read->set_transactions.at("loader").version, 5);
}

TEST_F(V2Checkpoint, IsWrittenOnce) {
	ASSERT_TRUE(Write());
	EXPECT_EQ(Write().error().kind, ErrorKind::kAlreadyExists);
	EXPECT_EQ(Names("_delta_log", ".checkpoint.").size(), 1);
}

TEST_F(V2Checkpoint, IsNotWrittenBesideOneOfManyParts) {
	const std::string name = "_delta_log/" + VersionPrefix(2) + ".checkpoint.000000000";
	const SnapshotPtr snapshot = table_.Latest();
	const auto write = [&] {
		return WriteCheckpoint({table_.store, table_.parquet}, table_.clock, table_.random, *snapshot);
	};
	for (const char* part : {"1.0000000002.parquet", "2.0000000002.parquet"})
		ASSERT_TRUE(table_.memory.PutIfAbsent(name + part, "PAR1"));
	EXPECT_EQ(write().error().kind, ErrorKind::kAlreadyExists);
	ASSERT_TRUE(table_.memory.Delete(name + "1.0000000002.parquet"));  // what is left is none
	EXPECT_TRUE(write());
}

TEST_F(V2Checkpoint, ThePolicyDecidesNotTheFeature) {
	Transaction classic = table_.Begin(table_.Latest(), "SET TBLPROPERTIES");
	classic.changes.metadata = table_.Latest()->metadata;
	classic.changes.metadata->configuration["delta.checkpointPolicy"] = "classic";
	ASSERT_TRUE(table_.Commit(classic));
	ASSERT_TRUE(Write());
	EXPECT_TRUE(Names("_delta_log", ".checkpoint.")[0].ends_with(".checkpoint.parquet"));
	EXPECT_TRUE(Names("_delta_log/_sidecars", "").empty());
}

}  // namespace
}  // namespace braid
