// SPDX-License-Identifier: Apache-2.0
// Words are overwritten where they stand.
#include "engine/statement/merge_spelling.h"

#include "duckdb/common/string_util.hpp"
#include "engine/statement/assignments.h"
#include "engine/statement/merge_by_name.h"
#include "engine/statement/time_travel_spelling.h"

namespace braid::engine {

namespace {

bool IsName(const TokenCursor& cursor) {
	return cursor.PeekKind(TokenKind::kWord) || cursor.PeekKind(TokenKind::kQuotedName);
}

std::string PlainName(TokenCursor& cursor) {
	auto text = std::string(cursor.TextOf(cursor.place()));
	bool quoted = cursor.PeekKind(TokenKind::kQuotedName);
	cursor.Skip();
	return quoted ? Unquoted(text) : text;
}

// The last part of the target's name, or its alias.
std::string TakeTarget(TokenCursor& cursor) {
	std::string name;
	while (IsName(cursor) || cursor.PeekKind(TokenKind::kString)) {
		name = PlainName(cursor);
		if (!cursor.Take({"."})) break;
	}
	if (cursor.Peek({"AT", "("})) {
		cursor.Skip();
		cursor.SkipBalanced();
	}
	cursor.Take({"AS"});
	if (IsName(cursor) && !cursor.Peek({"USING"})) name = PlainName(cursor);
	return name;
}

// Blanks `target.` before a column, if it is there.
void DropTarget(TokenCursor cursor, const std::string& target, std::string& sql) {
	if (!IsName(cursor)) return;
	const size_t start = cursor.position();
	if (!duckdb::StringUtil::CIEquals(PlainName(cursor), target) || !cursor.Take({"."}) || !IsName(cursor)) return;
	const size_t column = cursor.position();
	cursor.Skip();
	if (cursor.Peek({","}) || cursor.Peek({")"})) Overwrite(sql, start, column, "");
}

// The columns of INSERT (...).
void DropTargets(TokenCursor& cursor, const std::string& target, std::string& sql) {
	DropTarget(cursor, target, sql);
	while (!cursor.AtEnd() && !cursor.Peek({")"})) {
		bool next = cursor.Peek({","});
		cursor.SkipBalanced();
		if (next) DropTarget(cursor, target, sql);
	}
}

}  // namespace

std::optional<Respelling> RespellMerge(TokenCursor statement) {
	Respelling respelling {RespellNamesAndTimes(statement)};
	respelling.replace = WithStarsByName;
	const std::string text = respelling.sql;
	TokenCursor cursor(text, Tokenize(text));
	while (!cursor.AtEnd() && !cursor.Peek({"MERGE"})) cursor.SkipBalanced();
	if (!cursor.Take({"MERGE"})) return std::nullopt;
	const size_t evolution = cursor.position();
	if (cursor.Take({"WITH", "SCHEMA", "EVOLUTION"})) {
		Overwrite(respelling.sql, evolution, cursor.position(), "");
		respelling.replace = WithEvolvingStars;
	}
	if (!cursor.Take({"INTO"})) return std::nullopt;
	auto target = TakeTarget(cursor);
	std::vector<TextEdit> assignments;
	while (!cursor.AtEnd()) {
		if (cursor.Take({"THEN", "UPDATE", "SET"})) {
			const auto edits = ReadAssignments(cursor, target);
			assignments.insert(assignments.end(), edits.begin(), edits.end());
		} else if (cursor.Take({"THEN", "INSERT", "("})) {
			DropTargets(cursor, target, respelling.sql);
		} else {
			cursor.SkipBalanced();
		}
	}
	Apply(assignments, respelling.sql);
	return respelling;
}

}  // namespace braid::engine
