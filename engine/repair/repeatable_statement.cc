// SPDX-License-Identifier: Apache-2.0
// Looks at the binder's plan, before the optimizer takes scans away or copies them.
#include "engine/repair/repeatable_statement.h"

#include <algorithm>

#include "duckdb/catalog/catalog_entry/table_catalog_entry.hpp"
#include "duckdb/optimizer/optimizer_extension.hpp"
#include "duckdb/planner/logical_operator_visitor.hpp"
#include "duckdb/planner/operator/logical_delete.hpp"
#include "duckdb/planner/operator/logical_get.hpp"
#include "duckdb/planner/operator/logical_insert.hpp"
#include "duckdb/planner/operator/logical_merge_into.hpp"
#include "duckdb/planner/operator/logical_update.hpp"
#include "duckdb/transaction/meta_transaction.hpp"
#include "engine/catalog/table_entry.h"
#include "engine/scan/scan_function.h"
#include "engine/settings.h"

namespace braid::engine {

namespace {

using duckdb::LogicalOperator;
using duckdb::LogicalOperatorType;

struct Target {
	duckdb::TableCatalogEntry* table = nullptr;
	LogicalOperatorType type = LogicalOperatorType::LOGICAL_INVALID;
	bool returning = false;
	bool row_by_row = false;  // whatever the statement does, it does to single rows of the table
};

template <class Operator>
Target TargetOf(Operator& op) {
	const bool changes_rows =
		op.type == LogicalOperatorType::LOGICAL_DELETE || op.type == LogicalOperatorType::LOGICAL_UPDATE;
	return {&op.table, op.type, op.return_chunk, changes_rows};
}

// Whether a row of the source finds no match is not to be seen in a single row of the table.
bool OnlyChangesMatches(const duckdb::LogicalMergeInto& merge) {
	return std::ranges::all_of(merge.actions, [](auto& clause) {
		return clause.first == duckdb::MergeActionCondition::WHEN_MATCHED || clause.second.empty();
	});
}

// The table that the statement changes; empty if it changes none of a lake.
Target FindTarget(LogicalOperator& op) {
	Target target;
	switch (op.type) {
		case LogicalOperatorType::LOGICAL_DELETE:
			target = TargetOf(op.Cast<duckdb::LogicalDelete>());
			break;
		case LogicalOperatorType::LOGICAL_UPDATE:
			target = TargetOf(op.Cast<duckdb::LogicalUpdate>());
			break;
		case LogicalOperatorType::LOGICAL_MERGE_INTO:
			target = TargetOf(op.Cast<duckdb::LogicalMergeInto>());
			target.row_by_row = OnlyChangesMatches(op.Cast<duckdb::LogicalMergeInto>());
			break;
		case LogicalOperatorType::LOGICAL_INSERT:
			target = TargetOf(op.Cast<duckdb::LogicalInsert>());
			break;
		default:
			for (auto& child : op.children) {
				target = FindTarget(*child);
				if (target.table) return target;
			}
			return target;
	}
	return target.table->ParentCatalog().GetCatalogType() == "braid" ? target : Target();
}

struct Sources {
	size_t of_target = 0;
	bool passing = false;   // temporary, or in the client's memory
	bool unpinned = false;  // what another run may find changed
	bool random = false;    // each run draws anew
};

// Values that are in the statement itself.
bool IsGenerator(const std::string& function) {
	return function == "range" || function == "generate_series" || function == "unnest" || function == "repeat";
}

void LookAtScan(const duckdb::LogicalGet& scan, const LakeTableEntry& target, Sources& sources) {
	if (auto* registration = RegistrationOf(scan.function, scan.bind_data.get())) {
		if (registration->catalog.get() != &target.ParentCatalog()) {
			sources.unpinned = true;
		} else if (registration->root == target.table()->root()) {
			sources.of_target++;
		}
		return;
	}
	auto table = scan.GetTable();
	// A client hands over what it has in memory by address.
	auto by_address = [](const duckdb::LogicalType& type) { return type.id() == duckdb::LogicalTypeId::POINTER; };
	if ((table && table->ParentCatalog().IsTemporaryCatalog()) ||
		std::ranges::any_of(scan.function.arguments, by_address)) {
		sources.passing = true;
	}
	sources.unpinned |= !IsGenerator(scan.function.name);
}

void LookAt(LogicalOperator& op, const LakeTableEntry& target, Sources& sources) {
	if (op.type == LogicalOperatorType::LOGICAL_GET) LookAtScan(op.Cast<duckdb::LogicalGet>(), target, sources);
	if (op.type == LogicalOperatorType::LOGICAL_CHUNK_GET) sources.passing = true;
	duckdb::LogicalOperatorVisitor::EnumerateExpressions(
		op, [&](duckdb::unique_ptr<duckdb::Expression>* expression) { sources.random |= (*expression)->IsVolatile(); });
	for (auto& child : op.children) LookAt(*child, target, sources);
}

void LookAtPlan(duckdb::OptimizerExtensionInput& input, duckdb::unique_ptr<LogicalOperator>& plan) {
	auto target = FindTarget(*plan);
	if (!target.table || target.returning) return;
	Sources sources;
	auto& table = target.table->Cast<LakeTableEntry>();
	LookAt(*plan, table, sources);
	if (sources.passing) return;
	RepeatableStatement statement;
	statement.changes_rows = target.type != LogicalOperatorType::LOGICAL_INSERT || table.insert_mode;
	statement.row_local = target.row_by_row && sources.of_target == 1 && !sources.unpinned && !sources.random;
	StatementUnderway::Get(input.context).Planned(std::move(statement));
}

}  // namespace

void StatementUnderway::Planned(RepeatableStatement statement) {
	planned_ = std::make_shared<RepeatableStatement>(std::move(statement));
}

std::shared_ptr<const RepeatableStatement> StatementUnderway::Repeatable(duckdb::ClientContext& context) const {
	if (!planned_) return nullptr;
	auto options = CommitOptionsOf(context);
	const bool repairs = options.mode == ConcurrencyMode::kMax;
	if (!repairs && options.statement_retries == 0) return nullptr;
	auto statement = std::make_shared<RepeatableStatement>(*planned_);
	statement->text = context.GetCurrentQuery();
	statement->started = duckdb::MetaTransaction::Get(context).start_timestamp;
	statement->row_local &= repairs;
	return statement;
}

void RegisterRepeatableStatements(duckdb::DBConfig& config) {
	duckdb::OptimizerExtension extension;
	extension.pre_optimize_function = LookAtPlan;
	duckdb::OptimizerExtension::Register(config, std::move(extension));
}

}  // namespace braid::engine
