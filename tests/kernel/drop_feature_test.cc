// SPDX-License-Identifier: Apache-2.0
// DROP FEATURE: what keeps a feature in a table, what its history says, and the protocol that is left.
#include "kernel/alter/drop_feature.h"

#include <gtest/gtest.h>

#include "kernel/alter/clustering.h"
#include "kernel/alter/table_changes.h"
#include "tests/kernel/memory_table.h"

namespace braid {
namespace {

using Strings = std::vector<std::string>;

Protocol Lists(Strings writers, std::optional<Strings> readers = std::nullopt) {
	return {readers ? 3 : 1, 7, std::move(readers), std::move(writers)};
}

bool Same(const Protocol& a, const Protocol& b) {
	return a.min_reader_version == b.min_reader_version && a.min_writer_version == b.min_writer_version &&
		   a.reader_features == b.reader_features && a.writer_features == b.writer_features;
}

TEST(WithoutFeature, IsTheSmallestProtocolThatHasTheOthers) {
	const Strings vectors {"deletionVectors"}, times {"timestampNtz"}, both {"deletionVectors", "timestampNtz"};
	EXPECT_TRUE(Same(WithoutFeature(Lists({"deletionVectors", "rowTracking", "domainMetadata"}, vectors), vectors[0]),
					 Lists({"domainMetadata", "rowTracking"})));
	EXPECT_TRUE(Same(WithoutFeature(Lists({"deletionVectors", "timestampNtz", "appendOnly"}, both), vectors[0]),
					 Lists({"appendOnly", "timestampNtz"}, times)));
	EXPECT_TRUE(Same(WithoutFeature(Lists({"appendOnly", "invariants", "rowTracking"}), "rowTracking"), {1, 2}))
		<< "versions say it";
	EXPECT_TRUE(Same(WithoutFeature({1, 3, std::nullopt, std::nullopt}, "checkConstraints"), {1, 2}));
	EXPECT_TRUE(Same(WithoutFeature({1, 4, std::nullopt, std::nullopt}, "checkConstraints"),
					 Lists({"appendOnly", "changeDataFeed", "generatedColumns", "invariants"})));
	EXPECT_TRUE(Same(WithoutFeature({2, 5, std::nullopt, std::nullopt}, "columnMapping"), {1, 4}));
}

class DropFeatureTest : public testing::Test {
protected:
	SnapshotPtr With(const std::vector<std::string>& features, Configuration properties = {}) {
		Transaction creation = table_.Creation({{{1, 1, 1}, {2, 2, 2}}}, std::move(properties));
		for (const std::string& feature : features) creation.changes.protocol->writer_features->push_back(feature);
		const auto created = table_.Commit(creation);
		EXPECT_TRUE(created) << created.error().message;
		return created->snapshot;
	}
	static std::string Refusal(const SnapshotPtr& table, const std::string& feature, bool truncate = false) {
		TableDraft draft = DraftOf(table);
		const Status dropped = DropFeature(draft, feature, truncate);
		return dropped ? "" : dropped.error().message;
	}
	static bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

	MemoryTable table_;
};

TEST_F(DropFeatureTest, SaysWhatUsesIt) {
	const SnapshotPtr t = With({"checkConstraints", "rowTracking", "domainMetadata"},
							   {{"delta.constraints.c", "k > 0"}, {"delta.checkpointPolicy", "v2"}});
	EXPECT_TRUE(Has(Refusal(t, "checkConstraints"), "DROP CONSTRAINT c"));
	EXPECT_TRUE(Has(Refusal(t, "domainMetadata"), "feature rowTracking needs it"));
	EXPECT_TRUE(Has(Refusal(t, "deletionVectors"), "delta.enableDeletionVectors is true"));
	EXPECT_TRUE(Has(Refusal(t, "identityColumns"), "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT"));
	EXPECT_TRUE(Has(Refusal(t, "nonsense"), "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT"));
	EXPECT_TRUE(Has(Refusal(t, "checkconstraints", true), "DELTA_FEATURE_DROP_HISTORY_TRUNCATION_NOT_ALLOWED"));
}

TEST_F(DropFeatureTest, TakesClusteringWithItsDomain) {
	const SnapshotPtr plain = With({"clustering", "domainMetadata"});
	TableDraft clustered = DraftOf(plain);
	ASSERT_TRUE(ClusterBy(clustered, {{"k"}}));
	const SnapshotPtr table = *FinishDraft(clustered);
	EXPECT_TRUE(Has(Refusal(table, "clustering"), "CLUSTER BY NONE"));
	TableDraft none = DraftOf(table);
	ASSERT_TRUE(ClusterBy(none, {}));
	TableDraft draft = DraftOf(*FinishDraft(none));
	ASSERT_TRUE(DropFeature(draft, "CLUSTERING", false));
	ASSERT_EQ(draft.domains.size(), 1);
	EXPECT_TRUE(draft.domains[0].removed);
	EXPECT_FALSE(HasFeature((*FinishDraft(draft))->protocol, "clustering"));
	EXPECT_EQ(draft.operation, "DROP FEATURE");
	EXPECT_EQ(draft.parameters["featureName"], "\"clustering\"");
}

TEST_F(DropFeatureTest, LooksBackInTheHistory) {
	SnapshotPtr t = With({});
	EXPECT_EQ(*LastUse(table_.store, *t, "deletionVectors"), 0);
	EXPECT_EQ(*LastUse(table_.store, *t, "vacuumProtocolCheck"), -1);
	ASSERT_TRUE(table_.Commit(table_.Delete(t, Equals("k", 1))));
	Transaction off = table_.Begin(table_.Latest(), "SET TBLPROPERTIES");
	off.changes.metadata = t->metadata;
	off.changes.metadata->configuration["delta.enableDeletionVectors"] = "false";
	ASSERT_TRUE(table_.Commit(off));
	t = table_.Latest();
	EXPECT_EQ(*LastUse(table_.store, *t, "deletionVectors"), 1) << "the vector that the DELETE has written";
	EXPECT_TRUE(Has(Refusal(t, "deletionVectors"), "REORG TABLE"));

	const auto history = [&](bool truncate, int64_t now_ms) {
		return CheckHistory(table_.store, *t, "deletionVectors", truncate, now_ms);
	};
	const int64_t now = table_.clock.NowMs(), day = 24 * 3'600'000;
	EXPECT_TRUE(Has(history(false, now + 2 * day).error().message, "DELTA_FEATURE_DROP_HISTORICAL_VERSIONS_EXIST"));
	EXPECT_TRUE(Has(history(true, now).error().message, "DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD"));
	EXPECT_TRUE(*history(true, now + 2 * day));
}

// What a winner has written may use the feature: nobody may have been faster.
TEST_F(DropFeatureTest, AllowsNoWinner) {
	const SnapshotPtr t = With({"domainMetadata"});
	Transaction drop = table_.Begin(t, "TRANSACTION");
	TableDraft draft = DraftOf(t);
	ASSERT_TRUE(DropFeature(draft, "domainMetadata", false));
	drop.changes.protocol = (*FinishDraft(draft))->protocol;
	const Transaction insert = table_.Insert(t, {{9, 9, 9}}), late = table_.Insert(t, {{8, 8, 8}});
	ASSERT_TRUE(table_.Commit(insert));
	ExpectConflict(table_.Commit(drop), ConflictClass::kConcurrentWrite);
	drop.base = table_.Latest();
	ASSERT_TRUE(table_.Commit(drop));
	ExpectConflict(table_.Commit(late), ConflictClass::kProtocolChanged);
}

}  // namespace
}  // namespace braid
