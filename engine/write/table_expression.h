// SPDX-License-Identifier: Apache-2.0
// SQL expressions that stand in a table's metadata (constraints, generated columns), in Spark's dialect as far as both dialects agree:
// back-quoted names, operators, CASE, CAST, and functions that mean the same in Spark and DuckDB. Anything else is refused by name: to check
// something else than what the table says would be worse than not to write.
#pragma once

#include <string>

#include "duckdb/main/client_context.hpp"
#include "duckdb/parser/parsed_expression.hpp"
#include "duckdb/planner/expression.hpp"
#include "kernel/schema/type.h"

namespace braid::engine {

// Text of the user as the metadata keeps it: names in back-quotes, because other engines take double quotes for strings.
std::string SparkText(const std::string& text);
// The same of an expression that DuckDB has parsed: types in casts by Spark's names as well.
std::string SparkText(const duckdb::ParsedExpression& expression);

// `role` begins every message: "constraint positive (x > 0)". Throws a NotImplementedException for what is not understood.
duckdb::unique_ptr<duckdb::ParsedExpression> ParseTableExpression(const std::string& text, const std::string& role);

// Bound to rows in the order of the schema: BoundReferenceExpression i is column i. Needs an active transaction.
duckdb::unique_ptr<duckdb::Expression> BindTableExpression(duckdb::ClientContext& context, const StructType& schema,
														   const std::string& table, const std::string& text,
														   const duckdb::LogicalType& type, const std::string& role);

// A condition of a statement in DuckDB's own dialect, over the same rows. Throws a BinderException; volatile functions and subqueries are refused.
duckdb::unique_ptr<duckdb::Expression> BindRowCondition(duckdb::ClientContext& context, const StructType& schema,
														const std::string& table, const std::string& text,
														const std::string& role);

// Replaces what is the same for every row by its value, as DuckDB's optimizer does; parameters stay.
void FoldConstants(duckdb::ClientContext& context, duckdb::unique_ptr<duckdb::Expression>& expression);

}  // namespace braid::engine
