// SPDX-License-Identifier: Apache-2.0
// One function for each command that DuckDB lacks. Arguments are flat lists of text; alter_function.cc reads them in the same order.
#include "engine/statement/alter_spelling.h"

#include "duckdb/common/string_util.hpp"
#include "duckdb/parser/expression/constant_expression.hpp"
#include "duckdb/parser/expression/function_expression.hpp"
#include "duckdb/parser/parsed_data/alter_table_info.hpp"
#include "duckdb/parser/statement/alter_statement.hpp"
#include "duckdb/parser/statement/multi_statement.hpp"
#include "duckdb/parser/statement/update_statement.hpp"
#include "engine/statement/column_spelling.h"
#include "engine/statement/property_list.h"
#include "engine/statement/time_travel_spelling.h"

namespace braid::engine {

namespace {

using Arguments = std::vector<std::optional<std::string>>;

std::string JoinPath(const std::vector<std::string>& path) {
	std::string text;
	for (auto& name : path) {
		text += (text.empty() ? "\"" : ".\"") + duckdb::StringUtil::Replace(name, "\"", "\"\"") + "\"";
	}
	return text;
}

class AlterRule {
public:
	explicit AlterRule(TokenCursor statement) : statement_(statement), cursor_(std::move(statement)) {}

	std::optional<Respelling> Respell() {
		cursor_.Expect({"ALTER", "TABLE"});
		if_exists_ = cursor_.Take({"IF", "EXISTS"});
		table_ = cursor_.TableName();
		const auto command = cursor_;
		for (auto attempt :
			 {&AlterRule::AddColumns, &AlterRule::AddConstraint, &AlterRule::DropConstraint, &AlterRule::DropFeature,
			  &AlterRule::ReplaceColumns, &AlterRule::DropColumns, &AlterRule::AlterColumn, &AlterRule::Properties,
			  &AlterRule::ClusterBy, &AlterRule::Options}) {
			cursor_ = command;
			if (auto respelling = (this->*attempt)()) return respelling;
		}
		return std::nullopt;
	}

private:
	std::optional<Respelling> Call(const char* what, const Arguments& arguments) {
		if (!cursor_.AtEnd()) cursor_.Fail("the end of the statement");
		return Respelling {"CALL braid_alter_table(" + SqlString(table_) + ", " + SqlString(what) + ", " +
						   SqlList(arguments) + (if_exists_ ? ", true" : ", false") + ")"};
	}

	// The column as DuckDB can say it: without a comment and a place.
	static bool IsNative(const ColumnText& column) { return !column.comment && !column.first && !column.after; }

	std::optional<Respelling> AddColumns() {
		if (!cursor_.Take({"ADD"}) || cursor_.Peek({"CONSTRAINT"})) return std::nullopt;
		const bool several = cursor_.Take({"COLUMNS"});
		if (!several) cursor_.Take({"COLUMN"});
		const bool if_missing = cursor_.Take({"IF", "NOT", "EXISTS"});
		const bool listed = cursor_.Take({"("});
		Arguments arguments;
		std::vector<ColumnText> columns;
		do {
			columns.push_back(TakeColumn(cursor_));
		} while (listed && cursor_.Take({","}));
		if (listed) cursor_.Expect({")"});
		if (!listed && !several && IsNative(columns[0])) return AddNatively(columns[0], if_missing);
		for (auto& column : columns) Describe(column, arguments);
		return Call(if_missing ? "ADD COLUMNS IF NOT EXISTS" : "ADD COLUMNS", arguments);
	}

	void Describe(const ColumnText& column, Arguments& arguments) const {
		arguments.insert(arguments.end(), {JoinPath(column.path), column.type, column.default_value, column.comment,
										   column.first ? std::optional<std::string>("") : column.after,
										   column.not_null ? std::optional<std::string>("NOT NULL") : std::nullopt});
		if (column.generated) cursor_.Fail("no generated column: it can be made with the table only");
	}

	std::optional<Respelling> ReplaceColumns() {
		if (!cursor_.Take({"REPLACE", "COLUMNS"})) return std::nullopt;
		cursor_.Expect({"("});
		Arguments arguments;
		do {
			Describe(TakeColumn(cursor_), arguments);
		} while (cursor_.Take({","}));
		cursor_.Expect({")"});
		return Call("REPLACE COLUMNS", arguments);
	}

	// With a default that is more than a constant, DuckDB fills the rows that are there in a second statement (trap 38).
	std::optional<Respelling> AddNatively(const ColumnText& column, bool if_missing) {
		if (!column.default_value || if_missing || column.path.size() > 1) return std::nullopt;
		auto sql = RespellNamesAndTimes(statement_);
		const auto value = duckdb::StringUtil::Lower(*column.default_value);
		const bool calls =
			value.find('(') != std::string::npos || value.starts_with("current_") || value.starts_with("local");
		if (calls) {
			// The second statement is for DuckDB's own tables only.
			return Respelling {std::move(sql), [table = table_](duckdb::SQLStatement& parsed) {
								   if (parsed.type == duckdb::StatementType::MULTI_STATEMENT)
									   LimitFilling(parsed, table);
							   }};
		}
		// IF NOT EXISTS is its way to say all in one; it is taken back afterwards.
		auto add = statement_;
		while (!add.Peek({"ADD"})) add.Skip();
		add.Skip();
		add.Take({"COLUMN"});
		sql.insert(add.position() - statement_.position(), "IF NOT EXISTS ");
		return Respelling {std::move(sql), [](duckdb::SQLStatement& parsed) {
							   auto& alter = parsed.Cast<duckdb::AlterStatement>();
							   alter.info->Cast<duckdb::AddColumnInfo>().if_column_not_exists = false;
						   }};
	}

	static void LimitFilling(duckdb::SQLStatement& parsed, const std::string& table) {
		for (auto& statement : parsed.Cast<duckdb::MultiStatement>().statements) {
			if (statement->type != duckdb::StatementType::UPDATE_STATEMENT) continue;
			duckdb::vector<duckdb::unique_ptr<duckdb::ParsedExpression>> arguments;
			arguments.push_back(duckdb::make_uniq<duckdb::ConstantExpression>(duckdb::Value(table)));
			statement->Cast<duckdb::UpdateStatement>().set_info->condition =
				duckdb::make_uniq<duckdb::FunctionExpression>(kNotInLake, std::move(arguments));
		}
	}

	std::optional<Respelling> AddConstraint() {
		if (!cursor_.Take({"ADD", "CONSTRAINT"})) return std::nullopt;
		const auto name = TakePath(cursor_);
		if (!cursor_.Peek({"CHECK"})) return std::nullopt;  // keys: DuckDB's own business
		cursor_.Expect({"CHECK", "("});
		const size_t first = cursor_.place();
		while (!cursor_.Peek({")"})) cursor_.SkipBalanced();
		const auto condition = std::string(cursor_.Between(first, cursor_.place()));
		cursor_.Expect({")"});
		return Call("ADD CONSTRAINT", {name.back(), condition});
	}

	std::optional<Respelling> DropConstraint() {
		if (!cursor_.Take({"DROP", "CONSTRAINT"})) return std::nullopt;
		const bool if_exists = cursor_.Take({"IF", "EXISTS"});
		const auto name = TakePath(cursor_);
		if (!cursor_.Take({"RESTRICT"})) cursor_.Take({"CASCADE"});
		return Call(if_exists ? "DROP CONSTRAINT IF EXISTS" : "DROP CONSTRAINT", {name.back()});
	}

	std::optional<Respelling> DropFeature() {
		if (!cursor_.Take({"DROP", "FEATURE"})) return std::nullopt;
		const auto name = cursor_.PeekKind(TokenKind::kString) ? cursor_.String() : TakeName();
		const bool truncate = cursor_.Take({"TRUNCATE", "HISTORY"});
		return Call("DROP FEATURE", {name, truncate ? std::optional<std::string>("TRUNCATE HISTORY") : std::nullopt});
	}

	// Some features have a hyphen in their names.
	std::string TakeName() {
		auto name = TakePath(cursor_).back();
		while (cursor_.Take({"-"})) name += "-" + TakePath(cursor_).back();
		return name;
	}

	std::optional<Respelling> DropColumns() {
		if (!cursor_.Take({"DROP"})) return std::nullopt;
		const bool several = cursor_.Take({"COLUMNS"});
		if (!several && !cursor_.Take({"COLUMN"})) return std::nullopt;
		const bool if_exists = cursor_.Take({"IF", "EXISTS"});
		const bool listed = cursor_.Take({"("});
		if (!several && !listed) return std::nullopt;
		Arguments columns;
		do {
			columns.emplace_back(JoinPath(TakePath(cursor_)));
		} while (cursor_.Take({","}));
		if (listed) cursor_.Expect({")"});
		return Call(if_exists ? "DROP COLUMNS IF EXISTS" : "DROP COLUMNS", columns);
	}

	std::optional<Respelling> AlterColumn() {
		const bool change = cursor_.Take({"CHANGE"});
		if (!change && !cursor_.Take({"ALTER"})) return std::nullopt;
		cursor_.Take({"COLUMN"});
		const auto path = TakePath(cursor_);
		const auto column = JoinPath(path);
		const bool native = !change && path.size() == 1;  // if the rest is as well
		ColumnText place;
		if (TakePosition(cursor_, place)) {
			return Call("MOVE COLUMN", {column, place.first ? std::optional<std::string>("") : place.after});
		}
		if (cursor_.Take({"COMMENT"})) return Call("COMMENT ON COLUMN", {column, cursor_.String()});
		if (cursor_.Take({"SYNC", "IDENTITY"})) return Call("SYNC IDENTITY", {column});
		if (native) return std::nullopt;
		if (cursor_.Take({"SET", "NOT", "NULL"})) return Call("SET NOT NULL", {column});
		if (cursor_.Take({"DROP", "NOT", "NULL"})) return Call("DROP NOT NULL", {column});
		if (cursor_.Take({"DROP", "DEFAULT"})) return Call("SET DEFAULT", {column, std::nullopt});
		if (cursor_.Take({"SET", "DEFAULT"})) {
			const auto value = std::string(cursor_.Rest());
			while (!cursor_.AtEnd()) cursor_.Skip();
			return Call("SET DEFAULT", {column, value});
		}
		if (!cursor_.Take({"TYPE"})) cursor_.Take({"SET", "DATA", "TYPE"});
		const auto type = TakeType(cursor_);
		// Hive's CHANGE COLUMN old new type [COMMENT text] comes with the name twice.
		if (change && !cursor_.AtEnd() && !cursor_.Peek({"COMMENT"}))
			cursor_.Fail("one command; RENAME COLUMN a TO b is another");
		if (cursor_.Take({"COMMENT"})) return Call("CHANGE COLUMN", {column, type, cursor_.String()});
		return Call("CHANGE COLUMN", {column, type, std::nullopt});
	}

	std::optional<Respelling> Properties() {
		const bool set = cursor_.Take({"SET", "TBLPROPERTIES"});
		if (!set && !cursor_.Take({"UNSET", "TBLPROPERTIES"})) return std::nullopt;
		const bool if_exists = !set && cursor_.Take({"IF", "EXISTS"});
		Arguments properties;
		if (set) {
			for (auto& [key, value] : TakeProperties(cursor_)) properties.insert(properties.end(), {key, value});
			return Call("SET TBLPROPERTIES", properties);
		}
		cursor_.Expect({"("});
		for (auto& key : TakeKeys(cursor_)) properties.emplace_back(key);
		return Call(if_exists ? "UNSET TBLPROPERTIES IF EXISTS" : "UNSET TBLPROPERTIES", properties);
	}

	std::optional<Respelling> ClusterBy() {
		if (!cursor_.Take({"CLUSTER", "BY"})) return std::nullopt;
		if (cursor_.Take({"NONE"})) return Call("CLUSTER BY", {});
		if (cursor_.Peek({"AUTO"})) cursor_.Fail("columns: AUTO is not supported");
		cursor_.Expect({"("});
		Arguments columns;
		do {
			columns.emplace_back(JoinPath(TakePath(cursor_)));
		} while (cursor_.Take({","}));
		cursor_.Expect({")"});
		return Call("CLUSTER BY", columns);
	}

	// DuckDB's SET (k = v) and RESET (k) lose the case of users' own keys, and all but the last part (trap 9): they are set again from the text.
	std::optional<Respelling> Options() {
		const bool set = cursor_.Take({"SET", "("});
		if (!set && !cursor_.Take({"RESET", "("})) return std::nullopt;
		const auto keys = TakeKeys(cursor_);
		return Respelling {RespellNamesAndTimes(statement_), [keys, set](duckdb::SQLStatement& parsed) {
							   auto& info = *parsed.Cast<duckdb::AlterStatement>().info;
							   if (set)
								   return RestoreKeys(keys, info.Cast<duckdb::SetTableOptionsInfo>().table_options);
							   auto& options = info.Cast<duckdb::ResetTableOptionsInfo>().table_options;
							   options.clear();
							   options.insert(keys.begin(), keys.end());
						   }};
	}

	const TokenCursor statement_;
	TokenCursor cursor_;
	bool if_exists_ = false;
	std::string table_;
};

}  // namespace

std::optional<Respelling> RespellAlterTable(TokenCursor statement) { return AlterRule(std::move(statement)).Respell(); }

}  // namespace braid::engine
