// SPDX-License-Identifier: Apache-2.0
// Winners that change protocol or metadata: what is adopted, what stops a transaction (scenarios 74 to 78, 80, 89).
#include <gtest/gtest.h>

#include "kernel/action/action_codec.h"
#include "kernel/log/log_path.h"
#include "tests/kernel/memory_table.h"

namespace braid {
namespace {

struct Change {
	const char* name;
	Configuration before;  // in addition, when the table is made
	Configuration set;     // by the winner
	std::vector<std::string> unset;
	std::vector<std::string> features;              // added to the writer's list
	std::function<void(Metadata&)> edit = nullptr;  // anything else
	bool adopted = false;
};

void RenameColumn(Metadata& metadata) {
	const std::string name = "\"name\":\"y\"";
	metadata.schema_string.replace(metadata.schema_string.find(name), name.size(), "\"name\":\"z\"");
}

// delta.columnMapping.* for every column; `prefix` before the physical names.
std::function<void(Metadata&)> MapColumns(const std::string& prefix) {
	return [prefix](Metadata& metadata) {
		int id = 1;
		for (const std::string column : {"k", "x", "y"}) {
			const std::string field = "\"name\":\"" + column + R"(","type":"long","nullable":true,"metadata":{)";
			const size_t at = metadata.schema_string.find(field);
			ASSERT_NE(at, std::string::npos);
			metadata.schema_string.insert(at + field.size(), "\"delta.columnMapping.id\":" + std::to_string(id++) +
																 ",\"delta.columnMapping.physicalName\":\"" + prefix +
																 column + "\"");
		}
	};
}

const Configuration kIct = {{"delta.enableInCommitTimestamps", "true"},
							{"delta.inCommitTimestampEnablementVersion", "1"},
							{"delta.inCommitTimestampEnablementTimestamp", "1700000000500"}};
const Configuration kRowTracking = {{"delta.enableRowTracking", "true"},
									{"delta.rowTracking.materializedRowIdColumnName", "_id"},
									{"delta.rowTracking.materializedRowCommitVersionColumnName", "_v"}};
const Configuration kMapping = {{"delta.columnMapping.mode", "name"}, {"delta.columnMapping.maxColumnId", "3"}};
const Configuration kNoVectors = {{"delta.enableDeletionVectors", "false"}};

const Change kChanges[] = {
	{"InCommitTimestamps", {}, kIct, {}, {"inCommitTimestamp"}, nullptr, true},
	{"RowTracking", {}, kRowTracking, {}, {"rowTracking", "domainMetadata"}, nullptr, true},
	{"V2Checkpoints", {}, {{"delta.checkpointPolicy", "v2"}}, {}, {"v2Checkpoint"}, nullptr, true},
	{"ColumnMapping", {}, kMapping, {}, {"columnMapping"}, MapColumns(""), true},
	{"DeletionVectors", kNoVectors, {{"delta.enableDeletionVectors", "true"}}, {}, {}, nullptr, true},
	{"FeatureAlone", {}, {}, {}, {"rowTracking", "domainMetadata"}, nullptr, true},
	{"Nothing", {}, {}, {}, {}, nullptr, true},
	{"ColumnMappingWithOtherNames", {}, kMapping, {}, {"columnMapping"}, MapColumns("col-"), false},
	{"ColumnMappingById", {}, {{"delta.columnMapping.mode", "id"}}, {}, {"columnMapping"}, MapColumns(""), false},
	{"VectorsOff", {}, {{"delta.enableDeletionVectors", "false"}}, {}, {}, nullptr, false},
	{"VectorsUnset", {}, {}, {"delta.enableDeletionVectors"}, {}, nullptr, false},
	{"PolicyBack", {{"delta.checkpointPolicy", "v2"}}, {{"delta.checkpointPolicy", "classic"}}, {}, {}, nullptr, false},
	{"OneMoreProperty", {}, {{"delta.checkpointInterval", "20"}}, {}, {}, nullptr, false},
	{"AppendOnly", {}, {{"delta.appendOnly", "true"}}, {}, {}, nullptr, false},
	{"ChangeDataFeed", {}, {{"delta.enableChangeDataFeed", "true"}}, {}, {"changeDataFeed"}, nullptr, false},
	{"Constraint", {}, {{"delta.constraints.c", "k > 0"}}, {}, {"checkConstraints"}, nullptr, false},
	{"RenamedColumn", {}, {}, {}, {}, RenameColumn, false},
	{"Comment", {}, {}, {}, {}, [](Metadata& metadata) { metadata.description = "new"; }, false},
	{"UnknownFeature", {}, {}, {}, {"typeWidening"}, nullptr, false},
	{"Clustering", {}, {}, {}, {"clustering", "domainMetadata"}, nullptr, false},
};

class Adoption : public testing::TestWithParam<Change> {
protected:
	void SetUp() override {
		base_ = table_.Create({{{1, 1, 0}, {2, 2, 0}, {3, 3, 0}}}, GetParam().before);
		losers_ = {table_.Insert(base_, {{9, 9, 9}})};
		if (GetParam().before.contains("delta.enableDeletionVectors")) return;
		losers_.push_back(table_.Delete(base_, Equals("k", 1)));
		losers_.push_back(table_.Update(base_, Equals("k", 2), [](Row& row) { row.x = 20; }));
	}
	Transaction Alter() {
		const Change& change = GetParam();
		Transaction alter = table_.Begin(base_, "SET TBLPROPERTIES");
		alter.changes.metadata = base_->metadata;
		for (const auto& [key, value] : change.set) alter.changes.metadata->configuration[key] = value;
		for (const std::string& key : change.unset) alter.changes.metadata->configuration.erase(key);
		if (change.edit) change.edit(*alter.changes.metadata);
		if (change.features.empty()) return alter;
		alter.changes.protocol = base_->protocol;
		for (const std::string& feature : change.features) {
			alter.changes.protocol->writer_features->push_back(feature);
			if (feature == "columnMapping" || feature == "v2Checkpoint" || feature == "typeWidening")
				alter.changes.protocol->reader_features->push_back(feature);
		}
		return alter;
	}
	// As another engine writes it: version 1 by hand, so that what this build cannot write can win too.
	void AlterWins() {
		const Transaction alter = Alter();
		std::string text;
		CommitInfo info;
		info.operation = alter.operation;
		info.timestamp = table_.clock.NowMs();
		if (GetParam().set.contains("delta.enableInCommitTimestamps")) info.in_commit_timestamp = 1'700'000'000'500;
		AppendActionLine(info, text);
		if (alter.changes.protocol) AppendActionLine(*alter.changes.protocol, text);
		AppendActionLine(*alter.changes.metadata, text);
		ASSERT_TRUE(table_.memory.PutIfAbsent(CommitPath(1), text));
	}

	MemoryTable table_ {"WriteSerializable"};
	SnapshotPtr base_;
	std::vector<Transaction> losers_;
};
INSTANTIATE_TEST_SUITE_P(Changes, Adoption, testing::ValuesIn(kChanges),
						 [](const auto& change) { return std::string(change.param.name); });

TEST_P(Adoption, SoundAdoptsWhatIsOnTheList) {
	AlterWins();
	for (const Transaction& loser : losers_) {
		const auto outcome = table_.Commit(loser);
		EXPECT_EQ(outcome.has_value(), GetParam().adopted)
			<< loser.operation << (outcome ? "" : outcome.error().message);
		if (outcome) {
			EXPECT_EQ(outcome->snapshot->metadata.configuration, Alter().changes.metadata->configuration);
		} else {
			const bool protocol = !GetParam().adopted && (std::string(GetParam().name) == "UnknownFeature" ||
														  std::string(GetParam().name) == "Clustering");
			ExpectConflict(outcome, protocol ? ConflictClass::kProtocolChanged : ConflictClass::kMetadataChanged);
		}
	}
}

TEST_P(Adoption, StrictAdoptsNothing) {
	AlterWins();
	table_.options.mode = ConcurrencyMode::kStrict;
	const bool changes = !GetParam().set.empty() || !GetParam().unset.empty() || GetParam().edit;
	for (const Transaction& loser : losers_) {
		const auto outcome = table_.Commit(loser);
		if (!GetParam().features.empty()) {
			ExpectConflict(outcome, ConflictClass::kProtocolChanged);
		} else if (changes) {
			ExpectConflict(outcome, ConflictClass::kMetadataChanged);
		} else {
			EXPECT_TRUE(outcome);
		}
	}
}

// Scenario 78: whoever alters the table has not seen the other's alteration.
TEST_P(Adoption, TwoAlterations) {
	Transaction second = table_.Begin(base_, "SET TBLPROPERTIES");
	second.changes.metadata = base_->metadata;
	second.changes.metadata->configuration["delta.checkpointInterval"] = "50";
	Transaction upgrade = second;
	upgrade.changes.protocol = base_->protocol;
	upgrade.changes.protocol->writer_features->push_back("domainMetadata");
	AlterWins();
	const bool protocol = !GetParam().features.empty();
	const bool metadata = !GetParam().set.empty() || !GetParam().unset.empty() || GetParam().edit;
	if (protocol) {
		ExpectConflict(table_.Commit(upgrade), ConflictClass::kProtocolChanged);
	} else if (metadata) {
		ExpectConflict(table_.Commit(second), ConflictClass::kMetadataChanged);
	}
}

TEST(Adopted, TimestampsGrow) {
	MemoryTable table("Serializable");
	const SnapshotPtr base = table.Create({{{1, 1, 0}}});
	const Transaction insert = table.Insert(base, {{9, 9, 9}});
	Transaction alter = table.Begin(base, "SET TBLPROPERTIES");
	alter.changes.metadata = base->metadata;
	alter.changes.metadata->configuration["delta.enableInCommitTimestamps"] = "true";
	alter.changes.protocol = base->protocol;
	alter.changes.protocol->writer_features->push_back("inCommitTimestamp");
	const auto altered = table.Commit(alter);
	ASSERT_TRUE(altered) << altered.error().message;
	ASSERT_TRUE(altered->snapshot->in_commit_timestamp);
	table.clock.SleepMs(-10'000);  // scenario 96: our clock is behind
	const auto outcome = table.Commit(insert);
	ASSERT_TRUE(outcome) << outcome.error().message;
	EXPECT_EQ(outcome->snapshot->in_commit_timestamp, *altered->snapshot->in_commit_timestamp + 1);
	EXPECT_EQ(table.CommitText(2).find("\"metaData\""), std::string::npos) << "the enablement stays the winner's";
}

// Scenario 93: ids are given, but nobody may rely on old ones.
TEST(Adopted, RowTracking) {
	MemoryTable table("Serializable");
	const SnapshotPtr base = table.Create({{{1, 1, 0}}});
	const Transaction insert = table.Insert(base, {{9, 9, 9}, {8, 8, 8}});
	Transaction alter = table.Begin(base, "SET TBLPROPERTIES");
	alter.changes.metadata = base->metadata;
	for (const auto& [key, value] : kRowTracking) alter.changes.metadata->configuration[key] = value;
	alter.changes.protocol = base->protocol;
	for (const char* feature : {"rowTracking", "domainMetadata"})
		alter.changes.protocol->writer_features->push_back(feature);
	ASSERT_TRUE(table.Commit(alter));
	const auto outcome = table.Commit(insert);
	ASSERT_TRUE(outcome) << outcome.error().message;
	const LiveFile* file = outcome->snapshot->files->Find(insert.changes.new_files[0].add.path);
	ASSERT_TRUE(file && file->base_row_id);
	EXPECT_EQ(file->default_row_commit_version, 2);
	EXPECT_NE(table.CommitText(2).find(R"("delta.rowTracking.preserved":"false")"), std::string::npos);
	EXPECT_NE(table.CommitText(2).find("rowIdHighWaterMark"), std::string::npos);
}

}  // namespace
}  // namespace braid
