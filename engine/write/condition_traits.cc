// SPDX-License-Identifier: Apache-2.0
// The binder plans WHERE and ON as filters and joins above the scan of the target, SET and inserted values above those. A sub-query is a join by then,
// and its value a column of that join; it counts if a condition uses the column.
#include "engine/write/condition_traits.h"

#include <algorithm>
#include <set>

#include "duckdb/planner/expression/bound_columnref_expression.hpp"
#include "duckdb/planner/expression/bound_function_expression.hpp"
#include "duckdb/planner/expression_iterator.hpp"
#include "duckdb/planner/operator/logical_any_join.hpp"
#include "duckdb/planner/operator/logical_comparison_join.hpp"
#include "duckdb/planner/operator/logical_delete.hpp"
#include "duckdb/planner/operator/logical_get.hpp"
#include "duckdb/planner/operator/logical_merge_into.hpp"
#include "duckdb/planner/operator/logical_projection.hpp"
#include "duckdb/planner/operator/logical_update.hpp"
#include "duckdb/planner/planner_extension.hpp"
#include "engine/scan/filter_bridge.h"
#include "engine/scan/scan_function.h"
#include "engine/write/table_expression.h"
#include "engine/write/target_scan.h"

namespace braid::engine {

namespace {

using duckdb::BoundColumnRefExpression;
using duckdb::Expression;
using duckdb::JoinType;
using duckdb::LogicalOperator;
using duckdb::LogicalOperatorType;

// Calls `see` with the expression and everything in it.
template <class See>
void VisitAll(const Expression& expression, const See& see) {
	see(expression);
	duckdb::ExpressionIterator::EnumerateChildren(expression, [&](const Expression& child) { VisitAll(child, see); });
}

bool IsCall(const Expression& expression, const char* function) {
	return expression.GetExpressionClass() == duckdb::ExpressionClass::BOUND_FUNCTION &&
		   expression.Cast<duckdb::BoundFunctionExpression>().function.name == function;
}

// How the binder wraps a scalar sub-query (one aggregate; an error if there is a second row) and EXISTS (one count compared with 1).
bool IsOneValue(const LogicalOperator& op) {
	const bool projected = op.type == LogicalOperatorType::LOGICAL_PROJECTION && op.expressions.size() == 1;
	const LogicalOperator& aggregate = projected ? *op.children[0] : op;
	if (aggregate.type != LogicalOperatorType::LOGICAL_AGGREGATE_AND_GROUP_BY) return false;
	if (!projected) return true;
	if (op.expressions[0]->GetExpressionType() == duckdb::ExpressionType::COMPARE_EQUAL)
		return aggregate.children[0]->type == LogicalOperatorType::LOGICAL_LIMIT;
	bool guarded = false;
	VisitAll(*op.expressions[0], [&](const Expression& part) { guarded |= IsCall(part, "error"); });
	return guarded;
}

bool IsComparisonJoin(const LogicalOperator& op) {
	return op.type == LogicalOperatorType::LOGICAL_COMPARISON_JOIN ||
		   op.type == LogicalOperatorType::LOGICAL_ASOF_JOIN || op.type == LogicalOperatorType::LOGICAL_DELIM_JOIN ||
		   op.type == LogicalOperatorType::LOGICAL_DEPENDENT_JOIN;
}

class Clauses {
public:
	// `whole`: the statement is a query, so conditions count at any depth; else only down to the tables that it names.
	void Collect(LogicalOperator& op, bool whole);
	void CollectArms(duckdb::LogicalMergeInto& merge);
	ConditionTraits Traits() const;

private:
	bool IsSubquery(LogicalOperator& op);

	std::vector<const Expression*> conditions_;
	std::set<duckdb::idx_t> subqueries_;  // tables under whose index their values are known
};

bool Clauses::IsSubquery(LogicalOperator& op) {
	if (IsComparisonJoin(op)) {
		auto& join = op.Cast<duckdb::LogicalComparisonJoin>();
		if (join.join_type == JoinType::MARK) {
			subqueries_.insert(join.mark_index);
			return true;
		}
		if (join.join_type != JoinType::SINGLE) return false;
	} else if (op.type != LogicalOperatorType::LOGICAL_CROSS_PRODUCT || !IsOneValue(*op.children[1])) {
		return false;
	}
	for (auto& binding : op.children[1]->GetColumnBindings()) subqueries_.insert(binding.table_index);
	return true;
}

void Clauses::Collect(LogicalOperator& op, bool whole) {
	if (IsSubquery(op)) return Collect(*op.children[0], whole);
	bool clause = true;
	if (op.type == LogicalOperatorType::LOGICAL_FILTER) {
		for (auto& condition : op.expressions) conditions_.push_back(condition.get());
	} else if (IsComparisonJoin(op)) {
		auto& join = op.Cast<duckdb::LogicalComparisonJoin>();
		for (auto& condition : join.conditions)
			conditions_.insert(conditions_.end(), {condition.left.get(), condition.right.get()});
		if (join.predicate) conditions_.push_back(join.predicate.get());
	} else if (op.type == LogicalOperatorType::LOGICAL_ANY_JOIN) {
		conditions_.push_back(op.Cast<duckdb::LogicalAnyJoin>().condition.get());
	} else {
		clause = op.type == LogicalOperatorType::LOGICAL_CROSS_PRODUCT;
	}
	if (!clause && !whole) return;
	for (auto& child : op.children) Collect(*child, whole);
}

// WHEN .. AND refers to columns of the projection below, where the binder has put columns and sub-queries.
void Clauses::CollectArms(duckdb::LogicalMergeInto& merge) {
	auto& values = merge.children[0]->Cast<duckdb::LogicalProjection>();
	for (auto& [when, actions] : merge.actions) {
		for (auto& action : actions) {
			if (!action->condition) continue;
			conditions_.push_back(action->condition.get());
			VisitAll(*action->condition, [&](const Expression& part) {
				if (part.GetExpressionClass() != duckdb::ExpressionClass::BOUND_COLUMN_REF) return;
				auto& binding = part.Cast<BoundColumnRefExpression>().binding;
				if (binding.table_index == values.table_index)
					conditions_.push_back(values.expressions[binding.column_index].get());
			});
		}
	}
}

ConditionTraits Clauses::Traits() const {
	ConditionTraits traits;
	for (const Expression* condition : conditions_) {
		traits |= TraitsOf(*condition);
		VisitAll(*condition, [&](const Expression& part) {
			if (part.GetExpressionClass() != duckdb::ExpressionClass::BOUND_COLUMN_REF) return;
			traits.subquery |= subqueries_.contains(part.Cast<BoundColumnRefExpression>().binding.table_index);
		});
	}
	return traits;
}

// Adds the parts of a condition in which all columns are the target's.
void AddPartsOverTarget(const Expression& condition, duckdb::idx_t target, std::vector<const Expression*>& parts) {
	if (condition.GetExpressionType() == duckdb::ExpressionType::CONJUNCTION_AND) {
		duckdb::ExpressionIterator::EnumerateChildren(
			condition, [&](const Expression& part) { AddPartsOverTarget(part, target, parts); });
		return;
	}
	bool ours = false, others = false;
	VisitAll(condition, [&](const Expression& part) {
		if (part.GetExpressionClass() != duckdb::ExpressionClass::BOUND_COLUMN_REF) return;
		const bool of_target = part.Cast<BoundColumnRefExpression>().binding.table_index == target;
		(of_target ? ours : others) = true;
	});
	if (ours && !others) parts.push_back(&condition);
}

// What WHERE or ON says of the target alone. The binder may have put it right above the target's scan.
void CollectOverTarget(const LogicalOperator& op, duckdb::idx_t target, std::vector<const Expression*>& parts) {
	if (op.type == LogicalOperatorType::LOGICAL_FILTER) {
		for (auto& condition : op.expressions) AddPartsOverTarget(*condition, target, parts);
	} else if (op.type == LogicalOperatorType::LOGICAL_ANY_JOIN) {
		AddPartsOverTarget(*op.Cast<duckdb::LogicalAnyJoin>().condition, target, parts);
	}
	for (auto& child : op.children) CollectOverTarget(*child, target, parts);
}

// The operator that changes a table; null: a query.
LogicalOperator* FindChange(LogicalOperator& op) {
	if (op.type == LogicalOperatorType::LOGICAL_DELETE || op.type == LogicalOperatorType::LOGICAL_UPDATE ||
		op.type == LogicalOperatorType::LOGICAL_MERGE_INTO)
		return &op;
	for (auto& child : op.children) {
		if (auto* change = FindChange(*child)) return change;
	}
	return nullptr;
}

bool Joins(const LogicalOperator& op) {
	return op.children.size() > 1 || std::ranges::any_of(op.children, [](auto& child) { return Joins(*child); });
}

// An UPDATE, DELETE or MERGE as the binder left it.
class Change {
public:
	explicit Change(LogicalOperator& op);
	ConditionTraits Traits() const;
	void TellTarget(duckdb::ClientContext& context) const;

private:
	bool KeepsRowsWithoutMatch() const;

	LogicalOperator& op_;
	LogicalOperator& below_;  // SET and inserted values; the conditions and the scan of the target are there
	duckdb::idx_t target_;
	std::vector<const Expression*> over_target_;
};

Change::Change(LogicalOperator& op)
	: op_(op), below_(op.type == LogicalOperatorType::LOGICAL_DELETE ? *op.children[0] : *op.children[0]->children[0]) {
	const Expression* row_id = nullptr;
	if (op.type == LogicalOperatorType::LOGICAL_DELETE) {
		row_id = op.expressions[0].get();
	} else if (op.type == LogicalOperatorType::LOGICAL_UPDATE) {
		row_id = op.children[0]->expressions.back().get();
	} else {
		row_id = op.children[0]->expressions[op.Cast<duckdb::LogicalMergeInto>().row_id_start].get();
	}
	target_ = row_id->Cast<BoundColumnRefExpression>().binding.table_index;
	CollectOverTarget(below_, target_, over_target_);
}

ConditionTraits Change::Traits() const {
	Clauses clauses;
	clauses.Collect(below_, false);
	const bool merge = op_.type == LogicalOperatorType::LOGICAL_MERGE_INTO;
	if (merge) clauses.CollectArms(op_.Cast<duckdb::LogicalMergeInto>());
	ConditionTraits traits = clauses.Traits();
	traits.merge_without_target_predicate = merge && over_target_.empty();
	return traits;
}

bool Change::KeepsRowsWithoutMatch() const {
	return op_.type == LogicalOperatorType::LOGICAL_MERGE_INTO &&
		   op_.Cast<duckdb::LogicalMergeInto>().actions.contains(
			   duckdb::MergeActionCondition::WHEN_NOT_MATCHED_BY_SOURCE);
}

// The optimizer and the keys of joins leave out more of the target than the statement says (R18).
void Change::TellTarget(duckdb::ClientContext& context) const {
	if (!Joins(below_)) return;
	auto scan = FindGet(below_, target_);
	auto* registration = scan ? RegistrationOf(scan->function, scan->bind_data.get()) : nullptr;
	if (!registration || KeepsRowsWithoutMatch()) return;
	std::vector<Predicate> parts;
	for (const Expression* part : over_target_) {
		auto condition = part->Copy();
		FoldConstants(context, condition);
		parts.push_back(
			ToPredicate(*condition, [&](const Expression& reference) { return ColumnOfScan(reference, *scan); }));
	}
	registration->stated = Predicate::And(std::move(parts));
}

void TellScans(LogicalOperator& op, const ConditionTraits& traits) {
	if (op.type == LogicalOperatorType::LOGICAL_GET) {
		auto& scan = op.Cast<duckdb::LogicalGet>();
		if (auto* registration = RegistrationOf(scan.function, scan.bind_data.get())) registration->conditions = traits;
	}
	for (auto& child : op.children) TellScans(*child, traits);
}

bool ScansLake(LogicalOperator& op) {
	if (op.type == LogicalOperatorType::LOGICAL_GET) {
		auto& scan = op.Cast<duckdb::LogicalGet>();
		return RegistrationOf(scan.function, scan.bind_data.get()) != nullptr;
	}
	return std::ranges::any_of(op.children, [](auto& child) { return ScansLake(*child); });
}

}  // namespace

ConditionTraits TraitsOf(const Expression& condition) {
	ConditionTraits traits;
	traits.non_deterministic = condition.IsVolatile();
	VisitAll(condition, [&](const Expression& part) { traits.complex_type |= part.return_type.IsNested(); });
	return traits;
}

void RegisterConditionTraits(duckdb::DBConfig& config) {
	duckdb::PlannerExtension extension;
	extension.post_bind_function = [](duckdb::PlannerExtensionInput& input, duckdb::BoundStatement& statement) {
		if (!statement.plan || !ScansLake(*statement.plan)) return;
		ConditionTraits traits;
		if (auto* op = FindChange(*statement.plan)) {
			const Change change(*op);
			traits = change.Traits();
			change.TellTarget(input.context);
		} else {
			Clauses clauses;
			clauses.Collect(*statement.plan, true);
			traits = clauses.Traits();
		}
		TellScans(*statement.plan, traits);
	};
	duckdb::PlannerExtension::Register(config, std::move(extension));
}

}  // namespace braid::engine
