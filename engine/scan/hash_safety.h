// SPDX-License-Identifier: Apache-2.0
// DuckDB's Parquet reader looks up the constant of `column = constant` in the Bloom filters of a data file, but hashes some constants otherwise
// than the writer: a BLOB by its printed text ("\x00"), and -0.0 or another NaN have another hash than the 0.0 or NaN that equals them. A row
// group that holds the value would be skipped (trap 35).
#pragma once

#include "duckdb/common/unique_ptr.hpp"
#include "duckdb/planner/table_filter.hpp"

namespace braid::engine {

// The same filters, with such comparisons as expressions, which no Bloom filter is asked about. Null if there are none.
duckdb::unique_ptr<duckdb::TableFilterSet> WithoutWrongHashes(const duckdb::TableFilterSet& filters);

}  // namespace braid::engine
