// SPDX-License-Identifier: Apache-2.0
// (key = value, ...) of TBLPROPERTIES, SET and WITH, with keys in the case that the user wrote.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "duckdb/common/case_insensitive_map.hpp"
#include "duckdb/parser/parsed_expression.hpp"
#include "engine/statement/tokens.h"

namespace braid::engine {

// 'a.b', a.b or "a.b".
std::string TakeKey(TokenCursor& cursor);
// With both parentheses; `=` may be left out. A value is a 'string' or what stands there.
std::vector<std::pair<std::string, std::string>> TakeProperties(TokenCursor& cursor);
// After the opening parenthesis, to the closing one: the keys, with or without values.
std::vector<std::string> TakeKeys(TokenCursor& cursor);

// Options that DuckDB has parsed, under the keys that the user wrote.
void RestoreKeys(const std::vector<std::string>& keys,
				 duckdb::case_insensitive_map_t<duckdb::unique_ptr<duckdb::ParsedExpression>>& options);

}  // namespace braid::engine
