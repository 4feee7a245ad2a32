// SPDX-License-Identifier: Apache-2.0
// Words are overwritten where they stand.
#include "engine/statement/create_table_spelling.h"

#include "engine/statement/time_travel_spelling.h"

namespace braid::engine {

std::optional<Respelling> RespellCreateTable(TokenCursor statement) {
	const size_t start = statement.position();
	Respelling respelling {RespellNamesAndTimes(statement)};
	if (respelling.sql.size() != statement.Rest().size()) return respelling;
	for (TokenCursor cursor = statement; !cursor.AtEnd(); cursor.Skip()) {
		const size_t from = cursor.position() - start;
		if (cursor.Peek({"TBLPROPERTIES", "("})) {
			Overwrite(respelling.sql, from, from + std::string_view("TBLPROPERTIES").size(), "WITH");
		} else if (cursor.Peek({"USING", "DELTA"})) {
			Overwrite(respelling.sql, from, cursor.token(cursor.place() + 1).end - start, "");
		}
	}
	return respelling;
}

}  // namespace braid::engine
