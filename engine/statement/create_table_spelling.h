// SPDX-License-Identifier: Apache-2.0
// CREATE TABLE as Delta users write it: TBLPROPERTIES (...) is WITH (...), and USING DELTA says what is so anyway.
#pragma once

#include "engine/statement/rules.h"

namespace braid::engine {

std::optional<Respelling> RespellCreateTable(TokenCursor statement);

}  // namespace braid::engine
