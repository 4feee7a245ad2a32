// SPDX-License-Identifier: Apache-2.0
// Constants keep their own type; where it differs from the column's, both sides are cast to one that holds them.
#include "engine/io/predicate_expression.h"

#include <algorithm>

#include "duckdb/common/string_util.hpp"
#include "duckdb/function/function_binder.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/planner/expression/bound_cast_expression.hpp"
#include "duckdb/planner/expression/bound_comparison_expression.hpp"
#include "duckdb/planner/expression/bound_conjunction_expression.hpp"
#include "duckdb/planner/expression/bound_constant_expression.hpp"
#include "duckdb/planner/expression/bound_operator_expression.hpp"
#include "duckdb/planner/expression/bound_reference_expression.hpp"
#include "engine/catalog/type_mapping.h"
#include "engine/scan/scalar_bridge.h"

namespace braid::engine {

namespace {

using duckdb::ExpressionType;
using duckdb::LogicalType;
using ExpressionPtr = duckdb::unique_ptr<duckdb::Expression>;

ExpressionPtr Constant(duckdb::Value value) {
	return duckdb::make_uniq<duckdb::BoundConstantExpression>(std::move(value));
}

ExpressionType ComparisonOf(CompareOp op) {
	switch (op) {
		case CompareOp::kEqual:
			return ExpressionType::COMPARE_EQUAL;
		case CompareOp::kNotEqual:
			return ExpressionType::COMPARE_NOTEQUAL;
		case CompareOp::kLess:
			return ExpressionType::COMPARE_LESSTHAN;
		case CompareOp::kLessEqual:
			return ExpressionType::COMPARE_LESSTHANOREQUALTO;
		case CompareOp::kGreater:
			return ExpressionType::COMPARE_GREATERTHAN;
		case CompareOp::kGreaterEqual:
			return ExpressionType::COMPARE_GREATERTHANOREQUALTO;
	}
	return ExpressionType::INVALID;
}

// A type that holds the scalar without loss.
LogicalType TypeOf(const Scalar& scalar) {
	DataType type;
	type.kind = scalar.kind;
	switch (scalar.kind) {
		case TypeKind::kByte:
		case TypeKind::kShort:
		case TypeKind::kInteger:
			return LogicalType::BIGINT;
		case TypeKind::kFloat:
			return LogicalType::DOUBLE;
		case TypeKind::kDecimal:
			type.precision = 38;
			type.scale = std::get<Decimal>(scalar.value).scale;
			[[fallthrough]];
		default:
			return ToDuckType(type, "constant");
	}
}

class Translation {
public:
	Translation(duckdb::ClientContext& context, const Snapshot& view, BoundRowPredicate& target)
		: context_(context), view_(view), target_(target) {}

	ExpressionPtr Translate(const Predicate& predicate) {
		switch (predicate.kind) {
			case PredicateKind::kTrue:
				return Constant(duckdb::Value::BOOLEAN(true));
			case PredicateKind::kFalse:
				return Constant(duckdb::Value::BOOLEAN(false));
			case PredicateKind::kAnd:
			case PredicateKind::kOr:
				return Conjunction(predicate);
			case PredicateKind::kNot:
				return Unary(ExpressionType::OPERATOR_NOT, Translate(predicate.children.at(0)));
			case PredicateKind::kIsNull:
				return Unary(ExpressionType::OPERATOR_IS_NULL, Column(predicate.column));
			case PredicateKind::kCompare:
				return Compare(predicate, ComparisonOf(predicate.op), predicate.values.at(0));
			case PredicateKind::kIn: {
				auto result = duckdb::make_uniq<duckdb::BoundConjunctionExpression>(ExpressionType::CONJUNCTION_OR);
				result->children.push_back(Constant(duckdb::Value::BOOLEAN(false)));
				for (auto& value : predicate.values)
					result->children.push_back(Compare(predicate, ExpressionType::COMPARE_EQUAL, value));
				return result;
			}
		}
		return nullptr;
	}

private:
	ExpressionPtr Conjunction(const Predicate& predicate) {
		bool is_and = predicate.kind == PredicateKind::kAnd;
		auto result = duckdb::make_uniq<duckdb::BoundConjunctionExpression>(is_and ? ExpressionType::CONJUNCTION_AND
																				   : ExpressionType::CONJUNCTION_OR);
		result->children.push_back(Constant(duckdb::Value::BOOLEAN(is_and)));
		for (auto& child : predicate.children) result->children.push_back(Translate(child));
		return result;
	}

	static ExpressionPtr Unary(ExpressionType type, ExpressionPtr child) {
		auto result = duckdb::make_uniq<duckdb::BoundOperatorExpression>(type, LogicalType::BOOLEAN);
		result->children.push_back(std::move(child));
		return result;
	}

	ExpressionPtr Compare(const Predicate& predicate, ExpressionType comparison, const Scalar& value) {
		auto column = Column(predicate.column);
		auto constant_type = TypeOf(value);
		auto constant = Constant(ToValue(value, constant_type));
		if (column->return_type == constant_type) {
			return duckdb::make_uniq<duckdb::BoundComparisonExpression>(comparison, std::move(column),
																		std::move(constant));
		}
		auto common = LogicalType::ForceMaxLogicalType(column->return_type, constant_type);
		return duckdb::make_uniq<duckdb::BoundComparisonExpression>(
			comparison, duckdb::BoundCastExpression::AddCastToType(context_, std::move(column), common),
			duckdb::BoundCastExpression::AddCastToType(context_, std::move(constant), common));
	}

	ExpressionPtr Column(const std::vector<std::string>& path) {
		const DataType* type = view_.schema.get();
		ExpressionPtr expression;
		for (auto& name : path) {
			auto field =
				std::ranges::find_if(type->fields, [&](auto& f) { return duckdb::StringUtil::CIEquals(f.name, name); });
			if (field == type->fields.end()) return Constant(duckdb::Value());
			if (!expression) {
				auto column_type = ToDuckType(*field->type, field->name);
				auto index = target_.IndexOf(field->name, column_type);
				expression = duckdb::make_uniq<duckdb::BoundReferenceExpression>(column_type, index);
			} else {
				duckdb::vector<ExpressionPtr> arguments;
				arguments.push_back(std::move(expression));
				arguments.push_back(Constant(duckdb::Value(field->name)));
				duckdb::FunctionBinder binder(context_);
				duckdb::ErrorData error;
				expression = binder.BindScalarFunction(DEFAULT_SCHEMA, "struct_extract", std::move(arguments), error);
				if (!expression) error.Throw();
			}
			type = field->type.get();
		}
		return expression ? std::move(expression) : Constant(duckdb::Value());
	}

	duckdb::ClientContext& context_;
	const Snapshot& view_;
	BoundRowPredicate& target_;
};

}  // namespace

std::unique_ptr<BoundRowPredicate> ToRowPredicate(duckdb::ClientContext& context, const Snapshot& view,
												  const Predicate& predicate) {
	auto result = std::make_unique<BoundRowPredicate>();
	if (predicate.kind == PredicateKind::kTrue) return result;
	result->conjuncts.push_back(Translation(context, view, *result).Translate(predicate));
	return result;
}

}  // namespace braid::engine
