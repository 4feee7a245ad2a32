// SPDX-License-Identifier: Apache-2.0
// ALTER TABLE in Delta's words. What DuckDB's parser understands stays DuckDB's statement; the rest becomes
// CALL braid_alter_table('table', 'what', [arguments]).
#pragma once

#include "engine/statement/rules.h"

namespace duckdb {
class ExtensionLoader;
}

namespace braid::engine {

std::optional<Respelling> RespellAlterTable(TokenCursor statement);

// Says of a table's name whether it is DuckDB's own.
inline constexpr auto kNotInLake = "braid_not_in_lake";

// The functions behind it (alter_function.cc).
void RegisterAlterFunction(duckdb::ExtensionLoader& loader);

}  // namespace braid::engine
