// SPDX-License-Identifier: Apache-2.0
// OPTIMIZE and REORG TABLE, which become calls of braid_optimize.
#pragma once

#include "engine/statement/rules.h"

namespace braid::engine {

std::optional<Respelling> RespellOptimize(TokenCursor statement);
std::optional<Respelling> RespellReorg(TokenCursor statement);

}  // namespace braid::engine
