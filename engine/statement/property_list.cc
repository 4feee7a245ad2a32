// SPDX-License-Identifier: Apache-2.0
#include "engine/statement/property_list.h"

#include "engine/statement/column_spelling.h"

namespace braid::engine {

namespace {

void SkipValue(TokenCursor& cursor) {
	while (!cursor.AtEnd() && !cursor.Peek({","}) && !cursor.Peek({")"})) cursor.SkipBalanced();
}

}  // namespace

std::string TakeKey(TokenCursor& cursor) {
	if (cursor.PeekKind(TokenKind::kString)) return cursor.String();
	std::string key;
	for (auto& name : TakePath(cursor)) key += (key.empty() ? "" : ".") + name;
	return key;
}

std::vector<std::pair<std::string, std::string>> TakeProperties(TokenCursor& cursor) {
	std::vector<std::pair<std::string, std::string>> properties;
	cursor.Expect({"("});
	do {
		auto key = TakeKey(cursor);
		cursor.Take({"="});
		if (cursor.Peek({","}) || cursor.Peek({")"})) cursor.Fail("a value");
		if (cursor.PeekKind(TokenKind::kString)) {
			properties.emplace_back(std::move(key), cursor.String());
			continue;
		}
		const size_t first = cursor.place();
		SkipValue(cursor);
		properties.emplace_back(std::move(key), std::string(cursor.Between(first, cursor.place())));
	} while (cursor.Take({","}));
	cursor.Expect({")"});
	return properties;
}

std::vector<std::string> TakeKeys(TokenCursor& cursor) {
	std::vector<std::string> keys;
	do {
		keys.push_back(TakeKey(cursor));
		SkipValue(cursor);
	} while (cursor.Take({","}));
	cursor.Expect({")"});
	return keys;
}

void RestoreKeys(const std::vector<std::string>& keys,
				 duckdb::case_insensitive_map_t<duckdb::unique_ptr<duckdb::ParsedExpression>>& options) {
	for (auto& key : keys) {
		auto known = options.find(key);
		if (known == options.end()) known = options.find(key.substr(key.rfind('.') + 1));
		if (known == options.end()) continue;
		auto value = std::move(known->second);
		options.erase(known);
		options[key] = std::move(value);
	}
}

}  // namespace braid::engine
