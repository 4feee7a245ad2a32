// SPDX-License-Identifier: Apache-2.0
// One pass over the tokens.
#include "engine/statement/time_travel_spelling.h"

#include "duckdb/common/string_util.hpp"
#include "duckdb/parser/keyword_helper.hpp"
#include "duckdb/parser/parser.hpp"
#include "engine/statement/edits.h"

namespace braid::engine {

namespace {

bool TakeUnit(TokenCursor& cursor, const char*& unit) {
	cursor.Take({"FOR"});
	unit = "VERSION";
	if (cursor.Take({"VERSION", "AS", "OF"}) || cursor.Take({"SYSTEM_VERSION", "AS", "OF"})) return true;
	unit = "TIMESTAMP";
	return cursor.Take({"TIMESTAMP", "AS", "OF"}) || cursor.Take({"SYSTEM_TIME", "AS", "OF"});
}

// A constant, a parameter, a call or a parenthesis. False if it is none of them.
bool TakeOperand(TokenCursor& cursor) {
	if (cursor.AtEnd()) return false;
	if (cursor.Take({"INTERVAL"})) {
		cursor.SkipBalanced();
		if (cursor.PeekKind(TokenKind::kWord)) cursor.Skip();
		return true;
	}
	if (cursor.Take({"?"})) return true;
	if (cursor.Take({"$"})) return cursor.SkipBalanced(), true;
	const bool word = cursor.PeekKind(TokenKind::kWord);
	if (!word && cursor.PeekKind(TokenKind::kSymbol) && !cursor.Peek({"("}) && !cursor.Peek({"-"})) return false;
	if (!word) return cursor.SkipBalanced(), true;
	cursor.Skip();
	if (!cursor.Peek({"("}) && !cursor.PeekKind(TokenKind::kString)) return false;
	cursor.SkipBalanced();
	return true;
}

std::optional<std::string> TakeValue(TokenCursor& cursor) {
	const size_t first = cursor.place();
	do {
		if (!TakeOperand(cursor)) return std::nullopt;
	} while (cursor.Take({"+"}) || cursor.Take({"-"}));
	return std::string(cursor.Between(first, cursor.place()));
}

// As an option of a function of ours.
std::string OptionOf(const char* unit, const std::string& value) {
	return (std::string(unit) == "VERSION" ? "version => " : "\"timestamp\" => ") + value;
}

// Whether a name, of a table or an alias, stands here.
bool IsName(const TokenCursor& cursor, size_t place) {
	if (place >= cursor.size()) return false;
	const auto kind = cursor.token(place).kind;
	if (kind != TokenKind::kWord) return kind == TokenKind::kQuotedName || kind == TokenKind::kBackQuotedName;
	const auto category = duckdb::Parser::IsKeyword(std::string(cursor.TextOf(place)));
	return category != duckdb::KeywordCategory::KEYWORD_RESERVED &&
		   category != duckdb::KeywordCategory::KEYWORD_TYPE_FUNC;
}

// "AS alias ", which DuckDB wants before AT; "" if there is none.
std::string TakeAlias(TokenCursor& cursor) {
	if (cursor.Take({"AS"})) return "AS " + cursor.Name() + " ";
	return IsName(cursor, cursor.place()) ? cursor.Name() + " " : "";
}

// delta.`/path`: the place of its first token.
bool IsPathName(const TokenCursor& cursor, size_t name) {
	return name >= 2 && cursor.token(name).kind != TokenKind::kWord && cursor.TextOf(name - 1) == "." &&
		   duckdb::StringUtil::CIEquals(std::string(cursor.TextOf(name - 2)), "delta");
}

// The place after `name VERSION AS OF 1 alias`, respelled into `edits`; nullopt if no such thing begins at `name`.
std::optional<size_t> TimeTravel(const TokenCursor& statement, size_t name, size_t edited_to, Edits& edits) {
	TokenCursor cursor = statement;
	while (cursor.place() <= name) cursor.Skip();
	const size_t from = cursor.AtEnd() ? 0 : cursor.token(cursor.place()).start;
	const char* unit = nullptr;
	if (!TakeUnit(cursor, unit)) return std::nullopt;
	const auto value = TakeValue(cursor);
	if (!value) return std::nullopt;
	const std::string alias = TakeAlias(cursor);
	const size_t to = cursor.token(cursor.place() - 1).end;
	if (IsPathName(cursor, name) && name - 2 >= edited_to) {
		edits.Replace(
			cursor.token(name - 2).start, to,
			"braid_scan(" + SqlString(Unquoted(cursor.TextOf(name))) + ", " + OptionOf(unit, *value) + ") " + alias);
		return cursor.place();
	}
	if (cursor.token(name).kind == TokenKind::kBackQuotedName) {
		const Token& token = cursor.token(name);
		edits.Replace(token.start, token.end, duckdb::KeywordHelper::WriteQuoted(Unquoted(cursor.TextOf(name)), '"'));
	}
	edits.Replace(from, to, alias + "AT(" + unit + "=>" + *value + ")");
	return cursor.place();
}

// Within the parentheses of braid_scan: timestamp => is not a name to DuckDB's grammar.
bool IsTimestampOption(const TokenCursor& cursor, size_t place) {
	if (place + 2 >= cursor.size() || cursor.token(place).kind != TokenKind::kWord) return false;
	const auto next = cursor.TextOf(place + 1);
	return duckdb::StringUtil::CIEquals(std::string(cursor.TextOf(place)), "timestamp") &&
		   (next == "=>" || next == ":");
}

}  // namespace

std::optional<std::string> TakeTimeOption(TokenCursor& cursor) {
	const char* unit = nullptr;
	if (!TakeUnit(cursor, unit)) return std::nullopt;
	const auto value = TakeValue(cursor);
	if (!value) cursor.Fail("a value");
	return OptionOf(unit, *value);
}

std::string RespellNamesAndTimes(const TokenCursor& statement) {
	if (statement.AtEnd()) return "";
	Edits edits(statement.text(), statement.position());
	bool in_scan = false;
	size_t edited_to = statement.place();  // tokens before it are done
	for (size_t place = statement.place(); place < statement.size();) {
		if (IsName(statement, place)) {
			// delta.`path` is edited as a whole, so its parts wait.
			if (auto after = TimeTravel(statement, place, edited_to, edits)) {
				place = edited_to = *after;
				continue;
			}
		}
		const Token& token = statement.token(place);
		if (token.kind == TokenKind::kBackQuotedName) {
			edits.Replace(token.start, token.end,
						  duckdb::KeywordHelper::WriteQuoted(Unquoted(statement.TextOf(place)), '"'));
			edited_to = place + 1;
		} else if (token.kind == TokenKind::kWord) {
			in_scan |= duckdb::StringUtil::CIEquals(std::string(statement.TextOf(place)), "braid_scan");
			if (in_scan && IsTimestampOption(statement, place)) {
				const size_t value = statement.TextOf(place + 1) == "=>" ? place + 2 : place + 3;
				edits.Replace(token.start, statement.token(value).start, "\"timestamp\"=>");
				place = edited_to = value;
				continue;
			}
		}
		place++;
	}
	return edits.Finish(statement.token(statement.size() - 1).end);
}

}  // namespace braid::engine
