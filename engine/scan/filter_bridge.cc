// SPDX-License-Identifier: Apache-2.0
// Translation keeps track of exactness: only an exact child may stand below NOT, everything else widens to TRUE.
#include "engine/scan/filter_bridge.h"

#include "duckdb/planner/expression/list.hpp"
#include "duckdb/planner/expression_iterator.hpp"
#include "duckdb/planner/filter/expression_filter.hpp"
#include "duckdb/planner/filter/list.hpp"
#include "engine/scan/scalar_bridge.h"

namespace braid::engine {

namespace {

using duckdb::Expression;
using duckdb::ExpressionClass;
using duckdb::ExpressionType;
using duckdb::TableFilter;
using duckdb::TableFilterType;

struct Translated {
	Predicate predicate;
	bool exact = false;
};

const Translated kUnknown {};

std::optional<CompareOp> ToCompareOp(ExpressionType type) {
	switch (type) {
		case ExpressionType::COMPARE_EQUAL:
			return CompareOp::kEqual;
		case ExpressionType::COMPARE_NOTEQUAL:
			return CompareOp::kNotEqual;
		case ExpressionType::COMPARE_LESSTHAN:
			return CompareOp::kLess;
		case ExpressionType::COMPARE_LESSTHANOREQUALTO:
			return CompareOp::kLessEqual;
		case ExpressionType::COMPARE_GREATERTHAN:
			return CompareOp::kGreater;
		case ExpressionType::COMPARE_GREATERTHANOREQUALTO:
			return CompareOp::kGreaterEqual;
		default:
			return std::nullopt;
	}
}

using Path = std::vector<std::string>;

Translated CompareTo(const Path& path, ExpressionType comparison, const duckdb::Value& constant) {
	auto op = ToCompareOp(comparison);
	auto scalar = ToScalar(constant);
	if (path.empty() || !op || !scalar) return kUnknown;
	if (scalar->is_null()) return {Predicate::False(), false};  // never TRUE, but NOT of it is not TRUE either
	return {Predicate::Compare(path, *op, *std::move(scalar)), true};
}

Translated InList(const Path& path, const duckdb::vector<duckdb::Value>& constants) {
	if (path.empty()) return kUnknown;
	std::vector<Scalar> scalars;
	bool exact = true;
	for (const duckdb::Value& constant : constants) {
		auto scalar = ToScalar(constant);
		if (!scalar) return kUnknown;
		if (scalar->is_null()) {
			exact = false;
		} else {
			scalars.push_back(*std::move(scalar));
		}
	}
	if (scalars.empty()) return {Predicate::False(), false};
	return {Predicate::In(path, std::move(scalars)), exact};
}

Translated NullTest(const Path& path, bool nested, bool negated) {
	if (path.empty() || nested) return kUnknown;  // there are no null counts of structs, lists and maps
	Predicate is_null = Predicate::IsNull(path);
	return {negated ? Predicate::Not(std::move(is_null)) : std::move(is_null), true};
}

Translated Combine(bool is_and, std::vector<Translated> parts) {
	std::vector<Predicate> predicates;
	bool exact = true;
	for (Translated& part : parts) {
		exact = exact && part.exact;
		predicates.push_back(std::move(part.predicate));
	}
	return {is_and ? Predicate::And(std::move(predicates)) : Predicate::Or(std::move(predicates)), exact};
}

// The path of a column or of a field inside structs; empty if the expression is anything else.
Path PathOf(const Expression& expression, const ResolveColumn& resolve) {
	switch (expression.GetExpressionClass()) {
		case ExpressionClass::BOUND_COLUMN_REF:
		case ExpressionClass::BOUND_REF: {
			std::string name = resolve(expression).name;
			return name.empty() ? Path {} : Path {std::move(name)};
		}
		case ExpressionClass::BOUND_FUNCTION: {
			const auto& function = expression.Cast<duckdb::BoundFunctionExpression>();
			if (function.function.name != "struct_extract" || function.children.size() != 2 ||
				function.children[0]->return_type.id() != duckdb::LogicalTypeId::STRUCT ||
				function.children[1]->GetExpressionClass() != ExpressionClass::BOUND_CONSTANT) {
				return {};
			}
			const duckdb::Value& key = function.children[1]->Cast<duckdb::BoundConstantExpression>().value;
			if (key.IsNull() || key.type().id() != duckdb::LogicalTypeId::VARCHAR) return {};
			Path path = PathOf(*function.children[0], resolve);
			if (path.empty()) return {};
			// The key may be spelt in another case than the field.
			for (const auto& child : duckdb::StructType::GetChildTypes(function.children[0]->return_type)) {
				if (!duckdb::StringUtil::CIEquals(child.first, duckdb::StringValue::Get(key))) continue;
				path.push_back(child.first);
				return path;
			}
			return {};
		}
		default:
			return {};
	}
}

const duckdb::Value* ConstantOf(const Expression& expression) {
	if (expression.GetExpressionClass() != ExpressionClass::BOUND_CONSTANT) return nullptr;
	return &expression.Cast<duckdb::BoundConstantExpression>().value;
}

Translated Translate(const Expression& expression, const ResolveColumn& resolve);

Translated TranslateOperator(const duckdb::BoundOperatorExpression& expression, const ResolveColumn& resolve) {
	switch (expression.GetExpressionType()) {
		case ExpressionType::OPERATOR_NOT: {
			Translated child = Translate(*expression.children[0], resolve);
			return child.exact ? Translated {Predicate::Not(std::move(child.predicate)), true} : kUnknown;
		}
		case ExpressionType::OPERATOR_IS_NULL:
		case ExpressionType::OPERATOR_IS_NOT_NULL:
			return NullTest(PathOf(*expression.children[0], resolve), expression.children[0]->return_type.IsNested(),
							expression.GetExpressionType() == ExpressionType::OPERATOR_IS_NOT_NULL);
		case ExpressionType::COMPARE_IN:
		case ExpressionType::COMPARE_NOT_IN: {
			duckdb::vector<duckdb::Value> constants;
			for (size_t i = 1; i < expression.children.size(); ++i) {
				const duckdb::Value* constant = ConstantOf(*expression.children[i]);
				if (!constant) return kUnknown;
				constants.push_back(*constant);
			}
			Translated in = InList(PathOf(*expression.children[0], resolve), constants);
			if (expression.GetExpressionType() == ExpressionType::COMPARE_IN) return in;
			return in.exact ? Translated {Predicate::Not(std::move(in.predicate)), true} : kUnknown;
		}
		default:
			return kUnknown;
	}
}

Translated TranslateComparison(const duckdb::BoundComparisonExpression& expression, const ResolveColumn& resolve) {
	if (const duckdb::Value* constant = ConstantOf(*expression.right)) {
		return CompareTo(PathOf(*expression.left, resolve), expression.GetExpressionType(), *constant);
	}
	if (const duckdb::Value* constant = ConstantOf(*expression.left)) {
		return CompareTo(PathOf(*expression.right, resolve),
						 duckdb::FlipComparisonExpression(expression.GetExpressionType()), *constant);
	}
	return kUnknown;
}

Translated TranslateBetween(const duckdb::BoundBetweenExpression& expression, const ResolveColumn& resolve) {
	Path path = PathOf(*expression.input, resolve);
	const duckdb::Value* lower = ConstantOf(*expression.lower);
	const duckdb::Value* upper = ConstantOf(*expression.upper);
	std::vector<Translated> parts;
	parts.push_back(lower ? CompareTo(path, expression.LowerComparisonType(), *lower) : kUnknown);
	parts.push_back(upper ? CompareTo(path, expression.UpperComparisonType(), *upper) : kUnknown);
	return Combine(true, std::move(parts));
}

Translated Translate(const Expression& expression, const ResolveColumn& resolve) {
	switch (expression.GetExpressionClass()) {
		case ExpressionClass::BOUND_CONJUNCTION: {
			std::vector<Translated> parts;
			for (const auto& child : expression.Cast<duckdb::BoundConjunctionExpression>().children) {
				parts.push_back(Translate(*child, resolve));
			}
			return Combine(expression.GetExpressionType() == ExpressionType::CONJUNCTION_AND, std::move(parts));
		}
		case ExpressionClass::BOUND_COMPARISON:
			return TranslateComparison(expression.Cast<duckdb::BoundComparisonExpression>(), resolve);
		case ExpressionClass::BOUND_BETWEEN:
			return TranslateBetween(expression.Cast<duckdb::BoundBetweenExpression>(), resolve);
		case ExpressionClass::BOUND_OPERATOR:
			return TranslateOperator(expression.Cast<duckdb::BoundOperatorExpression>(), resolve);
		case ExpressionClass::BOUND_CONSTANT: {
			const duckdb::Value& value = *ConstantOf(expression);
			if (value.IsNull()) return {Predicate::False(), false};
			if (value.type().id() != duckdb::LogicalTypeId::BOOLEAN) return kUnknown;
			return {value.GetValue<bool>() ? Predicate::True() : Predicate::False(), true};
		}
		case ExpressionClass::BOUND_COLUMN_REF:
		case ExpressionClass::BOUND_REF:
		case ExpressionClass::BOUND_FUNCTION:  // a boolean column or field by itself
			if (expression.return_type.id() != duckdb::LogicalTypeId::BOOLEAN) return kUnknown;
			return CompareTo(PathOf(expression, resolve), ExpressionType::COMPARE_EQUAL, duckdb::Value::BOOLEAN(true));
		default:
			return kUnknown;
	}
}

Translated Translate(const TableFilter& filter, const Path& path, const duckdb::LogicalType& type) {
	switch (filter.filter_type) {
		case TableFilterType::CONSTANT_COMPARISON: {
			const auto& comparison = filter.Cast<duckdb::ConstantFilter>();
			return CompareTo(path, comparison.comparison_type, comparison.constant);
		}
		case TableFilterType::IS_NULL:
		case TableFilterType::IS_NOT_NULL:
			return NullTest(path, type.IsNested(), filter.filter_type == TableFilterType::IS_NOT_NULL);
		case TableFilterType::IN_FILTER:
			return InList(path, filter.Cast<duckdb::InFilter>().values);
		case TableFilterType::CONJUNCTION_AND:
		case TableFilterType::CONJUNCTION_OR: {
			bool is_and = filter.filter_type == TableFilterType::CONJUNCTION_AND;
			const auto& children = is_and ? filter.Cast<duckdb::ConjunctionAndFilter>().child_filters
										  : filter.Cast<duckdb::ConjunctionOrFilter>().child_filters;
			std::vector<Translated> parts;
			for (const auto& child : children) parts.push_back(Translate(*child, path, type));
			return Combine(is_and, std::move(parts));
		}
		case TableFilterType::STRUCT_EXTRACT: {
			const auto& field = filter.Cast<duckdb::StructFilter>();
			if (path.empty() || type.id() != duckdb::LogicalTypeId::STRUCT) return kUnknown;
			const auto& [name, field_type] = duckdb::StructType::GetChildTypes(type)[field.child_idx];
			Path inner = path;
			inner.push_back(name);
			return Translate(*field.child_filter, inner, field_type);
		}
		case TableFilterType::OPTIONAL_FILTER: {
			const auto& optional = filter.Cast<duckdb::OptionalFilter>();
			return optional.child_filter ? Translate(*optional.child_filter, path, type) : kUnknown;
		}
		case TableFilterType::EXPRESSION_FILTER:
			if (path.size() != 1) return kUnknown;
			return Translate(*filter.Cast<duckdb::ExpressionFilter>().expr, [&](const Expression&) {
				return NamedColumn {path[0], type};
			});
		default:  // DYNAMIC_FILTER is Top-N; BLOOM_FILTER has no form of its own
			return kUnknown;
	}
}

bool IsReference(const Expression& expression) {
	return expression.GetExpressionClass() == ExpressionClass::BOUND_COLUMN_REF ||
		   expression.GetExpressionClass() == ExpressionClass::BOUND_REF;
}

// Replaces column references by references into `exact.columns`; false if one is not a column of the table.
bool Rebase(duckdb::unique_ptr<Expression>& expression, BoundRowPredicate& exact, const ResolveColumn& resolve) {
	if (IsReference(*expression)) {
		NamedColumn column = resolve(*expression);
		if (column.name.empty()) return false;
		size_t index = exact.IndexOf(column.name, column.type);
		expression = duckdb::make_uniq<duckdb::BoundReferenceExpression>(column.type, index);
		return true;
	}
	bool known = true;
	duckdb::ExpressionIterator::EnumerateChildren(
		*expression, [&](duckdb::unique_ptr<Expression>& child) { known = Rebase(child, exact, resolve) && known; });
	return known;
}

}  // namespace

size_t BoundRowPredicate::IndexOf(const std::string& name, const duckdb::LogicalType& type) {
	for (size_t i = 0; i < columns.size(); ++i) {
		if (columns[i].name == name) return i;
	}
	columns.push_back({name, type});
	return columns.size() - 1;
}

Predicate ToPredicate(const Expression& expression, const ResolveColumn& resolve) {
	if (expression.IsVolatile()) return Predicate::True();
	return Translate(expression, resolve).predicate;
}

Predicate ToPredicate(const TableFilter& filter, const NamedColumn& column) {
	return Translate(filter, column.name.empty() ? Path {} : Path {column.name}, column.type).predicate;
}

bool AddConjunct(BoundRowPredicate& exact, const Expression& expression, const ResolveColumn& resolve) {
	if (expression.IsVolatile() || expression.HasSubquery()) return false;
	auto copy = expression.Copy();
	if (!Rebase(copy, exact, resolve)) return false;
	for (const auto& known : exact.conjuncts) {
		if (known->Equals(*copy)) return true;
	}
	exact.conjuncts.push_back(std::move(copy));
	return true;
}

// The filter without Top-N and Bloom filters; null if nothing is left.
static duckdb::unique_ptr<TableFilter> StaticPart(const TableFilter& filter) {
	switch (filter.filter_type) {
		case TableFilterType::DYNAMIC_FILTER:
		case TableFilterType::BLOOM_FILTER:
			return nullptr;
		case TableFilterType::OPTIONAL_FILTER: {
			const auto& optional = filter.Cast<duckdb::OptionalFilter>();
			return optional.child_filter ? StaticPart(*optional.child_filter) : nullptr;
		}
		case TableFilterType::CONJUNCTION_AND: {
			auto result = duckdb::make_uniq<duckdb::ConjunctionAndFilter>();
			for (const auto& child : filter.Cast<duckdb::ConjunctionAndFilter>().child_filters) {
				if (auto part = StaticPart(*child)) result->child_filters.push_back(std::move(part));
			}
			if (result->child_filters.empty()) return nullptr;
			return result;
		}
		case TableFilterType::CONJUNCTION_OR: {
			auto result = duckdb::make_uniq<duckdb::ConjunctionOrFilter>();
			for (const auto& child : filter.Cast<duckdb::ConjunctionOrFilter>().child_filters) {
				auto part = StaticPart(*child);
				if (!part) return nullptr;  // a branch that lets anything pass
				result->child_filters.push_back(std::move(part));
			}
			return result;
		}
		case TableFilterType::STRUCT_EXTRACT: {
			const auto& field = filter.Cast<duckdb::StructFilter>();
			auto part = StaticPart(*field.child_filter);
			if (!part) return nullptr;
			return duckdb::make_uniq<duckdb::StructFilter>(field.child_idx, field.child_name, std::move(part));
		}
		default:
			return filter.Copy();
	}
}

bool AddConjunct(BoundRowPredicate& exact, const TableFilter& filter, const NamedColumn& column) {
	if (column.name.empty()) return false;
	auto part = StaticPart(filter);
	if (!part) return false;
	auto reference = duckdb::make_uniq<duckdb::BoundReferenceExpression>(column.type, 0);
	return AddConjunct(exact, *part->ToExpression(*reference), [&](const Expression&) { return column; });
}

Predicate TopNBound(const TableFilter& filter, const NamedColumn& column) {
	switch (filter.filter_type) {
		case TableFilterType::DYNAMIC_FILTER: {
			const auto& data = filter.Cast<duckdb::DynamicFilter>().filter_data;
			if (!data) return Predicate::True();
			duckdb::lock_guard<duckdb::mutex> lock(data->lock);
			if (!data->initialized || !data->filter) return Predicate::True();
			return ToPredicate(*data->filter, column);
		}
		case TableFilterType::OPTIONAL_FILTER: {
			const auto& optional = filter.Cast<duckdb::OptionalFilter>();
			return optional.child_filter ? TopNBound(*optional.child_filter, column) : Predicate::True();
		}
		case TableFilterType::CONJUNCTION_AND: {
			std::vector<Predicate> parts;
			for (const auto& child : filter.Cast<duckdb::ConjunctionAndFilter>().child_filters) {
				parts.push_back(TopNBound(*child, column));
			}
			return Predicate::And(std::move(parts));
		}
		default:
			return Predicate::True();
	}
}

bool FileNameMayPass(const TableFilter& filter, const std::string& name) {
	switch (filter.filter_type) {
		case TableFilterType::CONSTANT_COMPARISON: {
			const auto& comparison = filter.Cast<duckdb::ConstantFilter>();
			return !comparison.constant.IsNull() && comparison.Compare(duckdb::Value(name));
		}
		case TableFilterType::IS_NULL:
			return false;
		case TableFilterType::IN_FILTER:
			for (const duckdb::Value& value : filter.Cast<duckdb::InFilter>().values) {
				if (!value.IsNull() && duckdb::StringValue::Get(value) == name) return true;
			}
			return false;
		case TableFilterType::CONJUNCTION_AND:
			for (const auto& child : filter.Cast<duckdb::ConjunctionAndFilter>().child_filters) {
				if (!FileNameMayPass(*child, name)) return false;
			}
			return true;
		case TableFilterType::CONJUNCTION_OR:
			for (const auto& child : filter.Cast<duckdb::ConjunctionOrFilter>().child_filters) {
				if (FileNameMayPass(*child, name)) return true;
			}
			return false;
		case TableFilterType::OPTIONAL_FILTER: {
			const auto& optional = filter.Cast<duckdb::OptionalFilter>();
			return !optional.child_filter || FileNameMayPass(*optional.child_filter, name);
		}
		default:
			return true;
	}
}

}  // namespace braid::engine
