// SPDX-License-Identifier: Apache-2.0
#include "kernel/maintenance/clone_plan.h"

#include <gtest/gtest.h>

#include "tests/kernel/test_log.h"

namespace braid {
namespace {

const std::string kVectors =
	R"({"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors"],"writerFeatures":["deletionVectors","domainMetadata"]}})"
	"\n";

SnapshotPtr Table(TestLog& log, const std::string& lines) {
	log.Commit(0, lines);
	return LoadSnapshot(log.source()).value();
}

std::string Text(const ClonePlan& plan) {
	std::string text;
	for (const AddFile& file : plan.entries) {
		text += file.path;
		if (file.deletion_vector)
			text += std::string(" ") + file.deletion_vector->storage_type + file.deletion_vector->path_or_inline_dv;
		text += "\n";
	}
	return text;
}

TEST(PlanClone, EveryPathIsAbsolute) {
	TestLog log;
	SeededRandom random(1);
	const std::string relative =
		R"(,"deletionVector":{"storageType":"u","pathOrInlineDv":"ab^-aqEH.-t@S}K{vb[*k^","offset":4,"sizeInBytes":40,"cardinality":6})";
	const std::string inside =
		R"(,"deletionVector":{"storageType":"i","pathOrInlineDv":"wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L","sizeInBytes":40,"cardinality":6})";
	const auto source =
		Table(log, kVectors + MetadataLine() + AddLine("a%20b", 1, relative) + AddLine("p=1/b", 20, inside) +
					   AddLine("file:///else/where%25", 300) + AddLine("/abs%20", 4000));
	const auto plan = PlanClone(*source, log.store, nullptr, random).value();
	EXPECT_EQ(Text(plan),
			  "/abs%20\n"
			  "file:///else/where%25\n"
			  "file:lake/t/a%20b pfile:lake/t/ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin\n"
			  "file:lake/t/p=1/b iwi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L\n");
	EXPECT_EQ(plan.source_files.bytes, 4321);
	EXPECT_NE(plan.metadata.id, source->metadata.id);
	EXPECT_TRUE(plan.removed.empty());
}

TEST(PlanClone, TheReplacedTableKeepsItsIdAndItsFeatures) {
	TestLog from, to;
	SeededRandom random(1);
	const auto source = Table(from, kVectors + MetadataLine(R"({"a":"b"})") + AddLine("a") + AddLine("b"));
	const auto replaced = Table(to, kProtocolLine + MetadataLine(R"({"c":"d"})", "other") + AddLine("own"));
	const auto plan = PlanClone(*source, from.store, replaced.get(), random).value();
	EXPECT_EQ(plan.removed, (std::vector<std::string> {"own"}));
	EXPECT_EQ(plan.entries.size(), 2U);
	EXPECT_EQ(plan.metadata.id, "other");
	EXPECT_EQ(plan.metadata.configuration, (Configuration {{"a", "b"}}));
	EXPECT_EQ(plan.protocol.min_reader_version, 3);
}

// Of the table that is replaced, if it has them and the clone too; never of the source.
TEST(PlanClone, InCommitTimestampsCountSinceTheTableHasThem) {
	TestLog with, without, other;
	SeededRandom random(1);
	const std::string on =
		R"({"delta.enableInCommitTimestamps":"true","delta.inCommitTimestampEnablementVersion":"8"})";
	const auto timed = Table(with, kProtocolLine + MetadataLine(on));
	const auto untimed = Table(without, kProtocolLine + MetadataLine());
	const auto source = Table(
		other, kProtocolLine +
				   MetadataLine(
					   R"({"delta.enableInCommitTimestamps":"true","delta.inCommitTimestampEnablementVersion":"3"})"));
	const auto since = [&](const SnapshotPtr& from, const Snapshot* replaced) {
		const Configuration known = PlanClone(*from, with.store, replaced, random).value().metadata.configuration;
		const auto version = known.find("delta.inCommitTimestampEnablementVersion");
		return version == known.end() ? "" : version->second;
	};
	EXPECT_EQ(since(source, nullptr), "");
	EXPECT_EQ(since(source, timed.get()), "8");
	EXPECT_EQ(since(source, untimed.get()), "");
	EXPECT_EQ(since(untimed, timed.get()), "");
}

TEST(PlanClone, AbsolutePathsInTwoSpellingsAreOneFile) {
	TestLog from, to;
	SeededRandom random(1);
	const auto source = Table(from, kProtocolLine + MetadataLine() + AddLine("file:///x/a%20b") + AddLine("/x/c"));
	const auto replaced = Table(to, kProtocolLine + MetadataLine() + AddLine("/x/a%20b") + AddLine("file:/x/d"));
	const auto plan = PlanClone(*source, from.store, replaced.get(), random).value();
	EXPECT_EQ(plan.removed, (std::vector<std::string> {"file:/x/d"}));
	EXPECT_EQ(Text(plan), "/x/c\n");
}

}  // namespace
}  // namespace braid
