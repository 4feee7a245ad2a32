// SPDX-License-Identifier: Apache-2.0
// The table of statements in Delta's spelling: what one begins with, and the function that says it in DuckDB's SQL: a native statement, or a
// call of one of Braid's functions. A new statement is one line in rules.cc and one function. Everything else reaches DuckDB byte for byte.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "duckdb/parser/sql_statement.hpp"
#include "engine/statement/edits.h"
#include "engine/statement/tokens.h"

namespace braid::engine {

struct Respelling {
	std::string sql;
	// Sets on the parsed statement what DuckDB's grammar has no words for; may be empty.
	std::function<void(duckdb::SQLStatement&)> finish = nullptr;
	// What the parsed statement becomes; null: what it is.
	std::function<duckdb::unique_ptr<duckdb::SQLStatement>(duckdb::unique_ptr<duckdb::SQLStatement>)> replace = nullptr;
};

struct StatementRule {
	std::string_view begins;  // the first words of the statement, in capitals: "DESCRIBE HISTORY"
	// Words in capitals: the statement has the first word of `begins` and one of these, or it is not even tokenized.
	std::vector<std::string_view> signs;
	// Reads the statement from its first word. nullopt: not this rule's business. Throws a syntax error (TokenCursor::Fail) if it is, but wrong.
	std::optional<Respelling> (*respell)(TokenCursor statement);
};

// Tried in order; the first that answers counts.
std::span<const StatementRule> StatementRules();

}  // namespace braid::engine
