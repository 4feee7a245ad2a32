// SPDX-License-Identifier: Apache-2.0
// The list after SET in UPDATE and MERGE as Delta users write it: the target's name may stand before a column, and a field of a struct may be set
// (SET t.s.a = 1). DuckDB sets whole columns, so a field becomes its struct with that field changed, by braid_set_field.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/statement/rules.h"

namespace duckdb {
class ExtensionLoader;
}

namespace braid::engine {

struct TextEdit {
	size_t from, to;
	std::string text;
};

// Reads to the end of the list: WHEN, FROM, WHERE, RETURNING or the end of the statement. What to change in it, from left to right.
std::vector<TextEdit> ReadAssignments(TokenCursor& cursor, const std::string& target);
// Keeps the place of what follows where the new text is shorter.
void Apply(const std::vector<TextEdit>& edits, std::string& sql);

std::optional<Respelling> RespellUpdate(TokenCursor statement);

// braid_set_field(struct, ['a', 'b'], value): the struct with field a.b changed; a NULL on the way becomes a struct of NULLs.
void RegisterSetField(duckdb::ExtensionLoader& loader);

}  // namespace braid::engine
