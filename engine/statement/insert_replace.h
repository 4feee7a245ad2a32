// SPDX-License-Identifier: Apache-2.0
// INSERT INTO t [alias] REPLACE USING (columns) query, and REPLACE ON condition query: the rows of the table that equal a row of the query in these
// columns, or satisfy the condition with one, go; all rows of the query come. It is a MERGE: each row of the query once to look for rows that go,
// and once to be inserted. A NULL equals nothing.
#pragma once

#include <string>
#include <vector>

#include "duckdb/parser/sql_statement.hpp"

namespace braid::engine {

struct RowReplacement {
	std::vector<std::string> columns;  // REPLACE USING
	std::string condition;             // REPLACE ON; "" with USING
	std::string target, source;        // aliases; "" if none

	bool empty() const { return columns.empty() && condition.empty(); }
};

duckdb::unique_ptr<duckdb::SQLStatement> ReplacingRows(duckdb::unique_ptr<duckdb::SQLStatement> insert,
													   RowReplacement replacement);

}  // namespace braid::engine
