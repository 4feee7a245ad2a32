// SPDX-License-Identifier: Apache-2.0
#include "engine/scan/hash_safety.h"

#include <cmath>

#include "duckdb/planner/expression/bound_reference_expression.hpp"
#include "duckdb/planner/filter/expression_filter.hpp"
#include "duckdb/planner/filter/list.hpp"

namespace braid::engine {

namespace {

using duckdb::TableFilter;
using duckdb::TableFilterType;
using FilterPtr = duckdb::unique_ptr<TableFilter>;

bool HashedWrongly(const duckdb::Value& constant) {
	if (constant.IsNull()) return false;
	switch (constant.type().id()) {
		case duckdb::LogicalTypeId::BLOB:
			return constant.ToString() != duckdb::StringValue::Get(constant);
		case duckdb::LogicalTypeId::FLOAT:
		case duckdb::LogicalTypeId::DOUBLE: {
			auto number = constant.GetValue<double>();
			return number == 0 || std::isnan(number);
		}
		default:
			return false;
	}
}

FilterPtr Safe(const TableFilter& filter, bool& changed);

template <class Conjunction>
FilterPtr SafeConjunction(const TableFilter& filter, bool& changed) {
	auto result = duckdb::make_uniq<Conjunction>();
	for (const auto& child : filter.Cast<Conjunction>().child_filters)
		result->child_filters.push_back(Safe(*child, changed));
	return result;
}

FilterPtr Safe(const TableFilter& filter, bool& changed) {
	switch (filter.filter_type) {
		case TableFilterType::CONSTANT_COMPARISON: {
			const auto& comparison = filter.Cast<duckdb::ConstantFilter>();
			if (comparison.comparison_type != duckdb::ExpressionType::COMPARE_EQUAL ||
				!HashedWrongly(comparison.constant))
				break;
			changed = true;
			duckdb::BoundReferenceExpression column(comparison.constant.type(), duckdb::storage_t(0));
			return duckdb::make_uniq<duckdb::ExpressionFilter>(filter.ToExpression(column));
		}
		case TableFilterType::CONJUNCTION_AND:
			return SafeConjunction<duckdb::ConjunctionAndFilter>(filter, changed);
		case TableFilterType::CONJUNCTION_OR:
			return SafeConjunction<duckdb::ConjunctionOrFilter>(filter, changed);
		default:
			break;
	}
	return filter.Copy();
}

}  // namespace

duckdb::unique_ptr<duckdb::TableFilterSet> WithoutWrongHashes(const duckdb::TableFilterSet& filters) {
	auto result = duckdb::make_uniq<duckdb::TableFilterSet>();
	bool changed = false;
	for (const auto& [position, filter] : filters.filters) result->filters.emplace(position, Safe(*filter, changed));
	return changed ? std::move(result) : nullptr;
}

}  // namespace braid::engine
