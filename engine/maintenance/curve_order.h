// SPDX-License-Identifier: Apache-2.0
// The order that clusters rows by several columns at once: each value becomes its rank among the values of a sample, so that skew and types do not
// matter, and the ranks a place on the Hilbert curve. Any orderable type; NULL comes first.
#pragma once

#include <string>
#include <vector>

#include "duckdb/planner/expression.hpp"
#include "engine/scan/scan_source.h"

namespace braid::engine {

// `references` to the columns (indexes into the schema) of the rows that are to be ordered; `source`: from where the sample is drawn.
duckdb::unique_ptr<duckdb::Expression> CurvePlace(duckdb::ClientContext& context, const ScanSourcePtr& source,
												  const duckdb::vector<duckdb::column_t>& columns,
												  duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> references);

}  // namespace braid::engine
