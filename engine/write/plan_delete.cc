// SPDX-License-Identifier: Apache-2.0
// The row ids stand first in LogicalDelete::expressions, the old columns of RETURNING after them.
#include "engine/write/plan_delete.h"

#include "duckdb/optimizer/optimizer_extension.hpp"
#include "duckdb/planner/expression/bound_columnref_expression.hpp"
#include "duckdb/planner/expression/bound_reference_expression.hpp"
#include "engine/catalog/table_entry.h"
#include "engine/scan/scan_function.h"
#include "engine/write/target_scan.h"
#include "engine/write/write_sink.h"

namespace braid::engine {

duckdb::PhysicalOperator& PlanDelete(duckdb::ClientContext&, duckdb::PhysicalPlanGenerator& planner,
									 duckdb::LogicalDelete& op, duckdb::PhysicalOperator& plan) {
	auto& table = op.table.Cast<LakeTableEntry>();
	auto& write =
		planner.Make<LakeWrite>(op.types, WriteKind::kDelete, table.catalog, table.table(), op.estimated_cardinality)
			.Cast<LakeWrite>();
	write.returning = op.return_chunk;
	NoteRemovalOfAllMatches(plan);
	write.file_column = op.expressions[0]->Cast<duckdb::BoundReferenceExpression>().index;
	write.position_column = op.expressions[1]->Cast<duckdb::BoundReferenceExpression>().index;
	for (size_t i = 2; op.return_chunk && i < op.expressions.size(); i++)
		write.images.push_back(op.expressions[i]->Copy());
	write.children.push_back(plan);
	return write;
}

namespace {

void AddOldImages(duckdb::LogicalOperator& op) {
	for (auto& child : op.children) AddOldImages(*child);
	if (op.type != duckdb::LogicalOperatorType::LOGICAL_DELETE) return;
	auto& remove = op.Cast<duckdb::LogicalDelete>();
	if (!remove.return_chunk || remove.table.ParentCatalog().GetCatalogType() != "braid") return;
	auto target = remove.expressions[0]->Cast<duckdb::BoundColumnRefExpression>().binding.table_index;
	auto get = FindGet(*remove.children[0], target);
	if (!get) return;
	for (auto& column : remove.table.GetColumns().Physical()) {
		auto at = ScanColumn(*get, column.Physical().index);
		remove.expressions.push_back(
			duckdb::make_uniq<duckdb::BoundColumnRefExpression>(column.Type(), duckdb::ColumnBinding(target, at)));
	}
}

}  // namespace

void RegisterDeleteReturning(duckdb::DBConfig& config) {
	duckdb::OptimizerExtension extension;
	extension.pre_optimize_function = [](duckdb::OptimizerExtensionInput&,
										 duckdb::unique_ptr<duckdb::LogicalOperator>& plan) { AddOldImages(*plan); };
	duckdb::OptimizerExtension::Register(config, std::move(extension));
}

}  // namespace braid::engine
