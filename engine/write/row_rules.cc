// SPDX-License-Identifier: Apache-2.0
// Bound once per statement, executed by every thread.
#include "engine/write/row_rules.h"

#include "base/padded_json.h"
#include "duckdb/common/exception.hpp"
#include "duckdb/planner/expression/bound_comparison_expression.hpp"
#include "duckdb/planner/expression/bound_operator_expression.hpp"
#include "duckdb/planner/expression/bound_reference_expression.hpp"
#include "engine/catalog/type_mapping.h"
#include "engine/io/row_reader.h"
#include "engine/write/not_null.h"
#include "engine/write/table_expression.h"
#include "kernel/feature/protocol_change.h"

namespace braid::engine {

namespace {

using duckdb::LogicalType;

// {"expression":{"expression":"x > 3"}} (PROTOCOL: Column Invariants).
std::string InvariantText(const std::string& json, const std::string& column) {
	simdjson::dom::parser parser;
	std::string_view text;
	if (parser.parse(json)["expression"]["expression"].get(text)) {
		throw duckdb::NotImplementedException("invariant of column \"%s\" is not understood: %s", column, json);
	}
	return std::string(text);
}

}  // namespace

RowRules::RowRules(duckdb::ClientContext& context, SnapshotPtr view)
	: context_(context), view_(std::move(view)), table_(view_->table.substr(view_->table.rfind('/') + 1)) {
	AddConstraints();
	AddInvariants(*view_->schema, "");
	AddGenerated();
}

void RowRules::AddCondition(const std::string& role, const std::string& text) {
	conditions_.push_back(
		{role, BindTableExpression(context_, *view_->schema, table_, text, LogicalType::BOOLEAN, role)});
}

void RowRules::AddConstraints() {
	for (auto& [key, text] : view_->metadata.configuration) {
		if (!key.starts_with(kConstraintPrefix)) continue;
		AddCondition("CHECK constraint " + key.substr(kConstraintPrefix.size()) + " (" + text + ")", text);
	}
}

void RowRules::AddInvariants(const DataType& type, const std::string& path) {
	for (auto& field : type.fields) {
		const auto name = path.empty() ? field.name : path + "." + field.name;
		if (auto json = MetadataString(field, kInvariantsKey)) {
			const auto text = InvariantText(*json, name);
			AddCondition("invariant of column " + name + " (" + text + ")", text);
		}
		AddInvariants(*field.type, name);
	}
}

void RowRules::AddGenerated() {
	for (size_t i = 0; i < view_->schema->fields.size(); i++) {
		auto& field = view_->schema->fields[i];
		const auto text = MetadataString(field, kGenerationExpressionKey);
		if (!text) continue;
		const auto role = "generated column " + field.name + " (" + *text + ")";
		const auto type = ToDuckType(*field.type, field.name);
		auto value = BindTableExpression(context_, *view_->schema, table_, *text, type, role);
		duckdb::unique_ptr<duckdb::Expression> given =
			duckdb::make_uniq<duckdb::BoundReferenceExpression>(field.name, type, i);
		auto filled =
			duckdb::make_uniq<duckdb::BoundOperatorExpression>(duckdb::ExpressionType::OPERATOR_COALESCE, type);
		filled->children.push_back(given->Copy());
		filled->children.push_back(value->Copy());
		generated_.push_back({i, std::move(filled)});
		conditions_.push_back(
			{role, duckdb::make_uniq<duckdb::BoundComparisonExpression>(
					   duckdb::ExpressionType::COMPARE_NOT_DISTINCT_FROM, std::move(given), std::move(value))});
	}
}

duckdb::DataChunk& RowRules::Complete(Local& local, duckdb::DataChunk& rows) const {
	if (generated_.empty()) return rows;
	if (!local.generated) {
		local.generated = duckdb::make_uniq<duckdb::ExpressionExecutor>(context_);
		duckdb::vector<LogicalType> types;
		for (auto& one : generated_) {
			local.generated->AddExpression(*one.expression);
			types.push_back(one.expression->return_type);
		}
		local.values.Initialize(context_, types);
		local.completed.InitializeEmpty(rows.GetTypes());
	}
	local.values.Reset();
	local.generated->Execute(rows, local.values);
	local.completed.Reference(rows);
	for (size_t i = 0; i < generated_.size(); i++)
		local.completed.data[generated_[i].column].Reference(local.values.data[i]);
	return local.completed;
}

duckdb::DataChunk& RowRules::Apply(Local& local, duckdb::DataChunk& rows) const {
	auto& completed = Complete(local, rows);
	Check(local, completed);
	return completed;
}

void RowRules::Check(Local& local, duckdb::DataChunk& rows) const {
	CheckNotNull(*view_->schema, table_, rows);
	if (conditions_.empty() || rows.size() == 0) return;
	if (!local.checks) {
		local.checks = duckdb::make_uniq<duckdb::ExpressionExecutor>(context_);
		for (auto& condition : conditions_) local.checks->AddExpression(*condition.expression);
		local.verdicts.Initialize(context_, duckdb::vector<LogicalType>(conditions_.size(), LogicalType::BOOLEAN));
	}
	local.verdicts.Reset();
	local.checks->Execute(rows, local.verdicts);
	for (size_t i = 0; i < conditions_.size(); i++) {
		duckdb::UnifiedVectorFormat verdict;
		local.verdicts.data[i].ToUnifiedFormat(rows.size(), verdict);
		auto holds = duckdb::UnifiedVectorFormat::GetData<bool>(verdict);
		for (duckdb::idx_t row = 0; row < rows.size(); row++) {
			const auto at = verdict.sel->get_index(row);
			if (verdict.validity.RowIsValid(at) && holds[at]) continue;
			throw duckdb::ConstraintException("%s of table %s is violated%s by row: %s", conditions_[i].role, table_,
											  verdict.validity.RowIsValid(at) ? "" : " (it is NULL, not TRUE)",
											  RowPicture(*view_, rows, row));
		}
	}
}

}  // namespace braid::engine
