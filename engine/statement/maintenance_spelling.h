// SPDX-License-Identifier: Apache-2.0
// RESTORE and other statements that look after a table as calls of Braid's functions (engine/maintenance/maintenance_functions.h).
#pragma once

#include "engine/statement/rules.h"

namespace braid::engine {

std::optional<Respelling> RespellRestore(TokenCursor statement);
// CREATE TABLE t SHALLOW CLONE source
std::optional<Respelling> RespellClone(TokenCursor statement);

std::optional<Respelling> RespellConvert(TokenCursor statement);
std::optional<Respelling> RespellFsck(TokenCursor statement);
std::optional<Respelling> RespellGenerate(TokenCursor statement);
// CHECKPOINT with a name; whether it is a database's or a table's is found out when the statement is bound.
std::optional<Respelling> RespellCheckpoint(TokenCursor statement);

}  // namespace braid::engine
