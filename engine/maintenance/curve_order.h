// SPDX-License-Identifier: Apache-2.0
// The order that clusters rows by several columns at once: each value becomes its rank among the values of a sample, so that skew and types do not
// matter, and the ranks a place on the Hilbert curve. Any orderable type; NULL comes first.
#pragma once

#include <string>
#include <vector>

#include "duckdb/planner/expression.hpp"
#include "engine/scan/scan_source.h"

namespace braid::engine {

struct CurveColumn {
	duckdb::column_t column = 0;    // of the schema
	std::vector<std::string> path;  // of a field inside of it
	std::string name;               // as the table spells it
};

// The value of a curve's column, from the column of the schema.
duckdb::unique_ptr<duckdb::Expression> CurveValue(duckdb::ClientContext& context, const CurveColumn& column,
												  duckdb::unique_ptr<duckdb::Expression> reference);

// What to sort by instead of the value itself: DuckDB's sort gives back a column that it sorts by as its key says, and there -0.0 is 0.0 (trap 44).
duckdb::unique_ptr<duckdb::Expression> OrderKey(duckdb::ClientContext& context,
												duckdb::unique_ptr<duckdb::Expression> value);

// `values` of the rows that are to be ordered, one for each column; `source`: from where the sample is drawn, when the first row is placed.
duckdb::unique_ptr<duckdb::Expression> CurvePlace(duckdb::ClientContext& context, const ScanSourcePtr& source,
												  const std::vector<CurveColumn>& columns,
												  duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> values);

}  // namespace braid::engine
