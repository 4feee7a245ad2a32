// SPDX-License-Identifier: Apache-2.0
// INSERT OVERWRITE and INSERT ... REPLACE WHERE: which rows go when new ones come. DuckDB's INSERT has no place for it, so it travels from the
// parsed statement to the table's entry behind the table's name, after a character that no name has.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace braid::engine {

struct InsertMode {
	std::string predicate;  // REPLACE WHERE; "": OVERWRITE
	bool replaces_all() const { return predicate.empty(); }
};

std::string WithInsertMode(const std::string& table, const InsertMode& mode);
std::pair<std::string, std::optional<InsertMode>> SplitInsertMode(const std::string& name);

}  // namespace braid::engine
