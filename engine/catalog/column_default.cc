// SPDX-License-Identifier: Apache-2.0
// Parsing and printing are DuckDB's; what may be stored is decided here.
#include "engine/catalog/column_default.h"

#include "duckdb/common/exception.hpp"
#include "duckdb/common/string_util.hpp"
#include "duckdb/parser/expression/columnref_expression.hpp"
#include "duckdb/parser/expression/constant_expression.hpp"
#include "duckdb/parser/expression/function_expression.hpp"
#include "duckdb/parser/parsed_expression_iterator.hpp"
#include "duckdb/parser/parser.hpp"

namespace braid::engine {

namespace {

struct Clock {
	std::string_view function;  // of DuckDB
	const char* text;           // as stored, and as Spark has it
};
// The first of each text is the one that it is read back as.
constexpr Clock kClocks[] = {
	{"now", "current_timestamp()"},
	{"get_current_timestamp", "current_timestamp()"},
	{"current_timestamp", "current_timestamp()"},
	{"current_date", "current_date()"},
	{"today", "current_date()"},
};

bool IsConstant(const duckdb::ParsedExpression& expression) {
	switch (expression.GetExpressionClass()) {
		case duckdb::ExpressionClass::CONSTANT:
			return true;
		case duckdb::ExpressionClass::FUNCTION:
			if (!expression.Cast<duckdb::FunctionExpression>().is_operator) return false;
			break;
		case duckdb::ExpressionClass::CAST:
		case duckdb::ExpressionClass::OPERATOR:
		case duckdb::ExpressionClass::COMPARISON:
			break;
		default:
			return false;
	}
	bool constant = true;
	duckdb::ParsedExpressionIterator::EnumerateChildren(
		expression, [&](const duckdb::ParsedExpression& child) { constant = constant && IsConstant(child); });
	return constant;
}

}  // namespace

std::string DefaultText(const duckdb::ParsedExpression& expression, const std::string& column) {
	if (IsConstant(expression)) return expression.ToString();
	std::string name;  // of a function without arguments; current_date is a column until it is bound
	if (expression.GetExpressionClass() == duckdb::ExpressionClass::FUNCTION) {
		auto& function = expression.Cast<duckdb::FunctionExpression>();
		if (function.children.empty()) name = function.function_name;
	} else if (expression.GetExpressionClass() == duckdb::ExpressionClass::COLUMN_REF) {
		name = expression.Cast<duckdb::ColumnRefExpression>().GetColumnName();
	}
	for (auto& clock : kClocks) {
		if (clock.function == duckdb::StringUtil::Lower(name)) return clock.text;
	}
	throw duckdb::NotImplementedException(
		"DEFAULT of column \"%s\": %s is neither a constant nor the time; name the value when rows are inserted",
		column, expression.ToString());
}

// The time when the statement runs, in words that every engine knows.
static duckdb::unique_ptr<duckdb::ParsedExpression> ClockOf(const std::string& text) {
	for (auto& clock : kClocks) {
		if (!duckdb::StringUtil::CIEquals(text, clock.text)) continue;
		duckdb::vector<duckdb::unique_ptr<duckdb::ParsedExpression>> no_arguments;
		return duckdb::make_uniq<duckdb::FunctionExpression>(std::string(clock.function), std::move(no_arguments));
	}
	return nullptr;
}

duckdb::unique_ptr<duckdb::ParsedExpression> DefaultOf(const Field& field) {
	auto text = MetadataString(field, kCurrentDefault);
	if (!text) return nullptr;
	if (auto clock = ClockOf(*text)) return clock;
	try {
		auto parsed = duckdb::Parser::ParseExpressionList(*text);
		if (parsed.size() == 1) return std::move(parsed[0]);
	} catch (const std::exception&) {
		// Another engine's dialect.
	}
	duckdb::vector<duckdb::unique_ptr<duckdb::ParsedExpression>> arguments;
	arguments.push_back(duckdb::make_uniq<duckdb::ConstantExpression>(duckdb::Value(
		"The default of column \"" + field.name + "\" is not understood: " + *text + "; name the value")));
	return duckdb::make_uniq<duckdb::FunctionExpression>("error", std::move(arguments));
}

}  // namespace braid::engine
