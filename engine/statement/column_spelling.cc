// SPDX-License-Identifier: Apache-2.0
// One word of look-ahead is enough everywhere.
#include "engine/statement/column_spelling.h"

#include "duckdb/common/string_util.hpp"
#include "duckdb/parser/column_list.hpp"
#include "duckdb/parser/parser.hpp"
#include "duckdb/planner/binder.hpp"

namespace braid::engine {

namespace {

std::string PlainName(TokenCursor& cursor) {
	const auto name = cursor.Name();
	return name[0] == '"' ? Unquoted(name) : name;
}

std::string TakeStruct(TokenCursor& cursor) {
	std::string type = "STRUCT(";
	do {
		const auto name = cursor.Name();
		cursor.Take({":"});
		type += (type.ends_with('(') ? "" : ",") + name + " " + TakeType(cursor);
		if (cursor.Peek({"NOT"})) cursor.Fail("no NOT NULL inside a type: alter the field afterwards");
		if (cursor.Take({"COMMENT"})) (void)cursor.String();
	} while (cursor.Take({","}));
	cursor.Expect({">"});
	return type + ")";
}

// Up to the next option of a column, a comma or the end.
std::string TakeExpression(TokenCursor& cursor) {
	const size_t first = cursor.place();
	const auto ends = [&] {
		for (auto word : {",", ")", "COMMENT", "FIRST", "AFTER", "GENERATED", "DEFAULT"}) {
			if (cursor.Peek({word})) return true;
		}
		return cursor.AtEnd() || (cursor.Peek({"NOT", "NULL"}) && cursor.place() > first);
	};
	while (!ends()) cursor.SkipBalanced();
	if (cursor.place() == first) cursor.Fail("an expression");
	return std::string(cursor.Between(first, cursor.place()));
}

}  // namespace

std::vector<std::string> TakePath(TokenCursor& cursor) {
	std::vector<std::string> path {PlainName(cursor)};
	while (cursor.Take({"."})) path.push_back(PlainName(cursor));
	return path;
}

std::string TakeType(TokenCursor& cursor) {
	std::string type;
	if (cursor.Take({"ARRAY", "<"})) {
		type = TakeType(cursor) + "[]";
		cursor.Expect({">"});
	} else if (cursor.Take({"MAP", "<"})) {
		type = "MAP(" + TakeType(cursor);
		cursor.Expect({","});
		type += "," + TakeType(cursor) + ")";
		cursor.Expect({">"});
	} else if (cursor.Take({"STRUCT", "<"})) {
		type = TakeStruct(cursor);
	} else if (cursor.Take({"BYTE"})) {
		type = "TINYINT";
	} else if (cursor.Take({"TIMESTAMP_NTZ"})) {
		type = "TIMESTAMP";
	} else if (cursor.Take({"TIMESTAMP_LTZ"})) {
		type = "TIMESTAMPTZ";
	} else {
		const size_t first = cursor.place();
		(void)cursor.Name();
		if (!cursor.Take({"PRECISION"})) cursor.Take({"VARYING"});
		if (cursor.Peek({"("})) cursor.SkipBalanced();
		for (auto zone : {"WITH", "WITHOUT"}) {
			if (cursor.Peek({zone, "TIME", "ZONE"})) cursor.Expect({zone, "TIME", "ZONE"});
		}
		type = std::string(cursor.Between(first, cursor.place()));
	}
	while (cursor.Take({"["})) {
		type += "[";
		while (!cursor.Peek({"]"})) {
			type += cursor.TextOf(cursor.place());
			cursor.SkipBalanced();
		}
		cursor.Expect({"]"});
		type += "]";
	}
	return type;
}

bool TakePosition(TokenCursor& cursor, ColumnText& column) {
	if (cursor.Take({"FIRST"})) {
		column.first = true;
	} else if (cursor.Take({"AFTER"})) {
		column.after = PlainName(cursor);
	} else {
		return false;
	}
	return true;
}

ColumnText TakeColumn(TokenCursor& cursor) {
	ColumnText column;
	column.path = TakePath(cursor);
	column.type = TakeType(cursor);
	for (;;) {
		if (cursor.Take({"NOT", "NULL"})) {
			column.not_null = true;
		} else if (cursor.Take({"DEFAULT"})) {
			column.default_value = TakeExpression(cursor);
		} else if (cursor.Take({"COMMENT"})) {
			column.comment = cursor.String();
		} else if (cursor.Take({"GENERATED", "ALWAYS", "AS", "("})) {
			const size_t first = cursor.place();
			while (!cursor.Peek({")"})) cursor.SkipBalanced();
			column.generated = std::string(cursor.Between(first, cursor.place()));
			cursor.Expect({")"});
		} else if (cursor.Take({"GENERATED"})) {
			cursor.Fail("no such column: identity columns can be made with the table only");
		} else if (!TakePosition(cursor, column)) {
			return column;
		}
	}
}

std::string SqlList(const std::vector<std::optional<std::string>>& items) {
	std::string list = "[";
	for (auto& item : items) list += (list.size() > 1 ? ", " : "") + (item ? SqlString(*item) : "NULL");
	return list + "]::VARCHAR[]";
}

duckdb::LogicalType BindType(duckdb::Binder& binder, const std::string& text) {
	auto columns = duckdb::Parser::ParseColumnList("c " + text);
	auto type = columns.GetColumn(duckdb::LogicalIndex(0)).Type();
	binder.BindLogicalType(type);
	return type;
}

}  // namespace braid::engine
