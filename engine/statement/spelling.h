// SPDX-License-Identifier: Apache-2.0
// Statements of Delta in DuckDB's parser: each that a rule (rules.h) or a respelling of names and of time travel knows is parsed in DuckDB's
// spelling, and keeps the user's text for messages. Guarantees: a query with nothing of Delta in it is left to DuckDB after one quick look.
#pragma once

#include <optional>
#include <string>

namespace duckdb {
struct DBConfig;
}

namespace braid::engine {

// Makes every parser of the database instance understand Delta's statements.
void RegisterSpelling(duckdb::DBConfig& config);

}  // namespace braid::engine
