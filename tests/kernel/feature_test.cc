// SPDX-License-Identifier: Apache-2.0
// What may be read, appended to and changed: protocol versions, features, features in use, table properties.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernel/feature/feature_support.h"
#include "kernel/feature/property_table.h"
#include "kernel/feature/write_requirements.h"
#include "kernel/schema/schema_json.h"

namespace braid {
namespace {

using Names = std::vector<std::string>;

Protocol Versions(int reader, int writer) {
	Protocol protocol;
	protocol.min_reader_version = reader;
	protocol.min_writer_version = writer;
	return protocol;
}

Protocol Features(Names reader, Names writer) {
	Protocol protocol = Versions(3, 7);
	protocol.reader_features = std::move(reader);
	protocol.writer_features = std::move(writer);
	return protocol;
}

void ExpectRefused(const Status& status, ErrorKind kind, const std::vector<std::string>& parts) {
	ASSERT_FALSE(status);
	EXPECT_EQ(static_cast<int>(status.error().kind), static_cast<int>(kind)) << status.error().message;
	for (const std::string& part : parts) {
		EXPECT_NE(status.error().message.find(part), std::string::npos)
			<< part << " is not in: " << status.error().message;
	}
}

TEST(FeatureSupport, LegacyVersionsImplyFeatures) {
	EXPECT_EQ(EnabledWriterFeatures(Versions(1, 1)), Names {});
	EXPECT_EQ(EnabledWriterFeatures(Versions(1, 2)), (Names {"appendOnly", "invariants"}));
	EXPECT_EQ(EnabledWriterFeatures(Versions(1, 4)),
			  (Names {"appendOnly", "invariants", "checkConstraints", "changeDataFeed", "generatedColumns"}));
	EXPECT_TRUE(HasFeature(Versions(2, 5), "columnMapping"));
	EXPECT_FALSE(HasFeature(Versions(2, 5), "identityColumns"));
	EXPECT_TRUE(HasFeature(Versions(2, 6), "identityColumns"));
	EXPECT_FALSE(HasFeature(Versions(2, 6), "deletionVectors"));
	EXPECT_TRUE(HasFeature(Features({"deletionVectors"}, {"deletionVectors"}), "deletionVectors"));
	EXPECT_FALSE(HasFeature(Features({}, {}), "appendOnly")) << "with lists only the lists count";
}

TEST(FeatureSupport, ListsMustFitTheVersions) {
	ExpectRefused(CheckProtocol(Versions(3, 7), TableOperation::kRead, "t"), ErrorKind::kCorrupt,
				  {"t", "readerFeatures"});
	ExpectRefused(CheckProtocol(Versions(1, 7), TableOperation::kRead, "t"), ErrorKind::kCorrupt, {"writerFeatures"});
	Protocol early = Versions(2, 5);
	early.reader_features = Names {};
	ExpectRefused(CheckProtocol(early, TableOperation::kRead, "t"), ErrorKind::kCorrupt,
				  {"readerFeatures", "minReaderVersion 2"});
	Protocol writer_only = Versions(1, 7);
	writer_only.writer_features = Names {"appendOnly"};
	EXPECT_TRUE(CheckProtocol(writer_only, TableOperation::kChange, "t"));
	ExpectRefused(CheckProtocol(Versions(0, 2), TableOperation::kRead, "t"), ErrorKind::kCorrupt,
				  {"minReaderVersion 0"});
}

TEST(FeatureSupport, UnknownOnesBlockOnlyWhatTheyMust) {
	ExpectRefused(CheckProtocol(Versions(4, 7), TableOperation::kRead, "t"), ErrorKind::kUnsupported,
				  {"read table t", "minReaderVersion 4"});
	ExpectRefused(CheckProtocol(Features({"timeMachine"}, {"timeMachine"}), TableOperation::kRead, "t"),
				  ErrorKind::kUnsupported, {"reader feature \"timeMachine\"", "read table t"});
	for (const char* name : {"quantumWrites", "collations", "liquid"}) {
		const Protocol protocol = Features({}, {name});
		EXPECT_TRUE(CheckProtocol(protocol, TableOperation::kRead, "t"));
		ExpectRefused(CheckProtocol(protocol, TableOperation::kAppend, "t"), ErrorKind::kUnsupported,
					  {name, "append to table t"});
		ExpectRefused(CheckProtocol(protocol, TableOperation::kMaintain, "t"), ErrorKind::kUnsupported,
					  {name, "optimize or vacuum table t"});
		ExpectRefused(CheckProtocol(protocol, TableOperation::kChange, "t"), ErrorKind::kUnsupported, {name, "update"});
		ExpectRefused(CheckProtocol(protocol, TableOperation::kAlter, "t"), ErrorKind::kUnsupported, {name, "alter"});
	}
	ExpectRefused(CheckProtocol(Features({"catalogManaged"}, {"catalogManaged"}), TableOperation::kAppend, "t"),
				  ErrorKind::kUnsupported, {"catalogManaged", "path"});
	EXPECT_TRUE(CheckProtocol(Features({"catalogManaged"}, {"catalogManaged"}), TableOperation::kRead, "t"));
}

TEST(FeatureSupport, TheTableIsConsistent) {
	for (const TableFeature& feature : TableFeatures()) {
		EXPECT_EQ(1, std::ranges::count(TableFeatures(), feature.name, &TableFeature::name)) << feature.name;
		EXPECT_TRUE(feature.read || !(feature.append || feature.change)) << feature.name;
		EXPECT_TRUE(feature.read || feature.reader_writer) << feature.name << ": a writer feature never blocks reading";
	}
}

Snapshot Table(Configuration configuration, const std::string& column_metadata = "{}") {
	Snapshot snapshot;
	snapshot.table = "t";
	snapshot.version = 3;
	snapshot.protocol = Versions(2, 6);
	snapshot.metadata.configuration = std::move(configuration);
	snapshot.schema = *ParseSchema(
		R"({"type":"struct","fields":[{"name":"s","type":{"type":"struct","fields":[{"name":"c","type":"long","metadata":)" +
		column_metadata + "}]}}]}");
	return snapshot;
}

TEST(WriteRequirements, FeaturesThatAreNotUsedDoNotHinder) {
	EXPECT_TRUE(CheckWrite(Table({}), TableOperation::kAppend));
	EXPECT_TRUE(CheckWrite(Table({}), TableOperation::kChange));
	EXPECT_TRUE(CheckWrite(Table({{"delta.appendOnly", "true"}}), TableOperation::kAppend));
	EXPECT_TRUE(CheckWrite(Table({{"delta.enableChangeDataFeed", "true"}}), TableOperation::kAppend));
	EXPECT_TRUE(CheckWrite(Table({{"delta.constraints.c", "x > 0"}}), TableOperation::kAppend));
}

TEST(WriteRequirements, UsedOnesAreNamed) {
	ExpectRefused(CheckWrite(Table({{"delta.appendOnly", "TRUE"}}), TableOperation::kChange),
				  ErrorKind::kInvalidArgument, {"DELTA_CANNOT_MODIFY_APPEND_ONLY", "t", "SQLSTATE: 42809"});
	ExpectRefused(CheckWrite(Table({{"delta.enableChangeDataFeed", "true"}}), TableOperation::kChange),
				  ErrorKind::kUnsupported, {"changeDataFeed", "UPDATE"});
	ExpectRefused(CheckWrite(Table({{"delta.enableChangeDataCapture", "true"}}), TableOperation::kChange),
				  ErrorKind::kUnsupported, {"changeDataFeed"});
	ExpectRefused(CheckWrite(Table({{"delta.enableIcebergCompatV2", "true"}}), TableOperation::kAppend),
				  ErrorKind::kUnsupported, {"icebergCompatV2"});
}

TEST(WriteRequirements, InCommitTimestampsMustBeThereIfEnabled) {
	Snapshot snapshot = Table({{"delta.enableInCommitTimestamps", "true"}});
	ExpectRefused(CheckWrite(snapshot, TableOperation::kAppend), ErrorKind::kCorrupt,
				  {"inCommitTimestamp", "version 3"});
	snapshot.in_commit_timestamp = 5;
	EXPECT_TRUE(CheckWrite(snapshot, TableOperation::kAppend));
}

TEST(PropertyTable, ValuesAreCheckedAndSpelledCanonically) {
	const auto checked = [](const char* key, const char* value) {
		const auto result = CheckProperty(key, value);
		return result ? result->first + "=" + result->second : result.error().message;
	};
	EXPECT_EQ(checked("DELTA.appendonly", "True"), "delta.appendOnly=true");
	EXPECT_EQ(checked("delta.isolationLevel", "writeserializable"), "delta.isolationLevel=WriteSerializable");
	EXPECT_EQ(checked("delta.checkpointInterval", "25"), "delta.checkpointInterval=25");
	EXPECT_EQ(checked("delta.logRetentionDuration", "interval 3 days"), "delta.logRetentionDuration=interval 3 days");
	EXPECT_EQ(checked("delta.feature.deletionVectors", "Supported"), "delta.feature.deletionVectors=supported");
	EXPECT_EQ(checked("owner", "me"), "owner=me");
	EXPECT_EQ(checked("delta.targetFileSize", "128MB"), "delta.targetFileSize=128MB");
	for (const auto& [key, value] :
		 std::initializer_list<std::pair<const char*, const char*>> {{"delta.appendOnly", "yes"},
																	 {"delta.checkpointInterval", "0"},
																	 {"delta.checkpointInterval", "1x"},
																	 {"delta.logRetentionDuration", "3 lightyears"},
																	 {"delta.columnMapping.mode", "names"},
																	 {"delta.checkpointPolicy", "v3"},
																	 {"delta.columnMapping.maxColumnId", "3"},
																	 {"delta.targetFileSize", "big"},
																	 {"delta.doesNotExist", "1"}}) {
		const auto result = CheckProperty(key, value);
		ASSERT_FALSE(result) << key;
		EXPECT_EQ(static_cast<int>(result.error().kind), static_cast<int>(ErrorKind::kInvalidArgument));
		EXPECT_NE(result.error().message.find(key), std::string::npos) << result.error().message;
	}
	const std::string level = checked("delta.isolationLevel", "SnapshotIsolation");
	EXPECT_NE(level.find("DELTA_INVALID_ISOLATION_LEVEL"), std::string::npos) << level;
	EXPECT_NE(level.find("SQLSTATE: 25000"), std::string::npos) << level;
}

TEST(PropertyTable, DefaultsAndIntervals) {
	EXPECT_EQ(PropertyValue({}, "delta.isolationLevel"), "WriteSerializable");
	EXPECT_EQ(PropertyInteger({}, "delta.checkpointInterval"), 10);
	EXPECT_EQ(PropertyInteger({{"delta.checkpointInterval", "junk"}}, "delta.checkpointInterval"), 10);
	EXPECT_EQ(PropertyInteger({}, "delta.deletedFileRetentionDuration"), 7LL * 86'400'000);
	EXPECT_FALSE(PropertyEnabled({}, "delta.enableDeletionVectors"));
	EXPECT_TRUE(PropertyEnabled({{"delta.enableDeletionVectors", "true"}}, "delta.enableDeletionVectors"));
	EXPECT_EQ(*ParseIntervalMs("interval 1 week"), 604'800'000);
	EXPECT_EQ(*ParseIntervalMs("INTERVAL '2' HOURS 30 minutes"), 9'000'000);
	EXPECT_EQ(*ParseIntervalMs("5 milliseconds"), 5);
	for (const char* text : {"", "interval", "interval 1", "1 month", "-1 day", "9999999999999999 weeks", "1 day 2"}) {
		EXPECT_FALSE(ParseIntervalMs(text)) << text;
	}
}

}  // namespace
}  // namespace braid
