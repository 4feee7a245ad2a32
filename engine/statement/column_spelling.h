// SPDX-License-Identifier: Apache-2.0
// Column definitions as Delta users write them: name type [NOT NULL] [DEFAULT e] [GENERATED ALWAYS AS (e)] [COMMENT 'text'] [FIRST | AFTER c],
// with types of Spark (ARRAY<T>, MAP<K, V>, STRUCT<a: T>, BYTE, TIMESTAMP_NTZ) beside those of DuckDB.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "duckdb/common/types.hpp"
#include "engine/statement/tokens.h"

namespace duckdb {
class Binder;
}

namespace braid::engine {

struct ColumnText {
	std::vector<std::string> path;  // names without quotes; more than one: a field inside a struct
	std::string type;               // in DuckDB's spelling
	bool not_null = false;
	std::optional<std::string> default_value, generated, comment;
	bool first = false;
	std::optional<std::string> after;
};

// a.`b c`.d, names without quotes.
std::vector<std::string> TakePath(TokenCursor& cursor);
std::string TakeType(TokenCursor& cursor);
ColumnText TakeColumn(TokenCursor& cursor);
// FIRST or AFTER name; false if neither comes next.
bool TakePosition(TokenCursor& cursor, ColumnText& column);
// A type by its text in DuckDB's spelling.
duckdb::LogicalType BindType(duckdb::Binder& binder, const std::string& text);
// [1, 'a''b', NULL] as arguments of a call.
std::string SqlList(const std::vector<std::optional<std::string>>& items);

}  // namespace braid::engine
