// SPDX-License-Identifier: Apache-2.0
#include "engine/statement/optimize_spelling.h"

#include "duckdb/common/exception.hpp"
#include "duckdb/parser/keyword_helper.hpp"
#include "engine/statement/edits.h"

namespace braid::engine {

namespace {

Respelling Call(const std::string& table, const std::string& operation, const std::string& condition,
				const std::string& columns) {
	return {"SELECT * FROM braid_optimize(" + SqlString(table) + ", " + SqlString(operation) + ", " +
			SqlString(condition) + ", [" + columns + "]::VARCHAR[])"};
}

// WHERE and what follows it, up to the words `end` or a FULL at the end; back-quotes become double quotes.
std::string Condition(TokenCursor& statement, std::initializer_list<std::string_view> end) {
	if (!statement.Take({"WHERE"})) return "";
	const auto from = statement.place();
	Edits edits(statement.text(), statement.position());
	const auto ends = [&] {
		return statement.Peek(end) || (statement.Peek({"FULL"}) && statement.place() + 1 == statement.size());
	};
	while (!statement.AtEnd() && !ends()) statement.SkipBalanced();
	if (statement.place() == from) statement.Fail("a condition");
	for (auto place = from; place < statement.place(); place++) {
		auto& token = statement.token(place);
		if (token.kind == TokenKind::kBackQuotedName) {
			edits.Replace(token.start, token.end,
						  duckdb::KeywordHelper::WriteQuoted(Unquoted(statement.TextOf(place)), '"'));
		}
	}
	return edits.Finish(statement.token(statement.place() - 1).end);
}

// A column, or a field of one: a.b.c
std::string ColumnName(TokenCursor& statement) {
	auto name = statement.Name();
	while (statement.Take({"."})) name += "." + statement.Name();
	return name;
}

}  // namespace

std::optional<Respelling> RespellOptimize(TokenCursor statement) {
	statement.Expect({"OPTIMIZE"});
	(void)statement.Take({"TABLE"});
	const auto table = statement.TableName();
	bool full = statement.Take({"FULL"});
	const auto condition = Condition(statement, {"ZORDER", "BY"});
	std::string columns;
	if (statement.Take({"ZORDER"})) {
		statement.Expect({"BY"});
		const bool parenthesis = statement.Take({"("});
		do columns += (columns.empty() ? "" : ", ") + SqlString(ColumnName(statement));
		while (statement.Take({","}));
		if (parenthesis) statement.Expect({")"});
	}
	full |= statement.Take({"FULL"});
	if (!statement.AtEnd()) statement.Fail("FULL, WHERE, ZORDER BY or the end of the statement");
	return Call(table, full ? "OPTIMIZE FULL" : "OPTIMIZE", condition, columns);
}

std::optional<Respelling> RespellReorg(TokenCursor statement) {
	statement.Expect({"REORG", "TABLE"});
	const auto table = statement.TableName();
	const auto condition = Condition(statement, {"APPLY", "("});
	if (statement.Take({"APPLY", "(", "UPGRADE"})) {
		throw duckdb::NotImplementedException(
			"REORG TABLE %s APPLY (UPGRADE UNIFORM ...) is not supported: Braid writes no Iceberg metadata, so a table "
			"with "
			"delta.enableIcebergCompat could not keep its promise; ALTER TABLE ... SET TBLPROPERTIES switches other "
			"features on",
			table);
	}
	statement.Expect({"APPLY", "(", "PURGE", ")"});
	if (!statement.AtEnd()) statement.Fail("the end of the statement");
	return Call(table, "REORG", condition, "");
}

}  // namespace braid::engine
