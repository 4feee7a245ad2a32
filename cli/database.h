// SPDX-License-Identifier: Apache-2.0
// One DuckDB in this process with Braid loaded and a lake attached and in use, through DuckDB's C interface.
#pragma once

#include <duckdb.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace braid::cli {

using Row = std::vector<std::string>;  // every value as text; NULL is the empty text

struct QueryResult {
	std::vector<Row> rows;
	int64_t rows_changed = 0;
};

class Database {
public:
	Database() = default;
	Database(const Database&) = delete;
	Database& operator=(const Database&) = delete;
	~Database();

	[[nodiscard]] Status Open(const std::string& lake, int threads);
	[[nodiscard]] Result<QueryResult> Run(const std::string& sql);

private:
	duckdb_database database_ = nullptr;
	duckdb_connection connection_ = nullptr;
};

}  // namespace braid::cli
