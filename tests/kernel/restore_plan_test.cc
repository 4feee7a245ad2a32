// SPDX-License-Identifier: Apache-2.0
// Logs of two versions; what has to happen to come back to the first.
#include "kernel/maintenance/restore_plan.h"

#include <gtest/gtest.h>

#include "tests/kernel/test_log.h"

namespace braid {
namespace {

const std::string kVectors =
	R"({"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors"],"writerFeatures":["deletionVectors","rowTracking","domainMetadata","appendOnly","invariants"]}})"
	"\n";

std::string Domain(const std::string& name, const std::string& configuration, bool removed = false) {
	return R"({"domainMetadata":{"domain":")" + name + R"(","configuration":")" + configuration + R"(","removed":)" +
		   (removed ? "true" : "false") + "}}\n";
}

// `before` is version 0, `after` version 1.
Result<RestorePlan> Plan(const std::string& before, const std::string& after) {
	TestLog log;
	log.Commit(0, before);
	log.Commit(1, after);
	return PlanRestore(*LoadSnapshot(log.source(), 1).value(), *LoadSnapshot(log.source(), 0).value());
}

std::vector<std::string> Restored(const RestorePlan& plan) {
	std::vector<std::string> paths;
	for (const AddFile& file : plan.restored)
		paths.push_back(file.path + (file.deletion_vector ? "/" + file.deletion_vector->path_or_inline_dv : ""));
	return paths;
}

using Names = std::vector<std::string>;

TEST(PlanRestore, FilesComeAndGo) {
	const auto plan = Plan(kProtocolLine + MetadataLine() + AddLine("a", 1) + AddLine("b", 20),
						   RemoveLine("a") + AddLine("c", 300) + AddLine("d%20d", 4000))
						  .value();
	EXPECT_EQ(plan.removed, (Names {"c", "d%20d"}));
	EXPECT_EQ(Restored(plan), (Names {"a"}));
	EXPECT_EQ(plan.files_after.files, 2);
	EXPECT_EQ(plan.files_after.bytes, 21);
	EXPECT_EQ(plan.files_removed.bytes, 4300);
	EXPECT_EQ(plan.files_restored.bytes, 1);
	EXPECT_FALSE(plan.protocol || plan.metadata || !plan.domains.empty());
}

TEST(PlanRestore, AFileComesBackWithItsOlderVector) {
	const auto plan =
		Plan(kVectors + MetadataLine() + AddLine("a", 10, Dv("old", 2)) + AddLine("b") + AddLine("c", 10, Dv("same")),
			 RemoveLine("a", Dv("old", 2)) + AddLine("a", 10, Dv("new", 5)) + RemoveLine("b") +
				 AddLine("b", 10, Dv("first")))
			.value();
	EXPECT_EQ(plan.removed, (Names {"a", "b"}));
	EXPECT_EQ(Restored(plan), (Names {"a/old", "b"}));
}

TEST(PlanRestore, TheSameStateIsNothingToDo) {
	const auto plan = Plan(kProtocolLine + MetadataLine() + AddLine("a"), RemoveLine("a") + AddLine("a")).value();
	EXPECT_TRUE(plan.Empty());
	EXPECT_EQ(plan.files_after.files, 1);
}

TEST(PlanRestore, FeaturesStayAndPropertiesGo) {
	const auto plan = Plan(kProtocolLine + MetadataLine(),
						   kVectors + MetadataLine(R"({"delta.enableDeletionVectors":"true"})", "other"))
						  .value();
	EXPECT_FALSE(plan.protocol);
	ASSERT_TRUE(plan.metadata);
	EXPECT_TRUE(plan.metadata->configuration.empty());
	EXPECT_EQ(plan.metadata->id, "other");  // the table stays itself
}

TEST(PlanRestore, AFeatureThatWasDroppedComesBack) {
	const auto plan = Plan(kVectors + MetadataLine(), kProtocolLine + MetadataLine()).value();
	ASSERT_TRUE(plan.protocol);
	EXPECT_EQ(plan.protocol->min_reader_version, 3);
	EXPECT_EQ(plan.protocol->reader_features, (Names {"deletionVectors"}));
	EXPECT_FALSE(plan.metadata);
}

TEST(PlanRestore, RowsAreNotTakenFromAnAppendOnlyTable) {
	const std::string append_only = MetadataLine(R"({"delta.appendOnly":"true"})");
	const auto refused = Plan(kProtocolLine + append_only + AddLine("a"), AddLine("b"));
	ASSERT_FALSE(refused);
	EXPECT_NE(refused.error().message.find("DELTA_CANNOT_MODIFY_APPEND_ONLY"), std::string::npos);
	EXPECT_TRUE(Plan(kProtocolLine + append_only, MetadataLine(R"({"delta.appendOnly":"true","a":"b"})")));
}

TEST(PlanRestore, RowIdsAreKept) {
	const std::string ids = R"(,"baseRowId":7,"defaultRowCommitVersion":1)";
	const auto later =
		Plan(kVectors + MetadataLine() + AddLine("a"), RemoveLine("a") + AddLine("a", 10, ids + Dv("x"))).value();
	ASSERT_EQ(later.restored.size(), 1U);
	EXPECT_EQ(later.restored[0].base_row_id, 7);  // given since
	const auto lost = Plan(kVectors + MetadataLine() + AddLine("a", 10, ids), AddLine("a")).value();
	EXPECT_TRUE(lost.removed.empty());  // one (path, vector) is never added and removed in one commit
	ASSERT_EQ(lost.restored.size(), 1U);
	EXPECT_EQ(lost.restored[0].base_row_id, 7);
}

TEST(PlanRestore, MarksOfRowIdsDoNotGoBackAndClusteringDoes) {
	const std::string low = R"({\"rowIdHighWaterMark\":9})", high = R"({\"rowIdHighWaterMark\":99})";
	EXPECT_TRUE(Plan(kVectors + MetadataLine() + Domain("delta.rowTracking", low), Domain("delta.rowTracking", high))
					.value()
					.Empty());
	const auto lost =
		Plan(kVectors + MetadataLine() + Domain("delta.rowTracking", low), Domain("delta.rowTracking", low, true))
			.value();
	ASSERT_EQ(lost.domains.size(), 1U);
	EXPECT_EQ(lost.domains[0].configuration, R"({"rowIdHighWaterMark":9})");
	const auto clustered =
		Plan(kVectors + MetadataLine(), Domain("delta.clustering", "{}") + Domain("app", "{}")).value();
	ASSERT_EQ(clustered.domains.size(), 1U);
	EXPECT_EQ(clustered.domains[0].domain, "delta.clustering");
	EXPECT_TRUE(clustered.domains[0].removed);
}

std::string IdentityLine(const std::string& step, const std::string& mark) {
	return R"({"metaData":{"id":"m","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"x\",)"
		   R"(\"type\":\"long\",\"nullable\":true,\"metadata\":{\"delta.identity.start\":1,\"delta.identity.allowExplicitInsert\":false,\"delta.identity.step\":)" +
		   step + (mark.empty() ? "" : R"(,\"delta.identity.highWaterMark\":)" + mark) +
		   R"(}}]}","partitionColumns":[],"configuration":{}}})" + "\n";
}

TEST(PlanRestore, MarksOfIdentityColumnsDoNotGoBack) {
	EXPECT_TRUE(Plan(kProtocolLine + IdentityLine("1", "5"), IdentityLine("1", "8")).value().Empty());
	EXPECT_TRUE(Plan(kProtocolLine + IdentityLine("1", ""), IdentityLine("1", "8")).value().Empty());
	EXPECT_TRUE(Plan(kProtocolLine + IdentityLine("-1", "-5"), IdentityLine("-1", "-8")).value().Empty());
	const auto plan = Plan(kProtocolLine + IdentityLine("1", "5"), MetadataLine()).value();
	ASSERT_TRUE(plan.metadata);
	EXPECT_NE(plan.metadata->schema_string.find("\"delta.identity.highWaterMark\":5"), std::string::npos);
}

TEST(PlanRestore, InCommitTimestampsCountSinceTheyWereLastSwitchedOn) {
	const std::string on = R"("delta.enableInCommitTimestamps":"true","delta.inCommitTimestampEnablementVersion":)";
	const auto plan =
		Plan(kProtocolLine + MetadataLine("{" + on + R"("3","a":"b"})"), MetadataLine("{" + on + R"("8"})")).value();
	ASSERT_TRUE(plan.metadata);
	EXPECT_EQ(plan.metadata->configuration.at("delta.inCommitTimestampEnablementVersion"), "8");
	EXPECT_EQ(plan.metadata->configuration.at("a"), "b");
	const auto again = Plan(kProtocolLine + MetadataLine("{" + on + R"("3"})"), MetadataLine()).value();
	EXPECT_FALSE(again.metadata->configuration.contains("delta.inCommitTimestampEnablementVersion"));
}

}  // namespace
}  // namespace braid
