// SPDX-License-Identifier: Apache-2.0
// Real logs of Spark, Databricks, delta-rs and others against the recorded facts. Tables whose state needs a Parquet checkpoint are read
// by the conformance tests instead; how many are read here is asserted.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "kernel/log/log_path.h"
#include "kernel/snapshot/snapshot.h"
#include "kernel/storage/local_log_store.h"
#include "tests/kernel/golden.h"
#include "tests/kernel/no_parquet.h"

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

}  // namespace
}  // namespace braid
