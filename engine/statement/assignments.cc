// SPDX-License-Identifier: Apache-2.0
// Several fields of one column become one assignment, at the place of the first.
#include "engine/statement/assignments.h"

#include <algorithm>

#include "base/ascii.h"
#include "duckdb/parser/keyword_helper.hpp"
#include "engine/statement/column_spelling.h"
#include "engine/statement/time_travel_spelling.h"

namespace braid::engine {

namespace {

struct Assignment {
	size_t from = 0, to = 0;        // extents in the text
	size_t name_from = 0;           // of the column, behind the target's name
	std::vector<std::string> path;  // without the target's name
	std::string value;
};

bool IsName(const TokenCursor& cursor) {
	return cursor.PeekKind(TokenKind::kWord) || cursor.PeekKind(TokenKind::kQuotedName);
}

// CASE ... END, [...], {...}, (...) or one token.
void SkipNested(TokenCursor& cursor) {
	int depth = 0;
	do {
		if (cursor.Peek({"CASE"}) || cursor.Peek({"["}) || cursor.Peek({"{"})) depth++;
		if (cursor.Peek({"END"}) || cursor.Peek({"]"}) || cursor.Peek({"}"})) depth--;
		cursor.SkipBalanced();
	} while (depth > 0 && !cursor.AtEnd());
}

bool AtEndOfList(const TokenCursor& cursor) {
	for (auto word : {"WHEN", "FROM", "WHERE", "RETURNING", ")"}) {
		if (cursor.Peek({word})) return true;
	}
	return cursor.AtEnd();
}

size_t EndOfLast(const TokenCursor& cursor) { return cursor.token(cursor.place() - 1).end; }

// nullopt: not of this form ((a, b) = ..., *, ...); the cursor stands after it all the same.
std::optional<Assignment> ReadOne(TokenCursor& cursor, const std::string& target) {
	std::optional<Assignment> found;
	TokenCursor ahead = cursor;
	if (IsName(ahead)) {
		Assignment one;
		one.from = one.name_from = cursor.position();
		const auto path = TakePath(ahead);
		const bool named = path.size() > 1 && SameIgnoringCase(path[0], target);
		if (ahead.Take({"="}) && !AtEndOfList(ahead)) {
			one.path.assign(path.begin() + (named ? 1 : 0), path.end());
			if (named) one.name_from = cursor.token(cursor.place() + 2).start;
			cursor = ahead;
			found = std::move(one);
		}
	}
	const size_t first = cursor.place();
	while (!cursor.Peek({","}) && !AtEndOfList(cursor)) {
		if (cursor.Take({"DISTINCT", "FROM"})) continue;
		SkipNested(cursor);
	}
	if (!found || cursor.place() == first) return std::nullopt;
	found->value = std::string(cursor.Between(first, cursor.place()));
	found->to = EndOfLast(cursor);
	return found;
}

std::string Quoted(const std::string& name) { return duckdb::KeywordHelper::WriteQuoted(name, '"'); }

std::string SetField(const std::string& value, const Assignment& one) {
	std::vector<std::optional<std::string>> inside(one.path.begin() + 1, one.path.end());
	return "braid_set_field(" + value + ", " + SqlList(inside) + ", " + one.value + ")";
}

}  // namespace

std::vector<TextEdit> ReadAssignments(TokenCursor& cursor, const std::string& target) {
	std::vector<TextEdit> edits;
	struct Column {
		std::string name, value;
		size_t edit;
	};
	std::vector<Column> columns;  // of which fields are set
	size_t comma = 0;
	do {
		const size_t before = comma;
		auto one = ReadOne(cursor, target);
		if (!cursor.AtEnd()) comma = cursor.position();
		if (!one) continue;
		if (one->path.size() == 1) {
			if (one->name_from > one->from) edits.push_back({one->from, one->name_from, ""});
			continue;
		}
		const auto known =
			std::ranges::find_if(columns, [&](auto& column) { return SameIgnoringCase(column.name, one->path[0]); });
		if (known == columns.end()) {
			const auto column = Quoted(one->path[0]);
			columns.push_back({one->path[0], SetField(Quoted(target) + "." + column, *one), edits.size()});
			edits.push_back({one->from, one->to, column + " = " + columns.back().value});
		} else {
			known->value = SetField(known->value, *one);
			edits[known->edit].text = Quoted(known->name) + " = " + known->value;
			edits.push_back({before, one->to, ""});
		}
	} while (cursor.Take({","}));
	return edits;
}

void Apply(const std::vector<TextEdit>& edits, std::string& sql) {
	for (auto edit = edits.rbegin(); edit != edits.rend(); ++edit) Overwrite(sql, edit->from, edit->to, edit->text);
}

std::optional<Respelling> RespellUpdate(TokenCursor statement) {
	auto sql = RespellNamesAndTimes(statement);
	const std::string text = sql;
	TokenCursor cursor(text, Tokenize(text));
	cursor.Expect({"UPDATE"});
	if (!IsName(cursor)) return std::nullopt;
	std::string target = TakePath(cursor).back();
	if (cursor.Take({"AS"}) || !cursor.Peek({"SET"})) {
		if (!IsName(cursor)) return std::nullopt;
		target = TakePath(cursor).back();
	}
	if (!cursor.Take({"SET"})) return std::nullopt;
	const auto edits = ReadAssignments(cursor, target);
	if (edits.empty()) return std::nullopt;
	Apply(edits, sql);
	return Respelling {std::move(sql)};
}

}  // namespace braid::engine
