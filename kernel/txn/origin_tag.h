// SPDX-License-Identifier: Apache-2.0
// Composition tag: a new file of a rearrangement says in its add action of which rows of which files it was made, so that whoever deletes such a row
// finds it without reading a file, even if the old one is gone from storage. Left out where it would be long; then rows are found by ids or content.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/txn/staged_changes.h"

namespace braid {

inline constexpr std::string_view kOriginTag = "braid.origins";

// Rows first .. first + count - 1 were as many consecutive rows of a file.
struct NamedRun {
	std::string path;  // decoded
	uint64_t source_first = 0, first = 0, count = 0;
};

// nullopt: not known for every row, or too long.
std::optional<std::string> WriteOriginTag(const NewFile& file, const std::vector<std::string>& origin_files);
// nullopt: not what WriteOriginTag writes.
std::optional<std::vector<NamedRun>> ReadOriginTag(std::string_view tag);

}  // namespace braid
