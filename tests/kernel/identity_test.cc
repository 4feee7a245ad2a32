// SPDX-License-Identifier: Apache-2.0
// Identity columns: the sequence, its mark, and who may commit beside whom (scenarios 83 to 85).
#include <gtest/gtest.h>

#include "kernel/alter/columns.h"
#include "kernel/schema/identity.h"
#include "kernel/schema/schema_json.h"
#include "tests/kernel/memory_table.h"

namespace braid {
namespace {

TEST(Identity, ValuesGoOnAfterTheMark) {
	Identity identity {10, 5, std::nullopt, false};
	EXPECT_EQ(*TakeIdentities(identity, 3), 10);
	EXPECT_EQ(identity.mark, 20);
	EXPECT_EQ(*TakeIdentities(identity, 1), 25);
	Identity down {-1, -2, std::nullopt, false};
	EXPECT_EQ(*TakeIdentities(down, 2), -1);
	EXPECT_EQ(down.mark, -3);
	Identity last {INT64_MAX, 1, std::nullopt, false};
	EXPECT_EQ(*TakeIdentities(last, 1), INT64_MAX);
	EXPECT_EQ(TakeIdentities(last, 1).error().kind, ErrorKind::kInvalidArgument);
	EXPECT_EQ(last.mark, INT64_MAX);
	Identity many {1, int64_t {1} << 62, std::nullopt, false};
	EXPECT_EQ(TakeIdentities(many, 3).error().kind, ErrorKind::kInvalidArgument);
}

TEST(Identity, TheMarkThatCoversAValue) {
	const auto covering = [](Identity identity, int64_t value) { return *MarkCovering(identity, value); };
	EXPECT_EQ(covering({1, 1, std::nullopt, true}, 7), 7);
	EXPECT_EQ(covering({1, 10, std::nullopt, true}, 1), 1);
	EXPECT_EQ(covering({1, 10, std::nullopt, true}, 12), 21) << "up to a value of the sequence";
	EXPECT_EQ(covering({1, 10, 31, true}, 12), 31) << "never back";
	EXPECT_EQ(covering({100, 10, std::nullopt, true}, 12), std::nullopt) << "before the start";
	EXPECT_EQ(covering({-1, -10, std::nullopt, true}, -12), -21);
	EXPECT_EQ(covering({-1, -10, -31, true}, -12), -31);
	EXPECT_EQ(covering({0, 3, std::nullopt, true}, 6), 6);
	EXPECT_FALSE(MarkCovering({INT64_MIN, 4, std::nullopt, true}, INT64_MAX));
}

TEST(Identity, MetadataOfAField) {
	Field field {"id", std::make_shared<DataType>(), true, {}};
	EXPECT_FALSE(IdentityOf(field));
	WriteIdentity({5, -1, std::nullopt, true}, field.metadata);
	EXPECT_FALSE(field.metadata.contains("delta.identity.highWaterMark"));
	const auto read = IdentityOf(field);
	ASSERT_TRUE(read);
	EXPECT_EQ(read->start, 5);
	EXPECT_EQ(read->step, -1);
	EXPECT_TRUE(read->allows_explicit);
	EXPECT_EQ(read->mark, std::nullopt);
}

// Column y of the table counts up from 1.
class IdentityRaces : public testing::TestWithParam<const char*> {
protected:
	void SetUp() override {
		Transaction creation = table_.Creation({{{1, 1, 1}, {2, 2, 2}}});
		creation.changes.metadata->schema_string = SchemaWithMark(creation.changes.metadata->schema_string, 2);
		const auto created = table_.Commit(creation);
		ASSERT_TRUE(created) << created.error().message;
		base_ = created->snapshot;
	}
	static std::string SchemaWithMark(const std::string& text, int64_t mark) {
		DataType schema = **ParseSchema(text);
		WriteIdentity({1, 1, mark, true}, schema.fields[2].metadata);
		return WriteSchema(schema);
	}
	Transaction Generating(int64_t value) {
		Transaction insert = table_.Insert(base_, {{value, value, value}});
		insert.changes.metadata = base_->metadata;
		insert.changes.metadata->schema_string = SchemaWithMark(base_->metadata.schema_string, value);
		insert.changes.moves_only_identity_marks = true;
		return insert;
	}
	Transaction Syncing() {
		TableDraft draft = DraftOf(base_);
		EXPECT_TRUE(SyncIdentity(draft, {"y"}, 7));
		Transaction sync = table_.Begin(base_, "CHANGE COLUMN");
		sync.changes.metadata = (*FinishDraft(draft))->metadata;
		sync.reads.reads.push_back({Predicate::True(), nullptr, false});
		return sync;
	}

	MemoryTable table_ {GetParam()};
	SnapshotPtr base_;
};
INSTANTIATE_TEST_SUITE_P(Levels, IdentityRaces, testing::Values("Serializable", "WriteSerializable"));

TEST_P(IdentityRaces, OnlyOneOfTwoGenerators) {
	const Transaction second = Generating(3);
	ASSERT_TRUE(table_.Commit(Generating(3)));
	EXPECT_NE(table_.CommitText(1).find(R"("delta.identity.schemaUpdate":"true")"), std::string::npos);
	EXPECT_NE(table_.CommitText(1).find(R"("isBlindAppend":true)"), std::string::npos);
	ExpectConflict(table_.Commit(second), ConflictClass::kMetadataChanged);
}

TEST_P(IdentityRaces, ValuesOfUsersCommitBesideAGenerator) {
	const Transaction given = table_.Insert(base_, {{9, 9, 99}});
	const Transaction generating = Generating(3);
	ASSERT_TRUE(table_.Commit(Generating(3)));
	ASSERT_TRUE(table_.Commit(given));
	EXPECT_EQ(table_.CommitText(2).find("metaData"), std::string::npos) << "the winner's mark stays";
	EXPECT_EQ(IdentityOf(table_.Latest()->schema->fields[2])->mark, 3);
}

TEST_P(IdentityRaces, AGeneratorCommitsBesideAPlainInsert) {
	const Transaction generating = Generating(3);
	ASSERT_TRUE(table_.Commit(table_.Insert(base_, {{9, 9, 99}})));
	ASSERT_TRUE(table_.Commit(generating));
	EXPECT_EQ(IdentityOf(table_.Latest()->schema->fields[2])->mark, 3);
}

TEST_P(IdentityRaces, ChangesOfOtherRowsCommitBesideAGenerator) {
	const Transaction remove = table_.Delete(base_, Equals("k", 1));
	ASSERT_TRUE(table_.Commit(Generating(3)));
	const auto outcome = table_.Commit(remove);
	ASSERT_TRUE(outcome) << outcome.error().message;
	EXPECT_EQ(table_.LiveRows(*outcome->snapshot), (Rows {{2, 2, 2}, {3, 3, 3}}));
}

TEST_P(IdentityRaces, SyncMustSeeEveryRow) {
	const Transaction sync = Syncing();
	ASSERT_TRUE(table_.Commit(table_.Insert(base_, {{9, 9, 99}})));
	ExpectConflict(table_.Commit(sync), ConflictClass::kConcurrentAppend);
	EXPECT_EQ(IdentityOf(table_.Latest()->schema->fields[2])->mark, 2);
}

TEST_P(IdentityRaces, SyncAfterAGenerator) {
	const Transaction sync = Syncing();
	ASSERT_TRUE(table_.Commit(Generating(3)));
	ExpectConflict(table_.Commit(sync), ConflictClass::kMetadataChanged);
}

TEST_P(IdentityRaces, StrictKnowsNoConcurrencyHere) {
	table_.options.mode = ConcurrencyMode::kStrict;
	const Transaction given = table_.Insert(base_, {{9, 9, 99}});
	const Transaction remove = table_.Delete(base_, Equals("k", 1));
	const Transaction sync = Syncing();
	ASSERT_TRUE(table_.Commit(table_.Insert(base_, {{8, 8, 98}})));
	for (const Transaction& loser : {given, remove, sync})
		ExpectConflict(table_.Commit(loser), ConflictClass::kMetadataChanged);
}

}  // namespace
}  // namespace braid
