// SPDX-License-Identifier: Apache-2.0
// The tokens of SQL text with their exact extents, and a cursor over those of one statement for the rules that respell it. Knows every form
// of quoting and comment that DuckDB has, and back-quotes. Guarantees: text inside quotes and comments is never taken for words.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace braid::engine {

enum class TokenKind { kWord, kQuotedName, kBackQuotedName, kString, kNumber, kSymbol };

struct Token {
	TokenKind kind;
	size_t start = 0, end = 0;  // in the text
};

// Symbols are single characters, but for "=>". An unterminated quote ends with the text.
std::vector<Token> Tokenize(std::string_view text);

// Reads one statement from left to right. Copy it to look ahead.
class TokenCursor {
public:
	// `tokens` of one statement of `text`, without its semicolon; both outlive the cursor.
	TokenCursor(std::string_view text, std::vector<Token> tokens);

	bool AtEnd() const { return next_ >= tokens_.size(); }
	// Whether these words, in capitals, or symbols come next; quoted names are no words.
	bool Peek(std::initializer_list<std::string_view> words) const;
	bool Take(std::initializer_list<std::string_view> words);
	void Expect(std::initializer_list<std::string_view> words);  // throws if they do not come next
	bool PeekKind(TokenKind kind) const { return !AtEnd() && tokens_[next_].kind == kind; }
	void Skip() { next_++; }
	// Skips one token, or a parenthesis with everything in it. Throws if it is not closed.
	void SkipBalanced();

	// A name as DuckDB writes it: "a b", plain; back-quotes become double quotes.
	std::string Name();
	// [catalog.][schema.]table likewise, or a 'path' as it is written.
	std::string TableName();
	std::string String();  // the value of a 'string'
	// The text from here to the end, or between two places, as the user wrote it.
	std::string_view Rest() const;
	std::string_view Between(size_t from, size_t to) const;
	size_t place() const { return next_; }  // number of the next token
	size_t position() const;                // of the next token in the text
	std::string_view text() const { return text_; }
	const Token& token(size_t place) const { return tokens_[place]; }
	size_t size() const { return tokens_.size(); }
	std::string_view TextOf(size_t place) const;

	// A syntax error at the next token.
	[[noreturn]] void Fail(const std::string& expected) const;

private:
	bool Is(size_t place, std::string_view word) const;

	std::string_view text_;
	std::vector<Token> tokens_;
	size_t next_ = 0;
};

// 'text' as a string of SQL.
std::string SqlString(std::string_view text);
// The name between the quotes of a token: "a""b" -> a"b.
std::string Unquoted(std::string_view token);

}  // namespace braid::engine
