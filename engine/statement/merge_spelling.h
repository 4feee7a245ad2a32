// SPDX-License-Identifier: Apache-2.0
// MERGE as Delta users write it: the target's name may stand before the columns of SET and of INSERT (...).
#pragma once

#include "engine/statement/rules.h"

namespace braid::engine {

// Also with WITH ... before it.
std::optional<Respelling> RespellMerge(TokenCursor statement);

}  // namespace braid::engine
