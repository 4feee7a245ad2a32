// SPDX-License-Identifier: Apache-2.0
// The text behind the mark reads well where DuckDB reports that a table of its own has no such name.
#include "engine/write/insert_mode.h"

namespace braid::engine {

namespace {

constexpr char kMark = '\x1f';
const std::string kOverwrite = " (INSERT OVERWRITE)";
const std::string kReplaceWhere = " REPLACE WHERE ";

}  // namespace

std::string WithInsertMode(const std::string& table, const InsertMode& mode) {
	return table + kMark + (mode.replaces_all() ? kOverwrite : kReplaceWhere + mode.predicate);
}

std::pair<std::string, std::optional<InsertMode>> SplitInsertMode(const std::string& name) {
	const auto mark = name.find(kMark);
	if (mark == std::string::npos) return {name, std::nullopt};
	const auto mode = name.substr(mark + 1);
	if (!mode.starts_with(kReplaceWhere)) return {name.substr(0, mark), InsertMode {}};
	return {name.substr(0, mark), InsertMode {mode.substr(kReplaceWhere.size())}};
}

}  // namespace braid::engine
