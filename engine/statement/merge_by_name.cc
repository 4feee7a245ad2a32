// SPDX-License-Identifier: Apache-2.0
// Stars are expanded when the statement is bound.
#include "engine/statement/merge_by_name.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/environment.h"
#include "duckdb/catalog/catalog.hpp"
#include "duckdb/catalog/catalog_entry/table_catalog_entry.hpp"
#include "duckdb/common/string_util.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/parser/expression/columnref_expression.hpp"
#include "duckdb/parser/expression/star_expression.hpp"
#include "duckdb/parser/query_node/select_node.hpp"
#include "duckdb/parser/statement/update_statement.hpp"
#include "duckdb/parser/tableref/basetableref.hpp"
#include "duckdb/planner/binder.hpp"
#include "engine/catalog/table_entry.h"
#include "engine/catalog/transaction.h"
#include "engine/catalog/type_mapping.h"
#include "engine/io/error_translation.h"
#include "engine/statement/late_binding.h"
#include "engine/statement/named_table.h"
#include "kernel/alter/columns.h"
#include "kernel/feature/protocol_change.h"

namespace braid::engine {

namespace {

using duckdb::MergeActionType;
using duckdb::MergeIntoAction;
using duckdb::MergeIntoStatement;

bool IsStar(const MergeIntoAction& action) {
	if (action.column_order != duckdb::InsertColumnOrder::INSERT_BY_POSITION) return false;
	if (action.action_type == MergeActionType::MERGE_UPDATE) return !action.update_info;
	return action.action_type == MergeActionType::MERGE_INSERT && action.expressions.empty() &&
		   action.insert_columns.empty() && !action.default_values;
}

template <class Visit>
void VisitStars(const MergeIntoStatement& merge, Visit visit) {
	for (auto& [condition, actions] : merge.actions) {
		for (auto& action : actions) {
			if (IsStar(*action)) visit(*action);
		}
	}
}

// Null if it is none of a lake's.
duckdb::optional_ptr<LakeTableEntry> FindTarget(duckdb::ClientContext& context, const MergeIntoStatement& merge) {
	if (merge.target->type != duckdb::TableReferenceType::BASE_TABLE) return nullptr;
	auto& target = merge.target->Cast<duckdb::BaseTableRef>();
	return FindLakeTable(context, target.catalog_name, target.schema_name, target.table_name,
						 duckdb::OnEntryNotFound::RETURN_NULL);
}

struct Columns {
	duckdb::vector<std::string> names;
	duckdb::vector<duckdb::LogicalType> types;

	std::optional<std::string> Find(const std::string& name) const {
		auto same = std::ranges::find_if(names, [&](auto& n) { return duckdb::StringUtil::CIEquals(n, name); });
		return same == names.end() ? std::nullopt : std::optional(*same);
	}
};

Columns SourceColumns(duckdb::Binder& binder, const MergeIntoStatement& merge) {
	duckdb::SelectNode select;
	select.cte_map = merge.cte_map.Copy();
	select.select_list.push_back(duckdb::make_uniq<duckdb::StarExpression>());
	select.from_table = merge.source->Copy();
	auto inner = duckdb::Binder::CreateBinder(binder.context, binder);
	auto bound = inner->Bind(select);
	return {std::move(bound.names), std::move(bound.types)};
}

std::string SourceName(const MergeIntoStatement& merge) {
	if (!merge.source->alias.empty()) return merge.source->alias;
	if (merge.source->type != duckdb::TableReferenceType::BASE_TABLE) return "";
	return merge.source->Cast<duckdb::BaseTableRef>().table_name;
}

[[noreturn]] void RefuseMissing(const LakeTableEntry& table, bool update, const std::string& column,
								const Columns& source) {
	throw duckdb::BinderException(
		"[DELTA_MERGE_UNRESOLVED_EXPRESSION] MERGE INTO %s: %s takes each column of the table from the source, which "
		"has "
		"no column \"%s\"; it has: %s. Name the columns, give the source this one, or say MERGE WITH SCHEMA EVOLUTION",
		table.name, update ? "UPDATE SET *" : "INSERT *", column, duckdb::StringUtil::Join(source.names, ", "));
}

void Expand(MergeIntoAction& action, const LakeTableEntry& table, const std::string& source_name, const Columns& source,
			bool evolves) {
	duckdb::vector<std::string> columns;
	duckdb::vector<duckdb::unique_ptr<duckdb::ParsedExpression>> values;
	bool update = action.action_type == MergeActionType::MERGE_UPDATE;
	for (auto& column : table.GetColumns().Physical()) {
		auto same = source.Find(column.Name());
		if (!same) {
			auto& field = table.view()->schema->fields[column.Physical().index];
			if (evolves || field.metadata.contains(kGenerationExpressionKey) || IdentityOf(field)) continue;
			RefuseMissing(table, update, column.Name(), source);
		}
		columns.push_back(column.Name());
		values.push_back(source_name.empty() ? duckdb::make_uniq<duckdb::ColumnRefExpression>(*same)
											 : duckdb::make_uniq<duckdb::ColumnRefExpression>(*same, source_name));
	}
	if (columns.empty())
		RefuseMissing(table, update, table.GetColumns().GetColumn(duckdb::LogicalIndex(0)).Name(), source);
	if (update) {
		action.update_info = duckdb::make_uniq<duckdb::UpdateSetInfo>();
		action.update_info->columns = std::move(columns);
		action.update_info->expressions = std::move(values);
	} else {
		action.insert_columns = std::move(columns);
		action.expressions = std::move(values);
	}
}

// The table with the columns that only the source has; null if there are none.
SnapshotPtr Evolved(duckdb::ClientContext& context, const LakeTableEntry& table, const TableWork& work,
					const Columns& source) {
	auto draft = DraftOf(work.view);
	bool grows = false;
	for (size_t i = 0; i < source.names.size(); i++) {
		auto& name = source.names[i];
		if (table.ColumnExists(name)) continue;
		if (source.types[i].id() == duckdb::LogicalTypeId::SQLNULL) {
			throw duckdb::BinderException(
				"MERGE WITH SCHEMA EVOLUTION INTO %s: column \"%s\" of the source is NULL and has "
				"no type; cast it",
				table.name, name);
		}
		Unwrap(AddColumn(draft, {}, {name, ToDeltaType(source.types[i], name), true, {}}, {}, SystemRandom()));
		grows = true;
	}
	if (!grows) return nullptr;
	auto& changes = work.work.changes;
	bool began = !work.work.reads.empty() || !changes.new_files.empty() || !changes.deleted_rows.empty() ||
				 !changes.replaced_files.empty();
	if (!context.transaction.IsAutoCommit() && began) {
		throw duckdb::BinderException(
			"MERGE WITH SCHEMA EVOLUTION INTO %s adds columns and must come before the statements of the transaction "
			"that "
			"read or change the table; COMMIT first",
			table.name);
	}
	return Unwrap(FinishDraft(draft));
}

// While it lives, lookups of the table find it with another schema.
class ShownAs {
public:
	ShownAs(TableWork& work, SnapshotPtr view) : work_(work), real_(std::exchange(work.view, std::move(view))) {}
	~ShownAs() { work_.view = std::move(real_); }

private:
	TableWork& work_;
	SnapshotPtr real_;
};

duckdb::BoundStatement BindByName(duckdb::Binder& binder, duckdb::SQLStatement& statement, bool evolves) {
	auto& merge = statement.Cast<MergeIntoStatement>();
	auto target = FindTarget(binder.context, merge);
	if (!target) return binder.Bind(statement);
	auto source = SourceColumns(binder, merge);
	auto& work = LakeTransaction::Get(binder.context, target->catalog).Touch(binder.context, target->table());
	auto evolved = evolves ? Evolved(binder.context, *target, work, source) : nullptr;
	ShownAs shown(work, evolved ? evolved : work.view);
	if (evolved) target = FindTarget(binder.context, merge);
	VisitStars(merge, [&](MergeIntoAction& action) { Expand(action, *target, SourceName(merge), source, evolves); });
	return binder.Bind(statement);
}

}  // namespace

static duckdb::unique_ptr<duckdb::SQLStatement> FinishedWhenBound(duckdb::unique_ptr<duckdb::SQLStatement> merge,
																  bool evolves) {
	if (merge->type != duckdb::StatementType::MERGE_INTO_STATEMENT) return merge;
	bool stars = false;
	VisitStars(merge->Cast<MergeIntoStatement>(), [&](MergeIntoAction&) { stars = true; });
	if (!stars) return merge;
	return BindLater(std::move(merge), [evolves](duckdb::Binder& binder, duckdb::SQLStatement& copy) {
		return BindByName(binder, copy, evolves);
	});
}

duckdb::unique_ptr<duckdb::SQLStatement> WithStarsByName(duckdb::unique_ptr<duckdb::SQLStatement> merge) {
	return FinishedWhenBound(std::move(merge), false);
}

duckdb::unique_ptr<duckdb::SQLStatement> WithEvolvingStars(duckdb::unique_ptr<duckdb::SQLStatement> merge) {
	return FinishedWhenBound(std::move(merge), true);
}

}  // namespace braid::engine
