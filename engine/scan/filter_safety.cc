// SPDX-License-Identifier: Apache-2.0
#include "engine/scan/filter_safety.h"

#include <algorithm>
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

bool ComparedWrongly(const duckdb::ConstantFilter& comparison) {
	switch (comparison.comparison_type) {
		case duckdb::ExpressionType::COMPARE_DISTINCT_FROM:
		case duckdb::ExpressionType::COMPARE_NOT_DISTINCT_FROM:
			return true;
		case duckdb::ExpressionType::COMPARE_EQUAL:
			return HashedWrongly(comparison.constant);
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
			if (!ComparedWrongly(comparison)) break;
			changed = true;
			duckdb::BoundReferenceExpression column(comparison.constant.type(), duckdb::storage_t(0));
			return duckdb::make_uniq<duckdb::ExpressionFilter>(filter.ToExpression(column));
		}
		case TableFilterType::CONJUNCTION_AND:
			return SafeConjunction<duckdb::ConjunctionAndFilter>(filter, changed);
		case TableFilterType::CONJUNCTION_OR:
			return SafeConjunction<duckdb::ConjunctionOrFilter>(filter, changed);
		case TableFilterType::OPTIONAL_FILTER: {  // not evaluated, but row groups are left out by it
			const auto& optional = filter.Cast<duckdb::OptionalFilter>();
			bool child_changed = false;
			auto child = optional.child_filter ? Safe(*optional.child_filter, child_changed) : nullptr;
			if (!child_changed) break;
			changed = true;
			return duckdb::make_uniq<duckdb::OptionalFilter>(std::move(child));
		}
		case TableFilterType::STRUCT_EXTRACT: {
			const auto& field = filter.Cast<duckdb::StructFilter>();
			return duckdb::make_uniq<duckdb::StructFilter>(field.child_idx, field.child_name,
														   Safe(*field.child_filter, changed));
		}
		default:
			break;
	}
	return filter.Copy();
}

bool HasBloomFilter(const TableFilter& filter) {
	switch (filter.filter_type) {
		case TableFilterType::BLOOM_FILTER:
			return true;
		case TableFilterType::OPTIONAL_FILTER: {
			const auto& child = filter.Cast<duckdb::OptionalFilter>().child_filter;
			return child && HasBloomFilter(*child);
		}
		case TableFilterType::CONJUNCTION_AND:
			return std::ranges::any_of(filter.Cast<duckdb::ConjunctionAndFilter>().child_filters,
									   [](const FilterPtr& child) { return HasBloomFilter(*child); });
		default:
			return false;
	}
}

// Null: nothing is left. What is optional stays so: the reader cannot evaluate some of it.
FilterPtr WithoutBloomFilter(const TableFilter& filter) {
	if (!HasBloomFilter(filter)) return filter.Copy();
	if (filter.filter_type == TableFilterType::BLOOM_FILTER) return nullptr;
	if (filter.filter_type == TableFilterType::OPTIONAL_FILTER) {
		auto child = WithoutBloomFilter(*filter.Cast<duckdb::OptionalFilter>().child_filter);
		if (!child) return nullptr;
		return duckdb::make_uniq<duckdb::OptionalFilter>(std::move(child));
	}
	auto result = duckdb::make_uniq<duckdb::ConjunctionAndFilter>();
	for (const auto& child : filter.Cast<duckdb::ConjunctionAndFilter>().child_filters) {
		if (auto kept = WithoutBloomFilter(*child)) result->child_filters.push_back(std::move(kept));
	}
	if (result->child_filters.empty()) return nullptr;
	return result;
}

}  // namespace

duckdb::unique_ptr<duckdb::TableFilterSet> WithoutWrongComparisons(const duckdb::TableFilterSet& filters) {
	auto result = duckdb::make_uniq<duckdb::TableFilterSet>();
	bool changed = false;
	for (const auto& [position, filter] : filters.filters) result->filters.emplace(position, Safe(*filter, changed));
	return changed ? std::move(result) : nullptr;
}

duckdb::unique_ptr<duckdb::TableFilterSet> WithoutBloomFilters(const duckdb::TableFilterSet& filters) {
	auto result = duckdb::make_uniq<duckdb::TableFilterSet>();
	for (const auto& [position, filter] : filters.filters) {
		if (auto kept = WithoutBloomFilter(*filter)) result->filters.emplace(position, std::move(kept));
	}
	return result;
}

}  // namespace braid::engine
