// SPDX-License-Identifier: Apache-2.0
// Statements that are finished when they are bound, because what they become depends on the tables that they name. A Relation is the one kind of
// statement that DuckDB lets bind itself.
#pragma once

#include <functional>

#include "duckdb/parser/sql_statement.hpp"
#include "duckdb/planner/bound_statement.hpp"

namespace braid::engine {

// Gets a copy of the statement; a table that it names by delta.`/path` is found already.
using BindLate = std::function<duckdb::BoundStatement(duckdb::Binder& binder, duckdb::SQLStatement& copy)>;
duckdb::unique_ptr<duckdb::SQLStatement> BindLater(duckdb::unique_ptr<duckdb::SQLStatement> statement, BindLate bind);

// INSERT, UPDATE, DELETE and MERGE of delta.`/path/to/table`: the table of the attached lake that holds it. The statement itself if it names none.
duckdb::unique_ptr<duckdb::SQLStatement> WithPathTarget(duckdb::unique_ptr<duckdb::SQLStatement> statement);

}  // namespace braid::engine
