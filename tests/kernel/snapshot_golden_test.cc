// SPDX-License-Identifier: Apache-2.0
// Real logs of Spark, Databricks, delta-rs and others against the recorded facts. Tables whose state needs a Parquet checkpoint are read
// by the conformance tests instead; how many are read here is asserted.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <fstream>
#include <random>
#include <set>
#include <tuple>

#include "kernel/feature/write_requirements.h"
#include "kernel/log/log_path.h"
#include "kernel/snapshot/snapshot.h"
#include "kernel/storage/local_log_store.h"
#include "tests/kernel/golden.h"
#include "tests/kernel/no_parquet.h"
#include "tests/kernel/test_log.h"

namespace braid {
namespace {

using Row = std::map<std::string, std::string>;

std::vector<std::string> SplitTabs(const std::string& line) {
	std::vector<std::string> cells(1);
	for (const char c : line) {
		if (c == '\t') {
			cells.emplace_back();
		} else {
			cells.back() += c;
		}
	}
	return cells;
}

std::vector<Row> ReadTsv(const std::string& name) {
	std::ifstream file(GoldenRoot() + "/" + name);
	std::string line;
	std::getline(file, line);
	const std::vector<std::string> header = SplitTabs(line);
	std::vector<Row> rows;
	while (std::getline(file, line)) {
		const std::vector<std::string> cells = SplitTabs(line);
		Row& row = rows.emplace_back();
		for (size_t i = 0; i < header.size() && i < cells.size(); ++i) row[header[i]] = cells[i];
	}
	return rows;
}

struct Opened {
	explicit Opened(const std::string& table) : store(GoldenRoot() + "/" + table, false) {}
	SnapshotSource source() { return {store, parquet}; }
	LocalLogStore store;
	NoParquet parquet;
};

// Features whose data this build does not read.
bool Refused(const Row& row) {
	const std::string& features = row.at("reader_features");
	return features.find("variant") != std::string::npos || features.find("geospatial") != std::string::npos;
}

TEST(SnapshotGolden, LatestVersionsOfTheManifest) {
	BRAID_REQUIRE_GOLDEN();
	int read = 0, refused = 0, need_parquet = 0;
	for (const Row& row : ReadTsv("MANIFEST.tsv")) {
		SCOPED_TRACE(row.at("path"));
		Opened table(row.at("path"));
		const Result<SnapshotPtr> snapshot = LoadSnapshot(table.source());
		if (Refused(row)) {
			ASSERT_FALSE(snapshot);
			if (table.parquet.reads == 0) {
				EXPECT_EQ(snapshot.error().kind, ErrorKind::kUnsupported) << snapshot.error().message;
			}
			++refused;
			continue;
		}
		if (!snapshot) {
			EXPECT_NE(snapshot.error().message.find("no Parquet in this test"), std::string::npos)
				<< snapshot.error().message;
			++need_parquet;
			continue;
		}
		++read;
		EXPECT_EQ(std::to_string((*snapshot)->version), row.at("latest_version"));
		EXPECT_EQ(std::to_string((*snapshot)->files->size()), row.at("active_files"));
		EXPECT_EQ((*snapshot)->files->Files().size(), (*snapshot)->files->size());
		EXPECT_EQ(std::to_string((*snapshot)->protocol.min_reader_version), row.at("min_reader"));
	}
	EXPECT_EQ(read, 165);
	EXPECT_EQ(refused, 8);
	EXPECT_EQ(need_parquet, 2);
}

TEST(SnapshotGolden, OlderVersions) {
	BRAID_REQUIRE_GOLDEN();
	int read = 0;
	for (const Row& row : ReadTsv("VERSIONS.tsv")) {
		SCOPED_TRACE(row.at("path") + " @ " + row.at("version"));
		Opened table(row.at("path"));
		const Result<SnapshotPtr> snapshot = LoadSnapshot(table.source(), std::stoll(row.at("version")));
		if (!snapshot) continue;
		++read;
		EXPECT_EQ(std::to_string((*snapshot)->files->size()), row.at("active_files"));
		if (!row.at("in_commit_timestamp").empty()) {
			EXPECT_EQ(std::to_string((*snapshot)->in_commit_timestamp.value_or(-1)), row.at("in_commit_timestamp"));
		}
	}
	EXPECT_EQ(read, 536);
}

// What the message of each invalid log must say. Those that need a Parquet checkpoint are left to the conformance tests.
const std::map<std::string, std::pair<ErrorKind, std::string>> kInvalid = {
	{"derived/commit-json-truncated", {ErrorKind::kCorrupt, "version 1"}},
	{"derived/commit0-empty", {ErrorKind::kCorrupt, "is empty"}},
	{"derived/commit0-missing", {ErrorKind::kCorrupt, "commit 0 is missing"}},
	{"derived/unknown-reader-feature", {ErrorKind::kUnsupported, "timeMachine"}},
	{"derived/reader-version-4", {ErrorKind::kUnsupported, "minReaderVersion 4"}},
	{"derived/v3-without-feature-lists", {ErrorKind::kCorrupt, "without readerFeatures"}},
	{"derived/features-with-old-version", {ErrorKind::kCorrupt, "readerFeatures with minReaderVersion"}},
	{"derived/two-metadata-in-one-commit", {ErrorKind::kCorrupt, "two metaData"}},
	{"derived/unknown-type", {ErrorKind::kUnsupported, "hyperloglog"}},
	{"derived/decimal-39", {ErrorKind::kUnsupported, "38 digits"}},
	{"derived/schema-string-malformed", {ErrorKind::kCorrupt, "schemaString is malformed"}},
	{"derived/column-mapping-without-physical-names", {ErrorKind::kCorrupt, "delta.columnMapping.id"}},
	{"derived/partition-column-not-in-schema", {ErrorKind::kCorrupt, "\"nope\""}},
	{"derived/multipart-checkpoint-incomplete", {ErrorKind::kCorrupt, "is incomplete"}},
	{"derived/same-file-added-twice-in-commit", {ErrorKind::kCorrupt, "is added twice"}},
	{"golden-tables/deltalog-invalid-protocol-version", {ErrorKind::kUnsupported, "minReaderVersion 99"}},
	{"golden-tables/deltalog-state-reconstruction-without-metadata", {ErrorKind::kCorrupt, "no metaData"}},
	{"golden-tables/deltalog-state-reconstruction-without-protocol", {ErrorKind::kCorrupt, "no protocol"}},
	{"golden-tables/no-delta-log-folder", {ErrorKind::kNotFound, "not a Delta table"}},
	{"golden-tables/versions-not-contiguous", {ErrorKind::kCorrupt, "commit 1 is missing"}},
	{"golden-tables/data-reader-absolute-paths-escaped-chars", {ErrorKind::kCorrupt, "no metaData"}},
	{"delta-rs/table_c", {ErrorKind::kCorrupt, "commit 12 is missing"}},
	{"delta-rs/table_d", {ErrorKind::kUnsupported, "catalogOwned"}},
	{"delta-rs/table_f", {ErrorKind::kUnsupported, "catalogOwned"}},
	{"delta-rs/simple_table_features", {ErrorKind::kUnsupported, "minReaderVersion 5"}},
	{"../delta-kernel-rs/table-with-geo", {ErrorKind::kUnsupported, "geospatial"}},
};

TEST(SnapshotGolden, InvalidLogsAreRefusedWithTheReason) {
	BRAID_REQUIRE_GOLDEN();
	for (const auto& [path, expected] : kInvalid) {
		SCOPED_TRACE(path);
		Opened table("invalid/" + path);
		const Result<SnapshotPtr> snapshot = LoadSnapshot(table.source());
		ASSERT_FALSE(snapshot);
		const Error& error = snapshot.error();
		EXPECT_EQ(static_cast<int>(error.kind), static_cast<int>(expected.first)) << error.message;
		EXPECT_NE(error.message.find(expected.second), std::string::npos) << error.message;
		EXPECT_NE(error.message.find(path.substr(path.rfind('/') + 1)), std::string::npos)
			<< "names the table: " << error.message;
	}
	size_t listed = 0;
	for (const Row& row : ReadTsv("INVALID.tsv")) listed += row.at("operation") == "snapshot";
	EXPECT_EQ(listed, kInvalid.size() + 2)
		<< "checkpoint-truncated and ...from-checkpoint-missing-metadata need Parquet";
}

TEST(SnapshotGolden, VersionsThatAreNotThere) {
	BRAID_REQUIRE_GOLDEN();
	Opened basic("dat/basic_append/delta");
	EXPECT_NE(LoadSnapshot(basic.source(), 2).error().message.find("versions 0 to 1"), std::string::npos);
	EXPECT_EQ(static_cast<int>(LoadSnapshot(basic.source(), -1).error().kind),
			  static_cast<int>(ErrorKind::kInvalidArgument));
	Opened cleaned("delta-rs/checkpoint-cdf-table");
	const Result<SnapshotPtr> gone = LoadSnapshot(cleaned.source(), 0);
	ASSERT_FALSE(gone);
	EXPECT_NE(gone.error().message.find("no longer available"), std::string::npos) << gone.error().message;
	EXPECT_NE(gone.error().message.find("versions 3 to"), std::string::npos) << gone.error().message;
}

TEST(SnapshotGolden, WhatMayBeWritten) {
	BRAID_REQUIRE_GOLDEN();
	const std::tuple<const char*, bool, bool> kTables[] = {
		// table, append, change
		{"dat/basic_append/delta", true, true},
		{"invalid/derived/append-only", true, false},
		{"invalid/derived/unknown-writer-feature", false, false},
		{"invalid/derived/ict-enabled-but-absent", false, false},
		{"dat/check_constraints/delta", true, true},
		{"dat/generated_columns/delta", true, true},
		{"dat/cdf/delta", true, false},
		{"dat/deletion_vectors/delta", true, true},
		{"delta-kernel/basic_catalog_managed", false, false},
		{"delta-rs/table_with_liquid_clustering", false, false},
		{"golden-tables/collations-table", false, false},
		{"delta-kernel-rs/crc-full", true, true},
		{"golden-tables/type-widening", true, true},
		{"golden-tables/table-with-icebegCompatV2Enabled", false, false},
	};
	for (const auto& [path, append, change] : kTables) {
		SCOPED_TRACE(path);
		Opened table(path);
		const Result<SnapshotPtr> snapshot = LoadSnapshot(table.source());
		ASSERT_TRUE(snapshot) << snapshot.error().message;
		EXPECT_TRUE(CheckWrite(**snapshot, TableOperation::kRead));
		EXPECT_EQ(CheckWrite(**snapshot, TableOperation::kAppend).has_value(), append);
		EXPECT_EQ(CheckWrite(**snapshot, TableOperation::kChange).has_value(), change);
	}
	Opened table("invalid/derived/ict-enabled-but-absent");
	EXPECT_FALSE(LoadSnapshotAt(table.source(), INT64_MAX));
}

// Removes that count: of files that are not active again, the last one of each.
size_t Tombstones(const Snapshot& snapshot) {
	std::set<std::string> removed;
	for (const auto& batch : snapshot.tombstones) {
		for (const auto& remove : *batch) {
			if (snapshot.files->Find(remove->path) == nullptr) removed.insert(DecodePath(remove->path));
		}
	}
	return removed.size();
}

TEST(SnapshotGolden, LogsWithoutData) {
	BRAID_REQUIRE_GOLDEN();
	int read = 0;
	for (const Row& row : ReadTsv("LOGONLY.tsv")) {
		SCOPED_TRACE(row.at("path"));
		if (row.at("path").ends_with(".zst")) continue;
		Opened table(row.at("path"));
		const Result<SnapshotPtr> snapshot = LoadSnapshot(table.source());
		if (table.parquet.reads > 0 && !snapshot) continue;
		ASSERT_TRUE(snapshot) << snapshot.error().message;
		++read;
		EXPECT_EQ(std::to_string((*snapshot)->version), row.at("latest_version"));
		EXPECT_EQ(std::to_string((*snapshot)->files->size()), row.at("active_files"));
		EXPECT_EQ(std::to_string((*snapshot)->files->total_bytes()), row.at("total_size"));
		if (row.at("checkpoints").empty()) {
			EXPECT_EQ(std::to_string(Tombstones(**snapshot)), row.at("tombstones"));
		}
		std::string transactions;
		for (const auto& [app, transaction] : (*snapshot)->set_transactions) {
			transactions += (transactions.empty() ? "" : ", ") + app + "=" + std::to_string(transaction.version);
		}
		EXPECT_EQ(transactions, row.at("txn"));
		std::string paths;
		for (const LiveFile* file : (*snapshot)->files->Files()) {
			if (paths.size() < 500) paths += DecodePath(file->path) + " | ";
		}
		const std::string first_path = row.at("active_paths").substr(0, row.at("active_paths").find(" | "));
		if ((*snapshot)->files->size() <= 2) {
			EXPECT_NE(paths.find(first_path), std::string::npos) << paths;
		}
	}
	EXPECT_EQ(read, 13) << "the other four need their Parquet checkpoint";
}

// What a checksum file states of a version, where the snapshot says otherwise; "" if they agree.
std::string DifferenceFrom(const std::string& text, const Snapshot& snapshot) {
	simdjson::dom::parser parser;
	simdjson::dom::element checksum;
	if (parser.parse(simdjson::padded_string(text)).get(checksum)) return "unreadable";
	std::string difference;
	const auto compare = [&](const char* field, int64_t actual) {
		int64_t stated = 0;
		if (checksum.at_pointer(field).get(stated) || stated == actual) return;
		difference += std::string(field) + " is " + std::to_string(stated) + ", the log has " + std::to_string(actual);
	};
	compare("/numFiles", static_cast<int64_t>(snapshot.files->size()));
	compare("/tableSizeBytes", snapshot.files->total_bytes());
	compare("/protocol/minReaderVersion", snapshot.protocol.min_reader_version);
	compare("/protocol/minWriterVersion", snapshot.protocol.min_writer_version);
	std::string_view id;
	if (!checksum.at_pointer("/metadata/id").get(id) && id != snapshot.metadata.id) difference += "another metadata.id";
	return difference;
}

TEST(SnapshotGolden, ChecksumsAgree) {
	BRAID_REQUIRE_GOLDEN();
	int compared = 0;
	for (const Row& row : ReadTsv("MANIFEST.tsv")) {
		if (row.at("crc_files").empty() || Refused(row)) continue;
		SCOPED_TRACE(row.at("path"));
		Opened table(row.at("path"));
		const Result<SnapshotPtr> snapshot = LoadSnapshot(table.source());
		if (!snapshot) continue;
		const auto checksum = table.store.Read(ChecksumPath((*snapshot)->version));
		if (!checksum) continue;
		++compared;
		const std::string difference = DifferenceFrom(*checksum, **snapshot);
		// The one made by hand for a test of its fields.
		if (row.at("path") == "delta-kernel-rs/crc-full") {
			EXPECT_TRUE(difference.starts_with("/numFiles is 10, the log has 0")) << difference;
		} else {
			EXPECT_EQ(difference, "");
		}
	}
	EXPECT_EQ(compared, 26);
}

// Real logs with bytes changed, cut off or doubled: an error or some snapshot, never a crash (run under the sanitizers), and no error
// without the table's name.
TEST(SnapshotGolden, DamagedLogsAreSurvived) {
	BRAID_REQUIRE_GOLDEN();
	std::mt19937 random(11);
	int refused = 0;
	for (const char* path :
		 {"derived/log-compaction-reconciled", "delta-kernel-rs/table-with-dv-small", "delta-rs/delta-live-table",
		  "delta-kernel-rs/v2-checkpoints-json-without-sidecars", "duckdb-delta/null_constraints_lists"}) {
		std::map<std::string, std::string> files;
		LocalLogStore local(GoldenRoot() + "/" + path, false);
		const auto listed = local.List(kLogDirectory, "");
		ASSERT_TRUE(listed);
		for (const StoredFile& file : *listed) {
			if (!file.is_directory) files[file.name] = *local.Read(LogPath(file.name));
		}
		for (int round = 0; round < 150; ++round) {
			TestLog log;
			const size_t damaged = random() % files.size();
			for (auto file = files.begin(); file != files.end(); ++file) {
				std::string bytes = file->second;
				if (std::distance(files.begin(), file) == static_cast<std::ptrdiff_t>(damaged) && !bytes.empty()) {
					const size_t at = random() % bytes.size();
					const int kind = static_cast<int>(random() % 4);
					if (kind == 0) bytes.resize(at);
					if (kind == 1) bytes.insert(at, bytes.substr(at, random() % 100));
					if (kind >= 2) bytes[at] = static_cast<char>(random());
				}
				log.Put(file->first, bytes);
			}
			const Result<SnapshotPtr> snapshot = LoadSnapshot(log.source());
			if (snapshot) {
				for (const LiveFile* file : (*snapshot)->files->Files()) (void)ToAddFile(*file);
				continue;
			}
			++refused;
			EXPECT_NE(snapshot.error().message.find("lake/t"), std::string::npos) << snapshot.error().message;
		}
	}
	EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace braid
