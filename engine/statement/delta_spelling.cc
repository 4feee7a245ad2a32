// SPDX-License-Identifier: Apache-2.0
#include "engine/statement/delta_spelling.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "duckdb/common/string_util.hpp"
#include "duckdb/main/config.hpp"
#include "duckdb/parser/parser.hpp"
#include "duckdb/parser/parser_extension.hpp"

namespace braid::engine {

namespace {

constexpr std::string_view kProperties = "TBLPROPERTIES";
constexpr std::string_view kWith = "WITH";

// The word that starts here, as written; empty if it is not one.
std::string_view WordAt(std::string_view query, size_t start) {
	auto end = start;
	while (end < query.size() && (std::isalnum(static_cast<unsigned char>(query[end])) || query[end] == '_')) end++;
	return query.substr(start, end - start);
}

bool Is(std::string_view word, const char* keyword) { return duckdb::StringUtil::CIEquals(std::string(word), keyword); }

// A first look that spares most queries the tokenizer.
bool MayNeedWork(const std::string& query) {
	auto upper = duckdb::StringUtil::Upper(query);
	return upper.find("CREATE") != std::string::npos &&
		   (upper.find(kProperties) != std::string::npos || upper.find("DELTA") != std::string::npos);
}

duckdb::ParserOverrideResult Parse(duckdb::ParserExtensionInfo*, const std::string& query,
								   duckdb::ParserOptions& options) {
	if (!MayNeedWork(query)) return duckdb::ParserOverrideResult();
	try {
		auto respelled = ToDuckdbSpelling(query);
		if (respelled == query) return duckdb::ParserOverrideResult();
		auto plain = options;
		plain.parser_override_setting = duckdb::AllowParserOverride::DEFAULT_OVERRIDE;
		duckdb::Parser parser(plain);
		parser.ParseQuery(respelled);
		return duckdb::ParserOverrideResult(std::move(parser.statements));
	} catch (std::exception&) {
		return duckdb::ParserOverrideResult();  // DuckDB's parser reports the error in the query as it was written
	}
}

}  // namespace

std::string ToDuckdbSpelling(const std::string& query) {
	auto tokens = duckdb::Parser::Tokenize(query);
	auto result = query;
	bool in_create = false;
	bool at_start = true;
	for (size_t i = 0; i < tokens.size(); i++) {
		if (tokens[i].type == duckdb::SimplifiedTokenType::SIMPLIFIED_TOKEN_COMMENT) continue;
		auto start = tokens[i].start;
		auto word = WordAt(query, start);
		auto next = i + 1 < tokens.size() ? tokens[i + 1].start : query.size();
		if (at_start) in_create = Is(word, "CREATE");
		at_start = query[start] == ';';
		if (!in_create) continue;
		if (Is(word, kProperties.data()) && next < query.size() && query[next] == '(') {
			std::fill_n(result.begin() + static_cast<std::ptrdiff_t>(start), word.size(), ' ');
			result.replace(start, kWith.size(), kWith);
		} else if (Is(word, "USING") && Is(WordAt(query, next), "DELTA")) {
			std::fill_n(result.begin() + static_cast<std::ptrdiff_t>(start), next + WordAt(query, next).size() - start,
						' ');
		}
	}
	return result;
}

void RegisterDeltaSpelling(duckdb::DBConfig& config) {
	duckdb::ParserExtension extension;
	extension.parser_override = Parse;
	duckdb::ParserExtension::Register(config, std::move(extension));
	config.SetOptionByName("allow_parser_override_extension", duckdb::Value("fallback"));
}

}  // namespace braid::engine
