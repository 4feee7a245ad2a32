// SPDX-License-Identifier: Apache-2.0
// UPDATE SET * and INSERT * of a MERGE into a table of a lake: by name, as Delta has it: every column of the table from the column of the source
// with that name; the source may have more. (DuckDB goes by position; so do merges into its own tables.) What the source is made of is known only
// when the statement is bound, so the statement becomes one that is finished then.
#pragma once

#include "duckdb/parser/statement/merge_into_statement.hpp"

namespace braid::engine {

// The statement itself if it has no star.
duckdb::unique_ptr<duckdb::SQLStatement> WithStarsByName(duckdb::unique_ptr<duckdb::SQLStatement> merge);
// MERGE WITH SCHEMA EVOLUTION: the table gets the columns that only the source has, in the commit of the MERGE (engine/write/merge_sink.h); columns
// that only the table has are left as they are, or get their default.
duckdb::unique_ptr<duckdb::SQLStatement> WithEvolvingStars(duckdb::unique_ptr<duckdb::SQLStatement> merge);

}  // namespace braid::engine
