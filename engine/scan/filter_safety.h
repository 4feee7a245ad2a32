// SPDX-License-Identifier: Apache-2.0
// What DuckDB's Parquet reader gets wrong of filters, said in another way before it sees them.
//  * It looks up the constant of `column = constant` in the Bloom filters of a data file, but hashes some constants otherwise than the writer: a
//    BLOB by its printed text ("\x00"), and -0.0 or another NaN have another hash than the 0.0 or NaN that equals them (trap 35).
//  * Inside of OR, `column IS DISTINCT FROM constant` loses rows that are NULL (trap 43).
#pragma once

#include "duckdb/common/unique_ptr.hpp"
#include "duckdb/planner/table_filter.hpp"

namespace braid::engine {

// The same filters, with such comparisons as expressions, which are evaluated as written. Null if there are none.
duckdb::unique_ptr<duckdb::TableFilterSet> WithoutWrongComparisons(const duckdb::TableFilterSet& filters);

// Without the Bloom filters of joins. They know no casts: DuckDB fails on a file whose column has another type than the table's (trap 30), and they
// only save work.
duckdb::unique_ptr<duckdb::TableFilterSet> WithoutBloomFilters(const duckdb::TableFilterSet& filters);

}  // namespace braid::engine
