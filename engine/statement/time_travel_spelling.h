// SPDX-License-Identifier: Apache-2.0
// What may stand anywhere in a statement: `back-quoted` names, t VERSION AS OF n, t TIMESTAMP AS OF x, and the option timestamp of braid_scan,
// whose name is a word of DuckDB's grammar. Other text keeps its place.
#pragma once

#include <optional>
#include <string>

#include "engine/statement/tokens.h"

namespace braid::engine {

// Words that a statement cannot do without to need this.
inline constexpr std::string_view kTimeTravelSigns[] = {"OF", "BRAID_SCAN"};

// VERSION AS OF n or TIMESTAMP AS OF x as an option of a function, version => n; nullopt if neither comes next.
std::optional<std::string> TakeTimeOption(TokenCursor& cursor);

// The statement in DuckDB's spelling.
std::string RespellNamesAndTimes(const TokenCursor& statement);

}  // namespace braid::engine
