// SPDX-License-Identifier: Apache-2.0
// One DuckDB in this process with Braid loaded and a lake attached and in use.
#include "cli/database.h"

#include "cli/launcher.h"

namespace braid::cli {

Database::~Database() {
	duckdb_disconnect(&connection_);
	duckdb_close(&database_);
}

Status Database::Open(const std::string& lake, int threads) {
	duckdb_config config = nullptr;
	duckdb_create_config(&config);
	duckdb_set_config(config, "allow_unsigned_extensions", "true");
	duckdb_set_config(config, "threads", std::to_string(threads).c_str());
	char* failure = nullptr;
	const auto opened = duckdb_open_ext(nullptr, &database_, config, &failure);
	duckdb_destroy_config(&config);
	if (opened != DuckDBSuccess) {
		const std::string message = failure ? failure : "DuckDB cannot be opened";
		duckdb_free(failure);
		return Fail(ErrorKind::kIo, message);
	}
	if (duckdb_connect(database_, &connection_) != DuckDBSuccess)
		return Fail(ErrorKind::kIo, "no connection to DuckDB");
	for (const std::string& statement : SetupStatements(ProgramFolder(), lake, false)) {
		if (const auto done = Run(statement); !done) return std::unexpected(done.error());
	}
	return {};
}

Result<QueryResult> Database::Run(const std::string& sql) {
	duckdb_result result;
	const auto state = duckdb_query(connection_, sql.c_str(), &result);
	if (state != DuckDBSuccess) {
		const char* message = duckdb_result_error(&result);
		std::string text = message ? message : "unknown error";
		duckdb_destroy_result(&result);
		return Fail(ErrorKind::kIo, std::move(text));
	}
	QueryResult query;
	query.rows_changed = static_cast<int64_t>(duckdb_rows_changed(&result));
	if (duckdb_result_return_type(result) == DUCKDB_RESULT_TYPE_QUERY_RESULT) {
		const idx_t columns = duckdb_column_count(&result);
		for (idx_t row = 0; row < duckdb_row_count(&result); row++) {
			Row& values = query.rows.emplace_back();
			for (idx_t column = 0; column < columns; column++) {
				char* text = duckdb_value_varchar(&result, column, row);
				values.emplace_back(text ? text : "");
				duckdb_free(text);
			}
		}
	}
	duckdb_destroy_result(&result);
	return query;
}

}  // namespace braid::cli
