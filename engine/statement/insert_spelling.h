// SPDX-License-Identifier: Apache-2.0
// INSERT OVERWRITE [TABLE] t ..., INSERT INTO t [BY NAME | (columns)] REPLACE WHERE condition query, and INSERT INTO TABLE t: an INSERT of DuckDB
// with its mode behind the table's name (engine/write/insert_mode.h).
#pragma once

#include "engine/statement/rules.h"

namespace braid::engine {

std::optional<Respelling> RespellInsert(TokenCursor statement);

}  // namespace braid::engine
