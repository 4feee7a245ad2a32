// SPDX-License-Identifier: Apache-2.0
// Where the golden tables are: the folder named by BRAID_GOLDEN, else shared/golden in the working
// directory or one above it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace braid {

inline std::string GoldenRoot() {
	if (const char* configured = std::getenv("BRAID_GOLDEN")) return configured;
	std::filesystem::path directory = std::filesystem::current_path();
	for (; directory.has_relative_path(); directory = directory.parent_path()) {
		const auto candidate = directory / "shared" / "golden";
		if (std::filesystem::exists(candidate / "MANIFEST.tsv")) return candidate.string();
	}
	return "";
}

// First line of a test that reads golden tables.
#define BRAID_REQUIRE_GOLDEN() \
	if (GoldenRoot().empty()) GTEST_SKIP() << "NO GOLDEN TABLES: set BRAID_GOLDEN to their folder"

}  // namespace braid
