// SPDX-License-Identifier: Apache-2.0
// DuckDB's conditions on a scan as the kernel's Predicate (a superset, for pruning and for the read set) and as a BoundRowPredicate (exact).
// Guarantees: a row for which the DuckDB condition is TRUE satisfies the predicate. Top-N filters are never part of it: they are no necessary
// condition (duckdb.md 3.2). Conditions on file names and row numbers widen to TRUE.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "duckdb/planner/expression.hpp"
#include "duckdb/planner/table_filter.hpp"
#include "engine/scan/row_predicate.h"
#include "kernel/predicate/predicate.h"

namespace braid::engine {

struct NamedColumn {
	std::string name;  // "": not a column of the table (filename, file_row_number, ...)
	duckdb::LogicalType type;
};

// What a column reference inside an expression means.
using ResolveColumn = std::function<NamedColumn(const duckdb::Expression& reference)>;

Predicate ToPredicate(const duckdb::Expression& expression, const ResolveColumn& resolve);
Predicate ToPredicate(const duckdb::TableFilter& filter, const NamedColumn& column);

// Adds the condition to `exact`; false (and nothing added) if it cannot be evaluated later: volatile, or about a virtual column.
bool AddConjunct(BoundRowPredicate& exact, const duckdb::Expression& expression, const ResolveColumn& resolve);
bool AddConjunct(BoundRowPredicate& exact, const duckdb::TableFilter& filter, const NamedColumn& column);

// The state right now of the Top-N filters inside; kTrue if there are none. For skipping files only.
Predicate TopNBound(const duckdb::TableFilter& filter, const NamedColumn& column);
// Whether a constant can pass a filter on the file's name; true if in doubt.
bool FileNameMayPass(const duckdb::TableFilter& filter, const std::string& name);

}  // namespace braid::engine
