// SPDX-License-Identifier: Apache-2.0
// DESCRIBE history and DESCRIBE detail stay what they are in DuckDB: tables of that name.
#include "engine/statement/inspect_spelling.h"

namespace braid::engine {

namespace {

// The table that an INSERT, UPDATE, DELETE or MERGE changes; what stands before it, such as WITH, is passed over.
std::string ChangedTable(TokenCursor statement) {
	const auto begins = [&] {
		return statement.Peek({"INSERT"}) || statement.Peek({"UPDATE"}) || statement.Peek({"DELETE"}) ||
			   statement.Peek({"MERGE"});
	};
	if (!begins() && !statement.Peek({"WITH"})) statement.Fail("INSERT, UPDATE, DELETE or MERGE");
	while (!begins()) statement.SkipBalanced();
	statement.Skip();
	for (auto* word : {"INTO", "OVERWRITE", "FROM", "TABLE"}) statement.Take({word});
	return statement.TableName();
}

}  // namespace

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

std::optional<Respelling> RespellExplainConflict(TokenCursor statement) {
	statement.Expect({"EXPLAIN", "CONFLICT"});
	const std::string table = ChangedTable(statement);
	const auto from = statement.place();
	auto end = statement.size();
	std::string version;
	auto tail = statement;
	while (tail.place() + 3 < tail.size()) tail.Skip();
	if (tail.Take({"SINCE", "VERSION"})) {
		if (!tail.PeekKind(TokenKind::kNumber)) tail.Fail("a number");
		version = ", version => " + std::string(tail.TextOf(tail.place()));
		end -= 3;
	}
	return Respelling {"SELECT * FROM braid_explain_conflict(" + SqlString(table) + ", " +
					   SqlString(statement.Between(from, end)) + version + ")"};
}

}  // namespace braid::engine
