// SPDX-License-Identifier: Apache-2.0
// One scan for all new demands.
#include "engine/write/present_rows.h"

#include <algorithm>

#include "duckdb/planner/expression/bound_comparison_expression.hpp"
#include "duckdb/planner/expression/bound_constant_expression.hpp"
#include "duckdb/planner/expression/bound_reference_expression.hpp"
#include "duckdb/planner/expression_iterator.hpp"
#include "engine/catalog/type_mapping.h"
#include "engine/io/row_reader.h"
#include "engine/scan/row_predicate.h"
#include "engine/scan/scan_source.h"
#include "engine/write/row_rules.h"
#include "kernel/alter/columns.h"
#include "kernel/feature/protocol_change.h"

namespace braid::engine {

namespace {

// Paths of columns that are NOT NULL from now on.
void NewlyNotNull(const DataType& type, const StructType& before, const ColumnPath& parent,
				  std::vector<ColumnPath>& found) {
	for (auto& field : type.fields) {
		auto path = parent;
		path.push_back(field.name);
		auto old_path = path;
		const auto* old = FindColumn(before, old_path);
		if (!field.nullable && (old == nullptr || old->nullable)) found.push_back(path);
		NewlyNotNull(*field.type, before, path, found);
	}
}

// Rows for which the condition is not TRUE, as a question to concurrent commits.
Read ReadOfViolations(const RowRules::Condition& condition, const StructType& schema) {
	auto exact = std::make_shared<BoundRowPredicate>();
	duckdb::unique_ptr<duckdb::Expression> copy = condition.expression->Copy();
	duckdb::ExpressionIterator::VisitExpressionMutable<duckdb::BoundReferenceExpression>(
		copy, [&](duckdb::BoundReferenceExpression& reference, duckdb::unique_ptr<duckdb::Expression>&) {
			auto& field = schema.fields[reference.index];
			reference.index = exact->IndexOf(field.name, ToDuckType(*field.type, field.name));
		});
	exact->conjuncts.push_back(duckdb::make_uniq<duckdb::BoundComparisonExpression>(
		duckdb::ExpressionType::COMPARE_DISTINCT_FROM, std::move(copy),
		duckdb::make_uniq<duckdb::BoundConstantExpression>(duckdb::Value::BOOLEAN(true))));
	return {Predicate::True(), std::move(exact), false};
}

bool HasNewConstraint(const Snapshot& before, const Snapshot& after, const RowRules::Condition& condition) {
	for (auto& [key, text] : after.metadata.configuration) {
		if (!key.starts_with(kConstraintPrefix)) continue;
		const auto role = "CHECK constraint " + key.substr(kConstraintPrefix.size()) + " ";
		if (!condition.role.starts_with(role)) continue;
		const auto old = before.metadata.configuration.find(key);
		return old == before.metadata.configuration.end() || old->second != text;
	}
	return false;
}

}  // namespace

void CheckPresentRows(duckdb::ClientContext& context, LakeCatalog&, TableWork& work, const SnapshotPtr& after) {
	std::vector<ColumnPath> not_null;
	NewlyNotNull(*after->schema, *work.view->schema, {}, not_null);
	RowRules rules(context, after);
	std::vector<Read> reads;
	for (auto& path : not_null) reads.push_back({Predicate::IsNull(path), nullptr, false});
	for (auto& condition : rules.conditions()) {
		if (HasNewConstraint(*work.view, *after, condition))
			reads.push_back(ReadOfViolations(condition, *after->schema));
	}
	if (reads.empty()) return;
	RowRules::Local local;
	RowReader reader(context, MakeScanSource(work.table, after, &work), AllColumns(*after));
	while (auto* rows = reader.Next()) rules.Apply(local, *rows);
	std::lock_guard guard(work.mutex);
	for (auto& read : reads) work.work.reads.reads.push_back(std::move(read));
}

std::optional<int64_t> ExtremeValue(duckdb::ClientContext& context, TableWork& work, const std::string& column,
									bool highest) {
	auto& fields = work.view->schema->fields;
	const auto field = std::ranges::find(fields, column, &Field::name);
	const auto index = static_cast<duckdb::column_t>(field - fields.begin());
	std::optional<int64_t> found;
	RowReader reader(context, MakeScanSource(work.table, work.view, &work), {index});
	while (auto* rows = reader.Next()) {
		duckdb::UnifiedVectorFormat format;
		rows->data[0].ToUnifiedFormat(rows->size(), format);
		auto values = duckdb::UnifiedVectorFormat::GetData<int64_t>(format);
		for (duckdb::idx_t row = 0; row < rows->size(); row++) {
			const auto at = format.sel->get_index(row);
			if (!format.validity.RowIsValid(at)) continue;
			if (!found || (highest ? values[at] > *found : values[at] < *found)) found = values[at];
		}
	}
	std::lock_guard guard(work.mutex);
	work.work.reads.reads.push_back({Predicate::True(), nullptr, false});
	return found;
}

}  // namespace braid::engine
