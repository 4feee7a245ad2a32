// SPDX-License-Identifier: Apache-2.0
// The binder's plan: LogicalMergeInto over a projection (values, source marker, row ids) over the join.
#include "engine/write/merge_rewrite.h"

#include <algorithm>

#include "duckdb/catalog/catalog_entry/table_catalog_entry.hpp"
#include "duckdb/optimizer/optimizer_extension.hpp"
#include "duckdb/planner/expression/bound_columnref_expression.hpp"
#include "duckdb/planner/expression/bound_comparison_expression.hpp"
#include "duckdb/planner/expression/bound_constant_expression.hpp"
#include "duckdb/planner/expression_iterator.hpp"
#include "duckdb/planner/logical_operator_visitor.hpp"
#include "duckdb/planner/operator/logical_any_join.hpp"
#include "duckdb/planner/operator/logical_comparison_join.hpp"
#include "duckdb/planner/operator/logical_merge_into.hpp"
#include "duckdb/planner/operator/logical_projection.hpp"
#include "engine/write/target_scan.h"

namespace braid::engine {

namespace {

using duckdb::BoundColumnRefExpression;
using duckdb::ColumnBinding;
using duckdb::LogicalOperator;
using ExpressionPtr = duckdb::unique_ptr<duckdb::Expression>;

bool IsReference(const duckdb::Expression& expression) {
	return expression.GetExpressionClass() == duckdb::ExpressionClass::BOUND_COLUMN_REF;
}

// The projection that the binder pushes onto the source to tell whether there was a source row.
duckdb::optional_ptr<duckdb::LogicalProjection> FindMarker(LogicalOperator& op, duckdb::idx_t table_index) {
	if (op.type == duckdb::LogicalOperatorType::LOGICAL_PROJECTION &&
		op.Cast<duckdb::LogicalProjection>().table_index == table_index)
		return op.Cast<duckdb::LogicalProjection>();
	for (auto& child : op.children) {
		if (auto found = FindMarker(*child, table_index)) return found;
	}
	return nullptr;
}

void Redirect(LogicalOperator& op, const duckdb::LogicalProjection& marker) {
	if (&op == &marker) return;
	auto redirect = [&](ExpressionPtr& expression) {
		duckdb::ExpressionIterator::VisitExpressionMutable<BoundColumnRefExpression>(
			expression, [&](BoundColumnRefExpression& reference, ExpressionPtr&) {
				for (size_t i = 0; i < marker.expressions.size(); i++) {
					if (!IsReference(*marker.expressions[i])) continue;
					if (marker.expressions[i]->Cast<BoundColumnRefExpression>().binding != reference.binding) continue;
					reference.binding = ColumnBinding(marker.table_index, i);
					return;
				}
			});
	};
	duckdb::LogicalOperatorVisitor::EnumerateExpressions(op, [&](ExpressionPtr* e) { redirect(*e); });
	for (auto& child : op.children) Redirect(*child, marker);
}

// Trap 27.
void RedirectToMarkedSource(duckdb::LogicalMergeInto& merge, duckdb::LogicalProjection& values) {
	if (!merge.source_marker.IsValid()) return;
	auto& marker = *values.expressions[merge.source_marker.GetIndex()];
	if (!IsReference(marker)) return;
	auto marked = FindMarker(values, marker.Cast<BoundColumnRefExpression>().binding.table_index);
	if (marked) Redirect(values, *marked);
}

void AddOldRow(duckdb::LogicalMergeInto& merge, duckdb::LogicalProjection& values) {
	auto target = values.expressions[merge.row_id_start]->Cast<BoundColumnRefExpression>().binding.table_index;
	auto get = FindGet(values, target);
	if (!get) return;  // PlanMergeInto refuses
	for (auto& [condition, actions] : merge.actions) {
		for (auto& action : actions) {
			if (action->action_type != duckdb::MergeActionType::MERGE_DELETE) continue;
			for (auto& column : merge.table.GetColumns().Physical()) {
				ColumnBinding binding(target, ScanColumn(*get, column.Physical().index));
				action->expressions.push_back(duckdb::make_uniq<BoundColumnRefExpression>(
					column.Type(), ColumnBinding(values.table_index, values.expressions.size())));
				values.expressions.push_back(duckdb::make_uniq<BoundColumnRefExpression>(column.Type(), binding));
			}
		}
	}
}

// Where the projection delivers what `reference` stands for; added if it does not.
ColumnBinding Projected(duckdb::LogicalProjection& values, BoundColumnRefExpression& reference) {
	for (size_t i = 0; i < values.expressions.size(); i++) {
		if (values.expressions[i]->Equals(reference)) return ColumnBinding(values.table_index, i);
	}
	values.expressions.push_back(reference.Copy());
	return ColumnBinding(values.table_index, values.expressions.size() - 1);
}

void ComputeInArm(duckdb::LogicalProjection& values, ExpressionPtr& value) {
	if (!IsReference(*value)) return;
	auto& slot = values.expressions[value->Cast<BoundColumnRefExpression>().binding.column_index];
	if (IsReference(*slot)) return;
	value = std::move(slot);
	slot = duckdb::make_uniq<duckdb::BoundConstantExpression>(duckdb::Value(duckdb::LogicalType::BOOLEAN));
	duckdb::ExpressionIterator::VisitExpressionMutable<BoundColumnRefExpression>(
		value,
		[&](BoundColumnRefExpression& reference, ExpressionPtr&) { reference.binding = Projected(values, reference); });
}

// The condition of the join with the source, as far as it is there: what concerns one side only has moved there.
std::string ConditionText(LogicalOperator& op) {
	if (op.type == duckdb::LogicalOperatorType::LOGICAL_ANY_JOIN)
		return op.Cast<duckdb::LogicalAnyJoin>().condition->ToString();
	if (op.type == duckdb::LogicalOperatorType::LOGICAL_COMPARISON_JOIN) {
		std::string text;
		for (auto& condition : op.Cast<duckdb::LogicalComparisonJoin>().conditions) {
			auto comparison = duckdb::BoundComparisonExpression(condition.comparison, condition.left->Copy(),
																condition.right->Copy());
			text += (text.empty() ? "" : " AND ") + comparison.ToString();
		}
		return text;
	}
	return op.children.empty() ? "" : ConditionText(*op.children[0]);
}

void Mend(LogicalOperator& op) {
	for (auto& child : op.children) Mend(*child);
	if (op.type != duckdb::LogicalOperatorType::LOGICAL_MERGE_INTO) return;
	auto& merge = op.Cast<duckdb::LogicalMergeInto>();
	if (merge.table.ParentCatalog().GetCatalogType() != "braid") return;
	auto& values = merge.children[0]->Cast<duckdb::LogicalProjection>();
	RedirectToMarkedSource(merge, values);
	// For commitInfo; the operator has no use of its own for expressions (PlanMergeInto).
	merge.expressions.push_back(
		duckdb::make_uniq<duckdb::BoundConstantExpression>(duckdb::Value(ConditionText(values))));
	if (merge.return_chunk) AddOldRow(merge, values);
	for (auto& [condition, actions] : merge.actions) {
		for (auto& action : actions) {
			for (auto& value : action->expressions) ComputeInArm(values, value);
		}
	}
}

}  // namespace

void RegisterMergeRewrite(duckdb::DBConfig& config) {
	duckdb::OptimizerExtension extension;
	extension.pre_optimize_function = [](duckdb::OptimizerExtensionInput&, duckdb::unique_ptr<LogicalOperator>& plan) {
		Mend(*plan);
	};
	duckdb::OptimizerExtension::Register(config, std::move(extension));
}

}  // namespace braid::engine
