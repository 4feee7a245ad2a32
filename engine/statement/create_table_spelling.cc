// SPDX-License-Identifier: Apache-2.0
// What DuckDB's grammar lacks is read, blanked out and set on the parsed statement.
#include "engine/statement/create_table_spelling.h"

#include <charconv>
#include <map>

#include "duckdb/common/string_util.hpp"
#include "duckdb/parser/expression/columnref_expression.hpp"
#include "duckdb/parser/expression/constant_expression.hpp"
#include "duckdb/parser/parsed_data/create_table_info.hpp"
#include "duckdb/parser/statement/create_statement.hpp"
#include "engine/statement/column_spelling.h"
#include "engine/statement/edits.h"
#include "engine/statement/property_list.h"
#include "engine/statement/time_travel_spelling.h"
#include "kernel/schema/identity.h"

namespace braid::engine {

namespace {

// What the grammar has no words for.
struct TableOptions {
	std::vector<std::string> partition_columns;
	std::vector<std::pair<std::string, std::string>> properties;
	std::vector<std::string> native_keys;  // of WITH (...), as written
	std::vector<std::pair<std::string, std::string>> column_comments;
	std::optional<std::string> comment;

	void ApplyTo(duckdb::SQLStatement& statement) const {
		auto& info = statement.Cast<duckdb::CreateStatement>().info->Cast<duckdb::CreateTableInfo>();
		for (auto& name : partition_columns)
			info.partition_keys.push_back(duckdb::make_uniq<duckdb::ColumnRefExpression>(name));
		RestoreKeys(native_keys, info.options);
		for (auto& [key, value] : properties)
			info.options[key] = duckdb::make_uniq<duckdb::ConstantExpression>(duckdb::Value(value));
		for (auto& [name, text] : column_comments) info.columns.GetColumnMutable(name).SetComment(duckdb::Value(text));
		if (comment) info.comment = duckdb::Value(*comment);
	}
};

class CreateRule {
public:
	explicit CreateRule(const std::string& sql) : sql_(sql), cursor_(sql_, Tokenize(sql_)), edits_(sql_, 0) {}

	void MustReplace() {
		options_.properties.emplace_back(kReplaceOption, "true");
		found_ = true;
	}

	// nullopt: nothing in it is Delta's.
	std::optional<Respelling> Respell() {
		cursor_.Expect({"CREATE"});
		cursor_.Take({"OR", "REPLACE"});
		if (!cursor_.Take({"TABLE"})) return std::nullopt;
		cursor_.Take({"IF", "NOT", "EXISTS"});
		(void)cursor_.TableName();
		if (cursor_.Peek({"("}) && !Columns()) return std::nullopt;
		while (TakeOption()) {
		}
		if (!found_) return std::nullopt;
		return Respelling {edits_.Finish(sql_.size()),
						   [options = std::move(options_)](duckdb::SQLStatement& parsed) { options.ApplyTo(parsed); }};
	}

private:
	void Blank(size_t from, size_t to) {
		edits_.Replace(from, to, "");
		found_ = true;
	}
	size_t EndOfLast() const { return cursor_.token(cursor_.place() - 1).end; }

	// A list of names only (CREATE TABLE t (a, b) AS ...) is DuckDB's own.
	bool Columns() {
		cursor_.Expect({"("});
		do {
			for (auto word : {"CONSTRAINT", "CHECK", "PRIMARY", "UNIQUE", "FOREIGN"}) {
				if (cursor_.Peek({word})) return SkipColumn();
			}
			const auto name = TakePath(cursor_);
			if (cursor_.Peek({","}) || cursor_.Peek({")"})) {
				if (!SkipColumn()) return false;
				continue;
			}
			if (!cursor_.Peek({"AS"}) && !cursor_.Peek({"GENERATED"})) Type();
			while (!cursor_.Peek({","}) && !cursor_.Peek({")"})) {
				const size_t from = cursor_.position();
				if (cursor_.Take({"COMMENT"})) {
					options_.column_comments.emplace_back(name.back(), cursor_.String());
					Blank(from, EndOfLast());
				} else if (TakeIdentity(name.back())) {
					Blank(from, EndOfLast());
				} else {
					cursor_.SkipBalanced();
				}
			}
		} while (cursor_.Take({","}));
		cursor_.Expect({")"});
		return true;
	}

	// GENERATED {ALWAYS | BY DEFAULT} AS IDENTITY [(START WITH n INCREMENT BY n)], in any order.
	bool TakeIdentity(const std::string& column) {
		Identity identity;
		identity.allows_explicit = cursor_.Peek({"GENERATED", "BY", "DEFAULT", "AS", "IDENTITY"});
		if (!identity.allows_explicit && !cursor_.Peek({"GENERATED", "ALWAYS", "AS", "IDENTITY"})) return false;
		while (!cursor_.Take({"IDENTITY"})) cursor_.Skip();
		if (cursor_.Take({"("})) {
			do {
				if (cursor_.Take({"START"})) {
					cursor_.Take({"WITH"});
					identity.start = Integer();
				} else {
					cursor_.Expect({"INCREMENT"});
					cursor_.Take({"BY"});
					identity.step = Integer();
				}
				cursor_.Take({","});
			} while (!cursor_.Take({")"}));
		}
		options_.properties.emplace_back(kIdentityOption + column, ToText(identity));
		return true;
	}

	int64_t Integer() {
		const bool negative = cursor_.Take({"-"});
		if (!negative) cursor_.Take({"+"});
		int64_t value = 0;
		const auto digits = cursor_.AtEnd() ? "" : std::string(cursor_.TextOf(cursor_.place()));
		const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
		if (error != std::errc() || end != digits.data() + digits.size()) cursor_.Fail("a whole number of 64 bits");
		cursor_.Skip();
		return negative ? -value : value;
	}

	static std::string ToText(const Identity& identity) {
		return std::to_string(identity.start) + " " + std::to_string(identity.step) +
			   (identity.allows_explicit ? " by default" : "");
	}

	// To the end of the list: constraints of the table, which come last.
	bool SkipColumn() {
		while (!cursor_.Peek({")"})) cursor_.SkipBalanced();
		cursor_.Expect({")"});
		return true;
	}

	void Type() {
		const size_t from = cursor_.position();
		const auto type = TakeType(cursor_);
		const auto written = std::string_view(sql_).substr(from, EndOfLast() - from);
		if (type == written) return;
		edits_.Replace(from, EndOfLast(), type);
		found_ = true;
	}

	bool TakeOption() {
		const size_t from = cursor_.position();
		if (cursor_.Take({"USING", "DELTA"})) {
			options_.properties.emplace_back(kUsingOption, "delta");
		} else if (cursor_.Take({"PARTITIONED", "BY", "("})) {
			if (!PartitionColumns()) return true;
		} else if (cursor_.Take({"CLUSTER", "BY", "("})) {
			const size_t first = cursor_.place();
			while (!cursor_.Peek({")"})) cursor_.SkipBalanced();
			options_.properties.emplace_back(kClusteringOption, std::string(cursor_.Between(first, cursor_.place())));
			cursor_.Expect({")"});
		} else if (cursor_.Take({"LOCATION"})) {
			options_.properties.emplace_back(kLocationOption, cursor_.String());
		} else if (cursor_.Take({"COMMENT"})) {
			options_.comment = cursor_.String();
		} else if (cursor_.Take({"TBLPROPERTIES"})) {
			for (auto& property : TakeProperties(cursor_)) options_.properties.push_back(std::move(property));
		} else if (cursor_.Take({"WITH", "("})) {
			options_.native_keys = TakeKeys(cursor_);
			found_ = true;
			return true;
		} else if (cursor_.Take({"SORTED", "BY"})) {
			cursor_.SkipBalanced();
			return true;
		} else {
			return false;
		}
		Blank(from, EndOfLast());
		return true;
	}

	// Names; false if there is more than names, which is left to DuckDB.
	bool PartitionColumns() {
		std::vector<std::string> names;
		do {
			if (!cursor_.PeekKind(TokenKind::kWord) && !cursor_.PeekKind(TokenKind::kQuotedName)) break;
			names.push_back(TakePath(cursor_).back());
		} while (cursor_.Take({","}));
		if (!cursor_.Take({")"})) {
			while (!cursor_.Peek({")"})) cursor_.SkipBalanced();
			cursor_.Expect({")"});
			return false;
		}
		options_.partition_columns = std::move(names);
		return true;
	}

	const std::string sql_;
	TokenCursor cursor_;
	Edits edits_;
	TableOptions options_;
	bool found_ = false;
};

}  // namespace

std::optional<Respelling> RespellCreateTable(TokenCursor statement) {
	return CreateRule(RespellNamesAndTimes(statement)).Respell();
}

std::optional<Respelling> RespellReplaceTable(TokenCursor statement) {
	CreateRule rule("CREATE OR " + RespellNamesAndTimes(statement));
	rule.MustReplace();
	return rule.Respell();
}

}  // namespace braid::engine
