// SPDX-License-Identifier: Apache-2.0
// VACUUM name | 'path' | delta.`path` [FULL | LITE] [RETAIN n HOURS] [DRY RUN], which becomes a call of braid_vacuum. Without a modifier it may be
// meant for a table of DuckDB: which one it is shows when it is bound.
#pragma once

#include "engine/statement/rules.h"

namespace braid::engine {

std::optional<Respelling> RespellVacuum(TokenCursor statement);

}  // namespace braid::engine
