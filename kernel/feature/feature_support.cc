// SPDX-License-Identifier: Apache-2.0
#include "kernel/feature/feature_support.h"

#include <algorithm>

namespace braid {

namespace {

constexpr bool kReaderWriter = true;
constexpr bool kWriterOnly = false;
constexpr bool kYes = true;
constexpr bool kNo = false;

// Where a feature restricts writing only while it is used (a constraint, a generated column, ...), append and change are kYes here and
// kernel/feature/write_requirements.cc looks at the table.
constexpr TableFeature kFeatures[] = {
	// name, kind, implied by reader / writer version, read, append, change
	{"appendOnly", kWriterOnly, 0, 2, kYes, kYes, kYes},
	{"invariants", kWriterOnly, 0, 2, kYes, kYes, kYes},
	{"checkConstraints", kWriterOnly, 0, 3, kYes, kYes, kYes},
	{"changeDataFeed", kWriterOnly, 0, 4, kYes, kYes, kYes},
	{"generatedColumns", kWriterOnly, 0, 4, kYes, kYes, kYes},
	{"columnMapping", kReaderWriter, 2, 5, kYes, kYes, kYes},
	{"identityColumns", kWriterOnly, 0, 6, kYes, kYes, kYes},
	{"deletionVectors", kReaderWriter, 0, 0, kYes, kYes, kYes},
	{"rowTracking", kWriterOnly, 0, 0, kYes, kYes, kYes},
	{"domainMetadata", kWriterOnly, 0, 0, kYes, kYes, kYes},
	{"clustering", kWriterOnly, 0, 0, kYes, kYes, kYes},
	{"allowColumnDefaults", kWriterOnly, 0, 0, kYes, kYes, kYes},
	{"inCommitTimestamp", kWriterOnly, 0, 0, kYes, kYes, kYes},
	{"v2Checkpoint", kReaderWriter, 0, 0, kYes, kYes, kYes},
	{"timestampNtz", kReaderWriter, 0, 0, kYes, kYes, kYes},
	{"vacuumProtocolCheck", kReaderWriter, 0, 0, kYes, kYes, kYes},
	{"icebergCompatV1", kWriterOnly, 0, 0, kYes, kYes, kYes},
	{"icebergCompatV2", kWriterOnly, 0, 0, kYes, kYes, kYes},
	{"typeWidening", kReaderWriter, 0, 0, kYes, kYes, kYes},
	{"typeWidening-preview", kReaderWriter, 0, 0, kYes, kYes, kYes},
	{"materializePartitionColumns", kWriterOnly, 0, 0, kYes, kNo, kNo},
	{"checkpointProtection", kWriterOnly, 0, 0, kYes, kNo, kNo},
	{"icebergCompatV3", kWriterOnly, 0, 0, kYes, kNo, kNo},
	// Published commits can be read; a new commit would have to go through the catalog or coordinator.
	{"catalogManaged", kReaderWriter, 0, 0, kYes, kNo, kNo},
	{"coordinatedCommits-preview", kWriterOnly, 0, 0, kYes, kNo, kNo},
	{"redirectWriterOnly-preview", kWriterOnly, 0, 0, kYes, kNo, kNo},
	{"variantType", kReaderWriter, 0, 0, kNo, kNo, kNo},
	{"variantType-preview", kReaderWriter, 0, 0, kNo, kNo, kNo},
	{"variantShredding", kReaderWriter, 0, 0, kNo, kNo, kNo},
	{"variantShredding-preview", kReaderWriter, 0, 0, kNo, kNo, kNo},
	{"geospatial", kReaderWriter, 0, 0, kNo, kNo, kNo},
	{"geospatial-dev", kReaderWriter, 0, 0, kNo, kNo, kNo},
	{"adaptiveMetadata-preview", kReaderWriter, 0, 0, kNo, kNo, kNo},
	{"redirectReaderWriter-preview", kReaderWriter, 0, 0, kNo, kNo, kNo},
};

constexpr int kMaxReaderVersion = 3;
constexpr int kMaxWriterVersion = 7;

const TableFeature* FindFeature(std::string_view name) {
	for (const TableFeature& feature : kFeatures) {
		if (feature.name == name) return &feature;
	}
	return nullptr;
}

const char* Verb(TableOperation operation) {
	switch (operation) {
		case TableOperation::kRead:
			return "read";
		case TableOperation::kAppend:
			return "append to";
		case TableOperation::kMaintain:
			return "optimize or vacuum";
		case TableOperation::kChange:
			return "delete from or update";
		case TableOperation::kAlter:
			return "alter";
	}
	return "";
}

bool Supports(const TableFeature& feature, TableOperation operation) {
	switch (operation) {
		case TableOperation::kRead:
			return feature.read;
		case TableOperation::kAppend:
		case TableOperation::kMaintain:
			return feature.append;
		case TableOperation::kChange:
			return feature.change;
		case TableOperation::kAlter:
			return feature.append && feature.change;
	}
	return false;
}

std::string TableName(std::string_view table) { return "table " + std::string(table); }

Status Unsupported(std::string_view table, TableOperation operation, const std::string& what) {
	return Fail(ErrorKind::kUnsupported,
				"cannot " + std::string(Verb(operation)) + " " + TableName(table) + ": it needs " + what);
}

// PROTOCOL: Table Features: the lists exist exactly with reader version 3 and writer version 7.
Status CheckLists(const Protocol& protocol, std::string_view table) {
	const auto corrupt = [&](const std::string& what) {
		return Fail(ErrorKind::kCorrupt, "invalid protocol in " + TableName(table) + ": " + what);
	};
	const std::string reader = "minReaderVersion " + std::to_string(protocol.min_reader_version);
	const std::string writer = "minWriterVersion " + std::to_string(protocol.min_writer_version);
	if (protocol.min_reader_version < 1 || protocol.min_writer_version < 1) return corrupt(reader + ", " + writer);
	if (protocol.min_reader_version == 3 && !protocol.reader_features)
		return corrupt(reader + " without readerFeatures");
	if (protocol.min_reader_version < 3 && protocol.reader_features) return corrupt("readerFeatures with " + reader);
	if (protocol.min_writer_version == 7 && !protocol.writer_features)
		return corrupt(writer + " without writerFeatures");
	if (protocol.min_writer_version < 7 && protocol.writer_features) return corrupt("writerFeatures with " + writer);
	if (protocol.min_reader_version == 3 && protocol.min_writer_version < 7) return corrupt(reader + " with " + writer);
	return {};
}

Status CheckRead(const Protocol& protocol, std::string_view table) {
	if (protocol.min_reader_version > kMaxReaderVersion) {
		return Unsupported(table, TableOperation::kRead,
						   "minReaderVersion " + std::to_string(protocol.min_reader_version) +
							   ", this build reads up to " + std::to_string(kMaxReaderVersion));
	}
	BRAID_TRY(CheckLists(protocol, table));
	if (!protocol.reader_features) return {};
	for (const std::string& name : *protocol.reader_features) {
		const TableFeature* feature = FindFeature(name);
		if (feature == nullptr || !feature->read) {
			return Unsupported(table, TableOperation::kRead,
							   "the reader feature \"" + name + "\", which this build does not support");
		}
	}
	return {};
}

}  // namespace

std::span<const TableFeature> TableFeatures() { return kFeatures; }

std::vector<std::string> EnabledWriterFeatures(const Protocol& protocol) {
	if (protocol.writer_features) return *protocol.writer_features;
	std::vector<std::string> names;
	for (const TableFeature& feature : kFeatures) {
		if (feature.legacy_writer_version != 0 && feature.legacy_writer_version <= protocol.min_writer_version &&
			feature.legacy_reader_version <= protocol.min_reader_version) {
			names.emplace_back(feature.name);
		}
	}
	return names;
}

bool HasFeature(const Protocol& protocol, std::string_view feature) {
	const std::vector<std::string> names = EnabledWriterFeatures(protocol);
	if (std::find(names.begin(), names.end(), feature) != names.end()) return true;
	return protocol.reader_features && std::find(protocol.reader_features->begin(), protocol.reader_features->end(),
												 feature) != protocol.reader_features->end();
}

Status CheckProtocol(const Protocol& protocol, TableOperation operation, std::string_view table) {
	BRAID_TRY(CheckRead(protocol, table));
	if (operation == TableOperation::kRead) return {};
	if (protocol.min_writer_version > kMaxWriterVersion) {
		return Unsupported(table, operation,
						   "minWriterVersion " + std::to_string(protocol.min_writer_version) +
							   ", this build writes up to " + std::to_string(kMaxWriterVersion));
	}
	for (const std::string& name : EnabledWriterFeatures(protocol)) {
		const TableFeature* feature = FindFeature(name);
		if (feature != nullptr && Supports(*feature, operation)) continue;
		std::string what = "the writer feature \"" + name + "\", which this build does not support for that";
		if (name == "catalogManaged")
			what += " (a catalog-managed table cannot be changed by its path: its commits go through the catalog)";
		return Unsupported(table, operation, what);
	}
	return {};
}

}  // namespace braid
