// SPDX-License-Identifier: Apache-2.0
// DuckDB parses and binds; a list says which functions mean the same to Spark.
#include "engine/write/table_expression.h"

#include <algorithm>
#include <set>

#include "duckdb/common/exception.hpp"
#include "duckdb/common/string_util.hpp"
#include "duckdb/execution/expression_executor.hpp"
#include "duckdb/parser/expression/cast_expression.hpp"
#include "duckdb/parser/expression/columnref_expression.hpp"
#include "duckdb/parser/expression/constant_expression.hpp"
#include "duckdb/parser/expression/function_expression.hpp"
#include "duckdb/parser/parsed_expression_iterator.hpp"
#include "duckdb/parser/parser.hpp"
#include "duckdb/planner/binder.hpp"
#include "duckdb/planner/expression/bound_cast_expression.hpp"
#include "duckdb/planner/expression/bound_constant_expression.hpp"
#include "duckdb/planner/expression/bound_reference_expression.hpp"
#include "duckdb/planner/expression_binder.hpp"
#include "duckdb/planner/expression_iterator.hpp"
#include "engine/catalog/type_mapping.h"
#include "engine/statement/tokens.h"

namespace braid::engine {

namespace {

[[noreturn]] void Refuse(const std::string& role, const std::string& why) {
	throw duckdb::NotImplementedException("%s is not understood: %s", role, why);
}

// Deterministic, and with one meaning in both dialects, NULLs included.
bool IsShared(const std::string& function) {
	static const std::set<std::string> functions = {
		"abs",      "ceil",        "ceiling",    "floor",          "sqrt",   "exp",    "sign",  "mod",
		"greatest", "least",       "lower",      "upper",          "trim",   "ltrim",  "rtrim", "length",
		"replace",  "substring",   "substr",     "reverse",        "year",   "month",  "day",   "hour",
		"minute",   "quarter",     "date_trunc", "coalesce",       "nullif", "ifnull", "now",   "md5",
		"sha256",   "starts_with", "contains",   "struct_extract", "isnan",  "ascii"};
	return functions.contains(function);
}

void CheckFunctions(const duckdb::ParsedExpression& expression, const std::string& role) {
	switch (expression.GetExpressionClass()) {
		case duckdb::ExpressionClass::FUNCTION: {
			auto& function = expression.Cast<duckdb::FunctionExpression>();
			const auto name = duckdb::StringUtil::Lower(function.function_name);
			// Operators: + - * / % || LIKE and the like.
			const bool is_operator =
				function.is_operator || name.find_first_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos;
			if (!is_operator && !IsShared(name))
				Refuse(role, "function " + name + " may mean something else to other engines");
			break;
		}
		case duckdb::ExpressionClass::CONSTANT:
		case duckdb::ExpressionClass::COLUMN_REF:
		case duckdb::ExpressionClass::CAST:
		case duckdb::ExpressionClass::OPERATOR:
		case duckdb::ExpressionClass::COMPARISON:
		case duckdb::ExpressionClass::CONJUNCTION:
		case duckdb::ExpressionClass::CASE:
		case duckdb::ExpressionClass::BETWEEN:
			break;
		default:
			Refuse(role, expression.ToString());
	}
	duckdb::ParsedExpressionIterator::EnumerateChildren(
		expression, [&](const duckdb::ParsedExpression& child) { CheckFunctions(child, role); });
}

// Types that the dialects call differently, where a cast names them.
struct TypeName {
	std::string_view duckdb, spark;
};
constexpr TypeName kTypeNames[] = {
	{"TIMESTAMP WITH TIME ZONE", "TIMESTAMP"},
	{"TIMESTAMP", "TIMESTAMP_NTZ"},
	{"VARCHAR", "STRING"},
	{"BLOB", "BINARY"},
	{"TINYINT", "BYTE"},
};

// CAST(x AS type) with the type in the other dialect.
std::string RenameTypes(const std::string& text, std::string_view TypeName::*from, std::string_view TypeName::*to) {
	std::string out;
	size_t at = 0;
	TokenCursor cursor(text, Tokenize(text));
	while (!cursor.AtEnd()) {
		if (!cursor.Take({"AS"})) {
			cursor.Skip();
			continue;
		}
		const size_t first = cursor.place();
		while (cursor.PeekKind(TokenKind::kWord)) cursor.Skip();
		const bool quoted = cursor.place() == first && cursor.PeekKind(TokenKind::kQuotedName);  // a type not yet bound
		if (quoted) cursor.Skip();
		const auto written = cursor.Between(first, cursor.place());
		if (!cursor.Peek({")"}) || written.empty()) continue;
		auto type = quoted ? Unquoted(written) : std::string(written);
		for (auto& name : kTypeNames) {
			if (!duckdb::StringUtil::CIEquals(type, std::string(name.*from))) continue;
			type = name.*to;
			break;
		}
		const size_t start = cursor.token(first).start;
		out += text.substr(at, start - at) + type;
		at = start + written.size();
	}
	return out + text.substr(at);
}

// Back-quotes become double quotes; what only Spark reads as a string is refused.
std::string Respell(const std::string& spark_text, const std::string& role) {
	const auto text = RenameTypes(spark_text, &TypeName::spark, &TypeName::duckdb);
	std::string sql;
	size_t at = 0;
	for (auto& token : Tokenize(text)) {
		const auto word = std::string_view(text).substr(token.start, token.end - token.start);
		sql += text.substr(at, token.start - at);
		at = token.end;
		if (token.kind == TokenKind::kBackQuotedName) {
			sql += '"' + duckdb::StringUtil::Replace(Unquoted(word), "\"", "\"\"") + '"';
			continue;
		}
		if (token.kind == TokenKind::kString && word.find('\\') != std::string_view::npos)
			Refuse(role, "a string with a backslash means something else to other engines");
		sql += word;
	}
	return sql + text.substr(at);
}

class TableExpressionBinder : public duckdb::ExpressionBinder {
public:
	TableExpressionBinder(duckdb::Binder& table_binder, duckdb::ClientContext& client, const StructType& schema,
						  const std::string& table)
		: ExpressionBinder(table_binder, client), schema_(schema), table_(table) {}

	bool sql_values = false;  // whether current_date and the like mean what they mean elsewhere in a statement

protected:
	duckdb::BindResult BindExpression(duckdb::unique_ptr<duckdb::ParsedExpression>& expression, duckdb::idx_t depth,
									  bool root_expression) override {
		if (expression->GetExpressionClass() != duckdb::ExpressionClass::COLUMN_REF)
			return ExpressionBinder::BindExpression(expression, depth, root_expression);
		auto names = expression->Cast<duckdb::ColumnRefExpression>().column_names;
		if (names.size() > 1 && !IndexOf(names[0]) && duckdb::StringUtil::CIEquals(names[0], table_))
			names.erase(names.begin());
		const auto index = IndexOf(names[0]);
		if (auto function = !index && sql_values && names.size() == 1 ? GetSQLValueFunction(names[0]) : nullptr) {
			expression = std::move(function);
			return ExpressionBinder::BindExpression(expression, depth, root_expression);
		}
		if (!index) throw duckdb::BinderException("there is no column \"%s\"", names[0]);
		auto& field = schema_.fields[*index];
		duckdb::unique_ptr<duckdb::Expression> column = duckdb::make_uniq<duckdb::BoundReferenceExpression>(
			field.name, ToDuckType(*field.type, field.name), *index);
		if (names.size() == 1) return duckdb::BindResult(std::move(column));
		// s.x: the field of a field, bound from the inside.
		duckdb::unique_ptr<duckdb::ParsedExpression> path = duckdb::make_uniq<duckdb::ColumnRefExpression>(names[0]);
		for (size_t i = 1; i < names.size(); i++) {
			duckdb::vector<duckdb::unique_ptr<duckdb::ParsedExpression>> arguments;
			arguments.push_back(std::move(path));
			arguments.push_back(duckdb::make_uniq<duckdb::ConstantExpression>(duckdb::Value(names[i])));
			path = duckdb::make_uniq<duckdb::FunctionExpression>("struct_extract", std::move(arguments));
		}
		expression = std::move(path);
		return ExpressionBinder::BindExpression(expression, depth, root_expression);
	}

	std::string UnsupportedAggregateMessage() override { return "aggregates cannot be used here"; }

private:
	std::optional<size_t> IndexOf(const std::string& name) const {
		const auto field = std::ranges::find_if(
			schema_.fields, [&](const Field& f) { return duckdb::StringUtil::CIEquals(f.name, name); });
		if (field == schema_.fields.end()) return std::nullopt;
		return static_cast<size_t>(field - schema_.fields.begin());
	}

	const StructType& schema_;
	const std::string& table_;
};

}  // namespace

std::string SparkText(const std::string& text) {
	std::string kept;
	size_t at = 0;
	for (auto& token : Tokenize(text)) {
		kept += text.substr(at, token.start - at);
		at = token.end;
		const auto word = std::string_view(text).substr(token.start, token.end - token.start);
		kept += token.kind == TokenKind::kQuotedName
					? "`" + duckdb::StringUtil::Replace(Unquoted(word), "`", "``") + "`"
					: std::string(word);
	}
	return kept + text.substr(at);
}

std::string SparkText(const duckdb::ParsedExpression& expression) {
	// The binder casts a generated column to its type, also where the user has done so.
	if (expression.GetExpressionType() == duckdb::ExpressionType::OPERATOR_CAST) {
		auto& cast = expression.Cast<duckdb::CastExpression>();
		if (cast.child->GetExpressionType() == duckdb::ExpressionType::OPERATOR_CAST &&
			cast.child->Cast<duckdb::CastExpression>().cast_type.ToString() == cast.cast_type.ToString())
			return SparkText(*cast.child);
	}
	return SparkText(RenameTypes(expression.ToString(), &TypeName::duckdb, &TypeName::spark));
}

duckdb::unique_ptr<duckdb::ParsedExpression> ParseTableExpression(const std::string& text, const std::string& role) {
	duckdb::vector<duckdb::unique_ptr<duckdb::ParsedExpression>> parsed;
	const auto sql = Respell(text, role);
	try {
		parsed = duckdb::Parser::ParseExpressionList(sql);
	} catch (const std::exception& exception) {
		Refuse(role, duckdb::ErrorData(exception).RawMessage());
	}
	if (parsed.size() != 1) Refuse(role, "it is not one expression");
	CheckFunctions(*parsed[0], role);
	return std::move(parsed[0]);
}

duckdb::unique_ptr<duckdb::Expression> BindTableExpression(duckdb::ClientContext& context, const StructType& schema,
														   const std::string& table, const std::string& text,
														   const duckdb::LogicalType& type, const std::string& role) {
	auto parsed = ParseTableExpression(text, role);
	auto binder = duckdb::Binder::CreateBinder(context);
	TableExpressionBinder expression_binder(*binder, context, schema, table);
	const bool condition = type.id() == duckdb::LogicalTypeId::BOOLEAN;
	if (!condition) expression_binder.target_type = type;
	duckdb::unique_ptr<duckdb::Expression> bound;
	try {
		bound = expression_binder.Bind(parsed);
	} catch (const std::exception& exception) {
		Refuse(role, duckdb::ErrorData(exception).RawMessage());
	}
	if (condition && bound->return_type != type && bound->return_type.id() != duckdb::LogicalTypeId::SQLNULL)
		Refuse(role, "it is no condition: its type is " + bound->return_type.ToString());
	return duckdb::BoundCastExpression::AddCastToType(context, std::move(bound), type);
}

duckdb::unique_ptr<duckdb::Expression> BindRowCondition(duckdb::ClientContext& context, const StructType& schema,
														const std::string& table, const std::string& text,
														const std::string& role) {
	duckdb::unique_ptr<duckdb::Expression> bound;
	try {
		auto parsed = duckdb::Parser::ParseExpressionList(text);
		if (parsed.size() != 1) throw duckdb::BinderException("it is not one condition");
		if (parsed[0]->HasSubquery() || parsed[0]->HasParameter())
			throw duckdb::BinderException("subqueries and parameters cannot be used here");
		auto binder = duckdb::Binder::CreateBinder(context);
		TableExpressionBinder expression_binder(*binder, context, schema, table);
		expression_binder.target_type = duckdb::LogicalType::BOOLEAN;
		expression_binder.sql_values = true;
		bound = expression_binder.Bind(parsed[0]);
	} catch (const std::exception& exception) {
		// Without the place in the text, which is not the whole statement.
		throw duckdb::BinderException("%s: %s", role, duckdb::ErrorData(exception).RawMessage());
	}
	if (bound->IsVolatile()) throw duckdb::BinderException("%s: it is not the same for every row each time", role);
	FoldConstants(context, bound);
	return bound;
}

void FoldConstants(duckdb::ClientContext& context, duckdb::unique_ptr<duckdb::Expression>& expression) {
	if (expression->GetExpressionClass() == duckdb::ExpressionClass::BOUND_CONSTANT) return;
	duckdb::Value value;
	if (expression->IsFoldable() && !expression->HasParameter() &&
		duckdb::ExpressionExecutor::TryEvaluateScalar(context, *expression, value)) {
		expression = duckdb::make_uniq<duckdb::BoundConstantExpression>(std::move(value));
		return;
	}
	duckdb::ExpressionIterator::EnumerateChildren(
		*expression, [&](duckdb::unique_ptr<duckdb::Expression>& child) { FoldConstants(context, child); });
}

}  // namespace braid::engine
