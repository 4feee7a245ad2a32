// SPDX-License-Identifier: Apache-2.0
// Words of Delta are blanked out; the rest keeps its place.
#include "engine/statement/insert_spelling.h"

#include <utility>

#include "duckdb/parser/statement/insert_statement.hpp"
#include "engine/statement/column_spelling.h"
#include "engine/statement/edits.h"
#include "engine/statement/insert_partition.h"
#include "engine/statement/insert_replace.h"
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

// (query) [[AS] alias], which ends the statement.
bool AtBracketedQuery(TokenCursor cursor) {
	if (!cursor.Peek({"("})) return false;
	auto inside = cursor;
	inside.Skip();
	if (inside.AtEnd() || !AtQuery(inside)) return false;
	cursor.SkipBalanced();
	cursor.Take({"AS"});
	if (!cursor.AtEnd()) cursor.Skip();
	return cursor.AtEnd();
}

// The condition of REPLACE WHERE or REPLACE ON, which ends where the query begins.
std::string TakeCondition(TokenCursor& cursor) {
	const size_t first = cursor.place();
	for (;;) {
		if (cursor.Take({"DISTINCT", "FROM"})) continue;
		if (AtQuery(cursor) || (cursor.place() > first && AtBracketedQuery(cursor))) break;
		cursor.SkipBalanced();
	}
	if (cursor.place() == first) cursor.Fail("a condition");
	return std::string(cursor.Between(first, cursor.place()));
}

// USING (columns) or ON condition, behind REPLACE; empty if neither comes next.
RowReplacement TakeRowReplacement(TokenCursor& cursor) {
	RowReplacement what;
	if (cursor.Take({"USING", "("})) {
		do {
			what.columns.push_back(TakePath(cursor).back());
		} while (cursor.Take({","}));
		cursor.Expect({")"});
	} else if (cursor.Take({"ON"})) {
		what.condition = TakeCondition(cursor);
	}
	return what;
}

// The alias behind a query in brackets, which DuckDB's INSERT has no place for; it is blanked out.
std::string TakeSourceAlias(TokenCursor cursor, Edits& edits) {
	if (!AtBracketedQuery(cursor)) return "";
	cursor.SkipBalanced();
	if (cursor.AtEnd()) return "";
	const size_t from = cursor.position();
	cursor.Take({"AS"});
	auto alias = TakePath(cursor).back();
	edits.Replace(from, cursor.token(cursor.place() - 1).end, "");
	return alias;
}

// PARTITION (p = value, q, ...); empty if it does not come next.
std::vector<PartitionValue> TakePartition(TokenCursor& cursor) {
	std::vector<PartitionValue> partition;
	if (!cursor.Take({"PARTITION"})) return partition;
	cursor.Expect({"("});
	do {
		PartitionValue& one = partition.emplace_back(PartitionValue {TakePath(cursor).back(), std::nullopt});
		if (!cursor.Take({"="})) continue;
		const size_t first = cursor.place();
		while (!cursor.Peek({","}) && !cursor.Peek({")"})) cursor.SkipBalanced();
		if (cursor.place() == first) cursor.Fail("a value");
		one.value = std::string(cursor.Between(first, cursor.place()));
	} while (cursor.Take({","}));
	cursor.Expect({")"});
	return partition;
}

// A bare alias of the table, which only REPLACE ON has.
bool IsAlias(TokenCursor cursor) {
	if (!cursor.PeekKind(TokenKind::kWord) && !cursor.PeekKind(TokenKind::kQuotedName)) return false;
	cursor.Skip();
	return cursor.Peek({"REPLACE", "ON"}) || cursor.Peek({"BY", "NAME", "REPLACE"});
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
	const size_t place = cursor.AtEnd() ? 0 : cursor.position();
	const auto partition = TakePartition(cursor);
	if (!partition.empty()) edits.Replace(place, cursor.token(cursor.place() - 1).end, "");
	RowReplacement rows;
	const size_t alias = cursor.AtEnd() ? 0 : cursor.position();
	const bool as = cursor.Take({"AS"});
	if (as || IsAlias(cursor)) rows.target = TakePath(cursor).back();
	const size_t after_alias = cursor.place();
	cursor.Take({"BY", "NAME"});
	if (cursor.Peek({"("})) cursor.SkipBalanced();
	const size_t from = cursor.AtEnd() ? 0 : cursor.position();
	if (!mode && cursor.Take({"REPLACE"})) {
		if (cursor.Take({"WHERE"})) {
			mode = InsertMode {TakeCondition(cursor)};
		} else {
			auto what = TakeRowReplacement(cursor);
			if (what.empty() || !partition.empty()) cursor.Fail("WHERE, USING (columns) or ON");
			what.target = std::exchange(rows.target, "");
			rows = std::move(what);
			if (!rows.target.empty()) edits.Replace(alias, cursor.token(after_alias - 1).end, "");
		}
		edits.Replace(from, cursor.AtEnd() ? sql.size() : cursor.position(), "");
		if (!rows.empty()) rows.source = TakeSourceAlias(cursor, edits);
	}
	if (!mode && edits.position() == 0) return std::nullopt;
	Respelling respelling {edits.Finish(sql.size())};
	if (!partition.empty()) {
		if (mode && !mode->replaces_all()) cursor.Fail("no REPLACE WHERE beside PARTITION (...)");
		respelling.replace = [partition,
							  overwrite = mode.has_value()](duckdb::unique_ptr<duckdb::SQLStatement> parsed) {
			return IntoPartition(std::move(parsed), partition, overwrite);
		};
	} else if (!rows.empty()) {
		respelling.replace = [rows](duckdb::unique_ptr<duckdb::SQLStatement> parsed) {
			return ReplacingRows(std::move(parsed), rows);
		};
	} else if (mode) {
		respelling.finish = [mode = *mode](duckdb::SQLStatement& parsed) {
			auto& insert = parsed.Cast<duckdb::InsertStatement>();
			insert.table = WithInsertMode(insert.table, mode);
		};
	}
	return respelling;
}

}  // namespace braid::engine
