// SPDX-License-Identifier: Apache-2.0
// Words of Delta are blanked out; the rest keeps its place.
#include "engine/statement/insert_spelling.h"

#include "duckdb/parser/statement/insert_statement.hpp"
#include "engine/statement/edits.h"
#include "engine/statement/time_travel_spelling.h"
#include "engine/write/insert_mode.h"

namespace braid::engine {

namespace {

bool AtQuery(const TokenCursor& cursor) {
	for (auto word : {"SELECT", "VALUES", "FROM", "WITH", "TABLE"}) {
		if (cursor.Peek({word})) return true;
	}
	return cursor.AtEnd();
}

// The condition of REPLACE WHERE, which ends where the query begins.
std::string TakeCondition(TokenCursor& cursor) {
	if (!cursor.Take({"WHERE"})) cursor.Fail("WHERE: REPLACE USING and REPLACE ON are not supported");
	const size_t first = cursor.place();
	while (cursor.Take({"DISTINCT", "FROM"}) || !AtQuery(cursor)) {
		if (!cursor.AtEnd()) cursor.SkipBalanced();
	}
	if (cursor.place() == first) cursor.Fail("a condition");
	return std::string(cursor.Between(first, cursor.place()));
}

}  // namespace

std::optional<Respelling> RespellInsert(TokenCursor statement) {
	const auto sql = RespellNamesAndTimes(statement);
	TokenCursor cursor(sql, Tokenize(sql));
	Edits edits(sql, 0);
	std::optional<InsertMode> mode;
	cursor.Expect({"INSERT"});
	const size_t verb = cursor.position();
	if (cursor.Take({"OVERWRITE"})) {
		cursor.Take({"INTO"});
		cursor.Take({"TABLE"});
		edits.Replace(verb, cursor.position(), "INTO ");
		mode.emplace();
	} else if (cursor.Take({"INTO", "TABLE"})) {
		edits.Replace(verb, cursor.position(), "INTO ");
	} else if (!cursor.Take({"INTO"})) {
		return std::nullopt;
	}
	(void)cursor.TableName();
	if (cursor.Peek({"PARTITION"})) {
		cursor.Fail(
			"no PARTITION (...): select the partition columns too, and limit what is replaced with REPLACE WHERE");
	}
	if (cursor.Take({"AS"})) (void)cursor.Name();
	cursor.Take({"BY", "NAME"});
	if (cursor.Peek({"("})) cursor.SkipBalanced();
	const size_t from = cursor.AtEnd() ? 0 : cursor.position();
	if (!mode && cursor.Take({"REPLACE"})) {
		mode = InsertMode {TakeCondition(cursor)};
		edits.Replace(from, cursor.AtEnd() ? sql.size() : cursor.position(), "");
	}
	if (!mode && edits.position() == 0) return std::nullopt;
	Respelling respelling {edits.Finish(sql.size())};
	if (mode) {
		respelling.finish = [mode = *mode](duckdb::SQLStatement& parsed) {
			auto& insert = parsed.Cast<duckdb::InsertStatement>();
			insert.table = WithInsertMode(insert.table, mode);
		};
	}
	return respelling;
}

}  // namespace braid::engine
