// SPDX-License-Identifier: Apache-2.0
// One function for each form of quoting.
#include "engine/statement/tokens.h"

#include <algorithm>

#include "base/ascii.h"
#include "duckdb/common/exception/parser_exception.hpp"
#include "duckdb/parser/keyword_helper.hpp"

namespace braid::engine {

namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWordStart(char c) {
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool IsWordPart(char c) { return IsWordStart(c) || IsDigit(c) || c == '$'; }
bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// After the closing quote of the one at `start`; a doubled quote stands for itself, so does one after a backslash.
size_t AfterQuoted(std::string_view text, size_t start, bool backslash = false) {
	const char quote = text[start];
	size_t at = start + 1;
	while (at < text.size()) {
		if (backslash && text[at] == '\\') {
			at += 2;
		} else if (text[at] != quote) {
			at++;
		} else if (at + 1 < text.size() && text[at + 1] == quote) {
			at += 2;
		} else {
			return at + 1;
		}
	}
	return text.size();
}

// $tag$ ... $tag$; `start` if no such string begins here.
size_t AfterDollarQuoted(std::string_view text, size_t start) {
	size_t at = start + 1;
	while (at < text.size() && IsWordPart(text[at]) && text[at] != '$') at++;
	if (at >= text.size() || text[at] != '$' || (at > start + 1 && IsDigit(text[start + 1]))) return start;
	const auto tag = text.substr(start, at + 1 - start);
	const auto close = text.find(tag, at + 1);
	return close == std::string_view::npos ? text.size() : close + tag.size();
}

// After blanks and comments; /* comments */ may be nested.
size_t AfterBlanks(std::string_view text, size_t at) {
	while (at < text.size()) {
		if (IsSpace(text[at])) {
			at++;
		} else if (text.substr(at, 2) == "--") {
			at = std::min(text.find_first_of("\r\n", at), text.size());
		} else if (text.substr(at, 2) == "/*") {
			int depth = 1;
			for (at += 2; at < text.size() && depth > 0;) {
				const auto two = text.substr(at, 2);
				depth += two == "/*" ? 1 : two == "*/" ? -1 : 0;
				at += two == "/*" || two == "*/" ? 2 : 1;
			}
		} else {
			break;
		}
	}
	return at;
}

size_t AfterNumber(std::string_view text, size_t at) {
	while (at < text.size() && (IsWordPart(text[at]) || text[at] == '.')) {
		const bool exponent = AsciiLower(text[at]) == 'e' && at + 1 < text.size();
		at += exponent && (text[at + 1] == '+' || text[at + 1] == '-') ? 2 : 1;
	}
	return at;
}

Token NextToken(std::string_view text, size_t start) {
	const char c = text[start];
	const char after = start + 1 < text.size() ? text[start + 1] : '\0';
	if (c == '\'') return {TokenKind::kString, start, AfterQuoted(text, start)};
	if (c == '"') return {TokenKind::kQuotedName, start, AfterQuoted(text, start)};
	if (c == '`') return {TokenKind::kBackQuotedName, start, AfterQuoted(text, start)};
	if (after == '\'' && std::string_view("eExXbB").find(c) != std::string_view::npos) {
		return {TokenKind::kString, start, AfterQuoted(text, start + 1, AsciiLower(c) == 'e')};
	}
	if (c == '$') {
		const size_t end = AfterDollarQuoted(text, start);
		if (end > start) return {TokenKind::kString, start, end};
	}
	if (IsDigit(c) || (c == '.' && IsDigit(after))) return {TokenKind::kNumber, start, AfterNumber(text, start)};
	if (IsWordStart(c)) {
		size_t end = start + 1;
		while (end < text.size() && IsWordPart(text[end])) end++;
		return {TokenKind::kWord, start, end};
	}
	return {TokenKind::kSymbol, start, start + (c == '=' && after == '>' ? 2 : 1)};
}

}  // namespace

std::vector<Token> Tokenize(std::string_view text) {
	std::vector<Token> tokens;
	for (size_t at = AfterBlanks(text, 0); at < text.size(); at = AfterBlanks(text, tokens.back().end)) {
		tokens.push_back(NextToken(text, at));
	}
	return tokens;
}

TokenCursor::TokenCursor(std::string_view text, std::vector<Token> tokens) : text_(text), tokens_(std::move(tokens)) {}

std::string_view TokenCursor::TextOf(size_t place) const {
	return text_.substr(tokens_[place].start, tokens_[place].end - tokens_[place].start);
}

bool TokenCursor::Is(size_t place, std::string_view word) const {
	if (place >= tokens_.size()) return false;
	const auto kind = tokens_[place].kind;
	return (kind == TokenKind::kWord || kind == TokenKind::kSymbol) && SameIgnoringCase(TextOf(place), word);
}

bool TokenCursor::Peek(std::initializer_list<std::string_view> words) const {
	size_t place = next_;
	return std::ranges::all_of(words, [&](auto word) { return Is(place++, word); });
}

bool TokenCursor::Take(std::initializer_list<std::string_view> words) {
	if (!Peek(words)) return false;
	next_ += words.size();
	return true;
}

void TokenCursor::Expect(std::initializer_list<std::string_view> words) {
	if (Take(words)) return;
	std::string expected;
	for (auto word : words) expected += (expected.empty() ? "" : " ") + std::string(word);
	Fail(expected);
}

void TokenCursor::SkipBalanced() {
	if (AtEnd()) Fail("more");
	int depth = 0;
	do {
		if (AtEnd()) Fail(")");
		depth += Is(next_, "(") ? 1 : Is(next_, ")") ? -1 : 0;
		next_++;
	} while (depth > 0);
}

std::string TokenCursor::Name() {
	if (AtEnd()) Fail("a name");
	const auto text = TextOf(next_);
	switch (tokens_[next_].kind) {
		case TokenKind::kWord:
		case TokenKind::kQuotedName:
			next_++;
			return std::string(text);
		case TokenKind::kBackQuotedName:
			next_++;
			return duckdb::KeywordHelper::WriteQuoted(Unquoted(text), '"');
		default:
			Fail("a name");
	}
}

std::string TokenCursor::TableName() {
	if (PeekKind(TokenKind::kString)) return String();
	std::string name = Name();
	while (Take({"."})) name += "." + Name();
	return name;
}

std::string TokenCursor::String() {
	if (!PeekKind(TokenKind::kString) || text_[tokens_[next_].start] != '\'') Fail("a 'string'");
	return Unquoted(TextOf(next_++));
}

size_t TokenCursor::position() const {
	if (!AtEnd()) return tokens_[next_].start;
	return tokens_.empty() ? 0 : tokens_.back().end;
}

std::string_view TokenCursor::Rest() const { return Between(next_, tokens_.size()); }

std::string_view TokenCursor::Between(size_t from, size_t to) const {
	if (from >= to || from >= tokens_.size()) return {};
	return text_.substr(tokens_[from].start, tokens_[to - 1].end - tokens_[from].start);
}

void TokenCursor::Fail(const std::string& expected) const {
	const auto found = AtEnd() ? "end of input" : "\"" + std::string(TextOf(next_)) + "\"";
	throw duckdb::ParserException::SyntaxError(
		std::string(text_), "syntax error at or near " + found + ": expected " + expected, position());
}

std::string SqlString(std::string_view text) { return duckdb::KeywordHelper::WriteQuoted(std::string(text), '\''); }

std::string Unquoted(std::string_view token) {
	std::string name;
	for (size_t i = 1; i + 1 < token.size(); i++) {
		name += token[i];
		if (token[i] == token[0]) i++;
	}
	return name;
}

}  // namespace braid::engine
