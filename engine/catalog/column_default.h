// SPDX-License-Identifier: Apache-2.0
// Column defaults (PROTOCOL: Default Columns): SQL text in the metadata of a field, applied when a row is inserted
// without a value.
#pragma once

#include <string>

#include "duckdb/parser/parsed_expression.hpp"
#include "kernel/schema/type.h"

namespace braid::engine {

inline constexpr auto kCurrentDefault = "CURRENT_DEFAULT";
inline constexpr auto kColumnDefaults = "allowColumnDefaults";  // the table feature

// The text to store. Throws unless the expression is the time, or made of constants, casts and operators only, so that
// other engines understand it.
std::string DefaultText(const duckdb::ParsedExpression& expression, const std::string& column);

// The default of a column, or null. Text that DuckDB cannot parse becomes an expression that fails when a row needs it.
duckdb::unique_ptr<duckdb::ParsedExpression> DefaultOf(const Field& field);

}  // namespace braid::engine
