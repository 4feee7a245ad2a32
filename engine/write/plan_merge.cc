// SPDX-License-Identifier: Apache-2.0
// Each clause becomes an arm that knows how to make a row of the table out of a row of the join.
#include "engine/write/plan_merge.h"

#include "base/json.h"
#include "duckdb/planner/expression/bound_constant_expression.hpp"
#include "engine/catalog/table_entry.h"
#include "engine/catalog/transaction.h"
#include "engine/write/identity_values.h"
#include "engine/write/merge_sink.h"

namespace braid::engine {

namespace {

using Expressions = duckdb::vector<duckdb::unique_ptr<duckdb::Expression>>;

MergeClause ClauseOf(duckdb::MergeActionCondition condition) {
	switch (condition) {
		case duckdb::MergeActionCondition::WHEN_MATCHED:
			return MergeClause::kMatched;
		case duckdb::MergeActionCondition::WHEN_NOT_MATCHED_BY_TARGET:
			return MergeClause::kNotMatched;
		case duckdb::MergeActionCondition::WHEN_NOT_MATCHED_BY_SOURCE:
			return MergeClause::kNotMatchedBySource;
	}
	throw duckdb::InvalidInputException("MERGE has a clause of an unknown kind");
}

// The binder lists columns in the order of SET, then the others (BindUpdateColumns); rows are written in table order.
Expressions UpdatedRow(duckdb::LogicalMergeInto& op, duckdb::BoundMergeIntoAction& action) {
	Expressions images(action.columns.size());
	for (size_t i = 0; i < action.columns.size(); i++) {
		auto column = action.columns[i].index;
		bool is_default = action.expressions[i]->GetExpressionType() == duckdb::ExpressionType::VALUE_DEFAULT;
		images[column] = is_default ? op.bound_defaults[column]->Copy() : std::move(action.expressions[i]);
	}
	return images;
}

void RefuseIdentityValues(duckdb::LogicalMergeInto& op, const Expressions& images) {
	auto& fields = op.table.Cast<LakeTableEntry>().view()->schema->fields;
	for (size_t i = 0; i < fields.size(); i++) {
		const auto identity = IdentityOf(fields[i]);
		if (identity && !identity->allows_explicit && !IsIdentityDefault(*images[i]))
			RefuseIdentityValue(op.table.name, fields[i].name);
	}
}

Expressions InsertedRow(duckdb::LogicalMergeInto& op, duckdb::BoundMergeIntoAction& action) {
	if (action.column_index_map.empty()) return std::move(action.expressions);
	Expressions images;
	for (auto& column : op.table.GetColumns().Physical()) {
		auto at = action.column_index_map[column.Physical()];
		images.push_back(at == duckdb::DConstants::INVALID_INDEX ? op.bound_defaults[column.StorageOid()]->Copy()
																 : std::move(action.expressions[at]));
	}
	return images;
}

const char* ActionType(duckdb::MergeActionType action) {
	switch (action) {
		case duckdb::MergeActionType::MERGE_UPDATE:
			return "update";
		case duckdb::MergeActionType::MERGE_DELETE:
			return "delete";
		case duckdb::MergeActionType::MERGE_INSERT:
			return "insert";
		case duckdb::MergeActionType::MERGE_DO_NOTHING:
			return "doNothing";
		case duckdb::MergeActionType::MERGE_ERROR:
			return "error";
	}
	return "";
}

// properties.md 6.4: each parameter is a string that holds JSON.
void DescribeClauses(duckdb::LogicalMergeInto& op, LakeMerge& merge) {
	std::string condition;  // engine/write/merge_rewrite.cc
	if (!op.expressions.empty())
		condition = op.expressions[0]->Cast<duckdb::BoundConstantExpression>().value.ToString();
	merge.parameters["predicate"] = JsonString("[" + JsonString(condition) + "]");
	std::string lists[kMergeClauses];
	for (auto& arm : merge.arms) {
		auto& list = lists[static_cast<size_t>(arm.clause)];
		list += list.empty() ? "{" : ",{";
		if (arm.condition) list += "\"predicate\":" + JsonString(arm.condition->ToString()) + ",";
		list += "\"actionType\":" + JsonString(ActionType(arm.action)) + "}";
	}
	const char* names[kMergeClauses] = {"matchedPredicates", "notMatchedPredicates", "notMatchedBySourcePredicates"};
	for (size_t i = 0; i < kMergeClauses; i++) merge.parameters[names[i]] = JsonString("[" + lists[i] + "]");
}

MergeArm ToArm(duckdb::LogicalMergeInto& op, MergeClause clause, duckdb::BoundMergeIntoAction& action) {
	MergeArm arm;
	arm.clause = clause;
	arm.action = action.action_type;
	arm.condition = std::move(action.condition);
	switch (action.action_type) {
		case duckdb::MergeActionType::MERGE_UPDATE:
			arm.images = UpdatedRow(op, action);
			break;
		case duckdb::MergeActionType::MERGE_INSERT:
			arm.images = InsertedRow(op, action);
			RefuseIdentityValues(op, arm.images);
			break;
		default:
			arm.images = std::move(action.expressions);
	}
	return arm;
}

}  // namespace

duckdb::PhysicalOperator& PlanMergeInto(duckdb::ClientContext& context, duckdb::PhysicalPlanGenerator& planner,
										duckdb::LogicalMergeInto& op, duckdb::PhysicalOperator& plan) {
	auto& table = op.table.Cast<LakeTableEntry>();
	auto& merge =
		planner.Make<LakeMerge>(op.types, table.catalog, table.table(), op.estimated_cardinality).Cast<LakeMerge>();
	merge.returning = op.return_chunk;
	merge.file_column = op.row_id_start;
	merge.position_column = op.row_id_start + 1;
	merge.source_marker = op.source_marker;
	for (auto& [condition, actions] : op.actions) {
		for (auto& action : actions) merge.arms.push_back(ToArm(op, ClauseOf(condition), *action));
	}
	DescribeClauses(op, merge);
	auto* work = LakeTransaction::Get(context, table.catalog).Find(table.table()->root());
	if (work && work->view->metadata.schema_string != table.view()->metadata.schema_string)
		merge.evolved = table.view();
	for (auto& arm : merge.arms) {
		if (merge.returning && arm.action == duckdb::MergeActionType::MERGE_DELETE && arm.images.empty()) {
			throw duckdb::NotImplementedException(
				"MERGE INTO %s with a DELETE and RETURNING needs the optimizer: set disabled_optimizers = ''",
				table.name);
		}
	}
	merge.children.push_back(plan);
	return merge;
}

}  // namespace braid::engine
