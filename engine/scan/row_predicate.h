// SPDX-License-Identifier: Apache-2.0
// BoundRowPredicate: the exact condition of one scan as DuckDB bound it: conjuncts over top-level columns of the table, evaluated at commit time by
// the row probe with an ExpressionExecutor. Owns everything it needs: it outlives the plan and the statement (trap 16).
#pragma once

#include <string>
#include <vector>

#include "duckdb/planner/expression.hpp"
#include "kernel/storage/row_probe.h"

namespace braid::engine {

class BoundRowPredicate final : public RowPredicate {
public:
	struct Column {
		std::string name;  // logical, top level
		duckdb::LogicalType type;
	};

	std::vector<Column> columns;
	// Boolean, not volatile; BoundReferenceExpression i is columns[i]. None: every row satisfies it.
	std::vector<duckdb::unique_ptr<duckdb::Expression>> conjuncts;

	// The reference to a column by name, entered at first use.
	size_t IndexOf(const std::string& name, const duckdb::LogicalType& type);
};

}  // namespace braid::engine
