// SPDX-License-Identifier: Apache-2.0
// DESCRIBE HISTORY t [LIMIT n], DESCRIBE DETAIL t, SHOW TBLPROPERTIES t [('key')], EXPLAIN CONFLICT statement [SINCE VERSION n]: queries of the
// functions in engine/inspect and engine/session.
#pragma once

#include "engine/statement/rules.h"

namespace braid::engine {

std::optional<Respelling> RespellDescribe(TokenCursor statement);
std::optional<Respelling> RespellShowProperties(TokenCursor statement);
std::optional<Respelling> RespellExplainConflict(TokenCursor statement);

}  // namespace braid::engine
