// SPDX-License-Identifier: Apache-2.0
// DESCRIBE HISTORY t [LIMIT n], DESCRIBE DETAIL t, SHOW TBLPROPERTIES t [('key')]: queries of the functions in engine/inspect.
#pragma once

#include "engine/statement/rules.h"

namespace braid::engine {

std::optional<Respelling> RespellDescribe(TokenCursor statement);
std::optional<Respelling> RespellShowProperties(TokenCursor statement);

}  // namespace braid::engine
