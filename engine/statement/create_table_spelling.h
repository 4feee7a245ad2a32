// SPDX-License-Identifier: Apache-2.0
// CREATE TABLE as Delta users write it: USING DELTA, PARTITIONED BY, CLUSTER BY, LOCATION, COMMENT and TBLPROPERTIES in any order, comments and
// types of Spark in the list of columns. DuckDB parses what is left; the rest is set on the parsed statement.
#pragma once

#include "engine/statement/rules.h"

namespace braid::engine {

std::optional<Respelling> RespellCreateTable(TokenCursor statement);
std::optional<Respelling> RespellReplaceTable(TokenCursor statement);

// What goes with the statement as an option that no user can write; engine/catalog/create_table.cc takes it out again.
inline constexpr auto kUsingOption = "\x1fusing";
// With the column's name behind it: "start step", and "by default" if it takes values of users.
inline constexpr auto kIdentityOption = "\x1fidentity ";
inline constexpr auto kReplaceOption = "\x1freplace";  // REPLACE TABLE: there must be one
inline constexpr auto kLocationOption = "\x1flocation";
inline constexpr auto kClusteringOption =
	"\x1f"
	"clustering";

}  // namespace braid::engine
