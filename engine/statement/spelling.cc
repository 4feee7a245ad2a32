// SPDX-License-Identifier: Apache-2.0
// Statement by statement: the first rule that answers, else names and times; then DuckDB's own parser.
#include "engine/statement/spelling.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/ascii.h"
#include "duckdb/common/exception/parser_exception.hpp"
#include "duckdb/common/string_util.hpp"
#include "duckdb/main/config.hpp"
#include "duckdb/parser/expression/function_expression.hpp"
#include "duckdb/parser/parser.hpp"
#include "duckdb/parser/parser_extension.hpp"
#include "duckdb/parser/query_node/select_node.hpp"
#include "duckdb/parser/statement/call_statement.hpp"
#include "duckdb/parser/statement/explain_statement.hpp"
#include "duckdb/parser/statement/prepare_statement.hpp"
#include "duckdb/parser/statement/select_statement.hpp"
#include "duckdb/parser/tableref/table_function_ref.hpp"
#include "engine/statement/late_binding.h"
#include "engine/statement/rules.h"
#include "engine/statement/time_travel_spelling.h"

namespace braid::engine {

namespace {

using Statements = duckdb::vector<duckdb::unique_ptr<duckdb::SQLStatement>>;

// Words that tell whether a query may be one of ours, in capitals.
const std::set<std::string_view>& Signs() {
	static const std::set<std::string_view> signs = [] {
		std::set<std::string_view> words(std::begin(kTimeTravelSigns), std::end(kTimeTravelSigns));
		for (auto& rule : StatementRules()) {
			words.insert(rule.begins.substr(0, rule.begins.find(' ')));
			words.insert(rule.signs.begin(), rule.signs.end());
		}
		return words;
	}();
	return signs;
}

// The signs in the query: one pass over its letters; quotes do not matter yet.
std::set<std::string_view> SignsIn(std::string_view query) {
	static const std::array<bool, 256> kBegins = [] {
		std::array<bool, 256> begins {};
		for (auto sign : Signs()) {
			begins[static_cast<unsigned char>(sign[0])] = begins[static_cast<unsigned char>(AsciiLower(sign[0]))] =
				true;
		}
		return begins;
	}();
	const auto in_word = [](char c) { return (AsciiLower(c) >= 'a' && AsciiLower(c) <= 'z') || c == '_'; };
	std::set<std::string_view> found;
	for (size_t at = 0; at < query.size(); at++) {
		if (!in_word(query[at])) continue;
		const size_t start = at;
		while (at < query.size() && in_word(query[at])) at++;
		if (!kBegins[static_cast<unsigned char>(query[start])]) continue;
		const auto sign = Signs().find(duckdb::StringUtil::Upper(std::string(query.substr(start, at - start))));
		if (sign != Signs().end()) found.insert(*sign);
	}
	return found;
}

bool MayNeedWork(std::string_view query) {
	if (query.find('`') != std::string_view::npos) return true;
	const auto signs = SignsIn(query);
	if (signs.empty()) return false;
	if (std::ranges::any_of(kTimeTravelSigns, [&](auto sign) { return signs.contains(sign); })) return true;
	return std::ranges::any_of(StatementRules(), [&](const StatementRule& rule) {
		return signs.contains(rule.begins.substr(0, rule.begins.find(' '))) &&
			   std::ranges::any_of(rule.signs, [&](auto sign) { return signs.contains(sign); });
	});
}

// EXPLAIN [ANALYZE] [(options)] and PREPARE name AS stand before a statement and stay there. EXPLAIN CONFLICT is a statement of its own.
void SkipPrefix(TokenCursor& cursor) {
	if (cursor.Peek({"EXPLAIN", "CONFLICT"})) return;
	if (cursor.Take({"EXPLAIN"})) {
		cursor.Take({"ANALYZE"});
		if (cursor.Peek({"("})) cursor.SkipBalanced();
		SkipPrefix(cursor);
	} else if (cursor.Take({"PREPARE"})) {
		cursor.Name();
		if (cursor.Peek({"("})) cursor.SkipBalanced();
		cursor.Take({"AS"});
	}
}

bool BeginsWith(TokenCursor cursor, std::string_view words) {
	for (auto& word : duckdb::StringUtil::Split(std::string(words), ' ')) {
		if (!cursor.Take({word})) return false;
	}
	return true;
}

// The statement behind EXPLAIN and PREPARE.
duckdb::unique_ptr<duckdb::SQLStatement>& Inner(duckdb::unique_ptr<duckdb::SQLStatement>& statement) {
	if (statement->type == duckdb::StatementType::EXPLAIN_STATEMENT) {
		return Inner(statement->Cast<duckdb::ExplainStatement>().stmt);
	}
	if (statement->type == duckdb::StatementType::PREPARE_STATEMENT) {
		return Inner(statement->Cast<duckdb::PrepareStatement>().statement);
	}
	return statement;
}

// A call of one of our functions has no place in the user's text that an error could point to.
void ForgetPlaces(duckdb::SQLStatement& statement) {
	if (statement.type == duckdb::StatementType::CALL_STATEMENT) {
		statement.Cast<duckdb::CallStatement>().function->SetQueryLocation(duckdb::optional_idx());
	} else if (statement.type == duckdb::StatementType::SELECT_STATEMENT) {
		auto& node = *statement.Cast<duckdb::SelectStatement>().node;
		if (node.type != duckdb::QueryNodeType::SELECT_NODE) return;
		auto& from = *node.Cast<duckdb::SelectNode>().from_table;
		from.query_location = duckdb::optional_idx();
		if (from.type == duckdb::TableReferenceType::TABLE_FUNCTION) {
			from.Cast<duckdb::TableFunctionRef>().function->SetQueryLocation(duckdb::optional_idx());
		}
	}
}

struct Piece {
	size_t start;      // in the query
	std::string text;  // as the user wrote it, without the semicolon
	Respelling respelling;
};

Respelling Respell(const std::string& query, const TokenCursor& statement) {
	TokenCursor body = statement;
	SkipPrefix(body);
	for (auto& rule : StatementRules()) {
		if (!BeginsWith(body, rule.begins)) continue;
		auto respelling = rule.respell(body);
		if (!respelling) continue;
		respelling->sql.insert(0, query, statement.position(), body.position() - statement.position());
		return *std::move(respelling);
	}
	return {RespellNamesAndTimes(statement)};
}

std::vector<Piece> Split(const std::string& query) {
	std::vector<Piece> pieces;
	std::vector<Token> tokens;
	const auto finish = [&] {
		if (tokens.empty()) return;
		const TokenCursor statement(query, std::move(tokens));
		pieces.push_back({statement.position(), std::string(statement.Rest()), Respell(query, statement)});
		tokens.clear();
	};
	for (auto& token : Tokenize(query)) {
		if (query[token.start] == ';') {
			finish();
		} else {
			tokens.push_back(token);
		}
	}
	finish();
	return pieces;
}

// DuckDB's parser; its errors point into the user's text.
Statements ParsePiece(const std::string& query, const Piece& piece, const duckdb::ParserOptions& options) {
	duckdb::Parser parser(options);
	try {
		parser.ParseQuery(piece.respelling.sql);
	} catch (const std::exception& exception) {
		const duckdb::ErrorData error(exception);
		const auto place = error.ExtraInfo().find("position");
		if (error.Type() != duckdb::ExceptionType::PARSER || place == error.ExtraInfo().end()) throw;
		if (piece.respelling.sql.size() != piece.text.size()) throw duckdb::ParserException(error.RawMessage());
		throw duckdb::ParserException::SyntaxError(query, error.RawMessage(), piece.start + std::stoull(place->second));
	}
	for (auto& statement : parser.statements) {
		auto& inner = Inner(statement);
		if (piece.respelling.finish) piece.respelling.finish(*inner);
		if (piece.respelling.sql.size() != piece.text.size()) ForgetPlaces(*inner);
		if (piece.respelling.replace) inner = piece.respelling.replace(std::move(inner));
		inner = WithPathTarget(std::move(inner));
		statement->query = piece.text;
		statement->stmt_location = 0;
		statement->stmt_length = piece.text.size();
	}
	return std::move(parser.statements);
}

duckdb::ParserOverrideResult Parse(duckdb::ParserExtensionInfo*, const std::string& query,
								   duckdb::ParserOptions& options) {
	if (!MayNeedWork(query)) return duckdb::ParserOverrideResult();
	const auto pieces = Split(query);
	const auto untouched = [](const Piece& piece) {
		return piece.respelling.sql == piece.text && !piece.respelling.finish && !piece.respelling.replace;
	};
	if (std::ranges::all_of(pieces, untouched)) return duckdb::ParserOverrideResult();
	auto plain = options;
	plain.parser_override_setting = duckdb::AllowParserOverride::DEFAULT_OVERRIDE;
	Statements statements;
	for (auto& piece : pieces) {
		for (auto& statement : ParsePiece(query, piece, plain)) statements.push_back(std::move(statement));
	}
	return duckdb::ParserOverrideResult(std::move(statements));
}

}  // namespace

void RegisterSpelling(duckdb::DBConfig& config) {
	duckdb::ParserExtension extension;
	extension.parser_override = Parse;
	duckdb::ParserExtension::Register(config, std::move(extension));
	config.SetOptionByName("allow_parser_override_extension", duckdb::Value("fallback"));
}

}  // namespace braid::engine
