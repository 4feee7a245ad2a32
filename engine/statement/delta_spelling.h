// SPDX-License-Identifier: Apache-2.0
// Delta's spelling of CREATE TABLE in DuckDB's grammar: TBLPROPERTIES (...) is WITH (...), and USING DELTA says what is so anyway.
// Everything else in a query, quoted text and comments included, stays as it is, and at its place.
#pragma once

#include <string>

namespace duckdb {
struct DBConfig;
}

namespace braid::engine {

// The query in DuckDB's spelling; unchanged if there is nothing to do.
std::string ToDuckdbSpelling(const std::string& query);

// Makes every parser of the database instance see queries in DuckDB's spelling.
void RegisterDeltaSpelling(duckdb::DBConfig& config);

}  // namespace braid::engine
