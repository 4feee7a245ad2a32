// SPDX-License-Identifier: Apache-2.0
// DESCRIBE history and DESCRIBE detail stay what they are in DuckDB: tables of that name.
#include "engine/statement/inspect_spelling.h"

namespace braid::engine {

std::optional<Respelling> RespellDescribe(TokenCursor statement) {
	statement.Skip();  // DESCRIBE or DESC
	const bool history = statement.Peek({"HISTORY"});
	statement.Skip();
	if (statement.AtEnd() || statement.PeekKind(TokenKind::kSymbol)) return std::nullopt;
	const std::string table = SqlString(statement.TableName());
	std::string sql = std::string("SELECT * FROM ") + (history ? "braid_history(" : "braid_detail(") + table + ")";
	if (history && statement.Take({"LIMIT"})) {
		if (!statement.PeekKind(TokenKind::kNumber)) statement.Fail("a number");
		sql += " LIMIT " + std::string(statement.TextOf(statement.place()));
		statement.Skip();
	}
	if (!statement.AtEnd()) statement.Fail(history ? "LIMIT or the end of the statement" : "the end of the statement");
	return Respelling {sql};
}

std::optional<Respelling> RespellShowProperties(TokenCursor statement) {
	statement.Expect({"SHOW", "TBLPROPERTIES"});
	std::string sql = "SELECT * FROM braid_properties(" + SqlString(statement.TableName()) + ")";
	if (statement.Take({"("})) {
		std::string key;
		if (statement.PeekKind(TokenKind::kString)) {
			key = statement.String();
		} else {
			key = statement.Name();
			while (statement.Take({"."})) key += "." + statement.Name();
		}
		statement.Expect({")"});
		sql += " WHERE key = " + SqlString(key);
	}
	if (!statement.AtEnd()) statement.Fail("the end of the statement");
	return Respelling {sql};
}

}  // namespace braid::engine
