// SPDX-License-Identifier: Apache-2.0
// Parsing and printing are DuckDB's; what may be stored is decided here.
#include "engine/catalog/column_default.h"

#include "duckdb/common/exception.hpp"
#include "duckdb/parser/expression/constant_expression.hpp"
#include "duckdb/parser/expression/function_expression.hpp"
#include "duckdb/parser/parsed_expression_iterator.hpp"
#include "duckdb/parser/parser.hpp"

namespace braid::engine {

namespace {

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
	throw duckdb::NotImplementedException(
		"DEFAULT of column \"%s\": %s is not a constant; name the value when rows are inserted", column,
		expression.ToString());
}

duckdb::unique_ptr<duckdb::ParsedExpression> DefaultOf(const Field& field) {
	auto text = MetadataString(field, kCurrentDefault);
	if (!text) return nullptr;
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
