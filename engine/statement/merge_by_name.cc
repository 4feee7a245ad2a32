// SPDX-License-Identifier: Apache-2.0
// A Relation is the one kind of statement that DuckDB lets bind itself.
#include "engine/statement/merge_by_name.h"

#include <algorithm>

#include "duckdb/catalog/catalog.hpp"
#include "duckdb/catalog/catalog_entry/table_catalog_entry.hpp"
#include "duckdb/common/string_util.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/main/relation.hpp"
#include "duckdb/parser/expression/columnref_expression.hpp"
#include "duckdb/parser/expression/star_expression.hpp"
#include "duckdb/parser/query_node/select_node.hpp"
#include "duckdb/parser/statement/relation_statement.hpp"
#include "duckdb/parser/statement/update_statement.hpp"
#include "duckdb/parser/tableref/basetableref.hpp"
#include "duckdb/planner/binder.hpp"

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
duckdb::optional_ptr<duckdb::TableCatalogEntry> FindTarget(duckdb::ClientContext& context,
														   const MergeIntoStatement& merge) {
	if (merge.target->type != duckdb::TableReferenceType::BASE_TABLE) return nullptr;
	auto& target = merge.target->Cast<duckdb::BaseTableRef>();
	auto catalog = target.catalog_name;
	auto schema = target.schema_name;
	duckdb::Binder::BindSchemaOrCatalog(context, catalog, schema);
	auto entry = duckdb::Catalog::GetEntry<duckdb::TableCatalogEntry>(context, catalog, schema, target.table_name,
																	  duckdb::OnEntryNotFound::RETURN_NULL);
	return entry && entry->ParentCatalog().GetCatalogType() == "braid" ? entry : nullptr;
}

duckdb::vector<std::string> SourceColumns(duckdb::Binder& binder, const MergeIntoStatement& merge) {
	duckdb::SelectNode select;
	select.cte_map = merge.cte_map.Copy();
	select.select_list.push_back(duckdb::make_uniq<duckdb::StarExpression>());
	select.from_table = merge.source->Copy();
	auto inner = duckdb::Binder::CreateBinder(binder.context, binder);
	return inner->Bind(select).names;
}

std::string SourceName(const MergeIntoStatement& merge) {
	if (!merge.source->alias.empty()) return merge.source->alias;
	if (merge.source->type != duckdb::TableReferenceType::BASE_TABLE) return "";
	return merge.source->Cast<duckdb::BaseTableRef>().table_name;
}

void Expand(MergeIntoAction& action, const duckdb::TableCatalogEntry& table, const std::string& source_name,
			const duckdb::vector<std::string>& source) {
	duckdb::vector<std::string> columns;
	duckdb::vector<duckdb::unique_ptr<duckdb::ParsedExpression>> values;
	bool update = action.action_type == MergeActionType::MERGE_UPDATE;
	for (auto& column : table.GetColumns().Physical()) {
		auto same =
			std::ranges::find_if(source, [&](auto& name) { return duckdb::StringUtil::CIEquals(name, column.Name()); });
		if (same == source.end()) {
			throw duckdb::BinderException(
				"[DELTA_MERGE_UNRESOLVED_EXPRESSION] MERGE INTO %s: %s takes each column of the table from the source, "
				"which has no column \"%s\"; it has: %s. Name the columns, or give the source this one",
				table.name, update ? "UPDATE SET *" : "INSERT *", column.Name(),
				duckdb::StringUtil::Join(source, ", "));
		}
		columns.push_back(column.Name());
		values.push_back(source_name.empty() ? duckdb::make_uniq<duckdb::ColumnRefExpression>(*same)
											 : duckdb::make_uniq<duckdb::ColumnRefExpression>(*same, source_name));
	}
	if (update) {
		action.update_info = duckdb::make_uniq<duckdb::UpdateSetInfo>();
		action.update_info->columns = std::move(columns);
		action.update_info->expressions = std::move(values);
	} else {
		action.insert_columns = std::move(columns);
		action.expressions = std::move(values);
	}
}

class MergeByName final : public duckdb::Relation {
public:
	explicit MergeByName(duckdb::unique_ptr<duckdb::SQLStatement> merge)
		: Relation(duckdb::make_shared_ptr<duckdb::ClientContextWrapper>(nullptr),
				   duckdb::RelationType::EXTENSION_RELATION, "merge"),
		  merge_(std::move(merge)) {}

	const duckdb::vector<duckdb::ColumnDefinition>& Columns() override { return columns_; }
	duckdb::unique_ptr<duckdb::QueryNode> GetQueryNode() override {
		throw duckdb::NotImplementedException("A MERGE is no query");
	}
	std::string GetQuery() override { return merge_->query; }
	std::string ToString(duckdb::idx_t) override { return merge_->ToString(); }

	duckdb::BoundStatement Bind(duckdb::Binder& binder) override {
		auto copy = merge_->Copy();
		auto& merge = copy->Cast<MergeIntoStatement>();
		if (auto target = FindTarget(binder.context, merge)) {
			auto source = SourceColumns(binder, merge);
			VisitStars(merge, [&](MergeIntoAction& action) { Expand(action, *target, SourceName(merge), source); });
		}
		return binder.Bind(*copy);
	}

private:
	duckdb::vector<duckdb::ColumnDefinition> columns_;
	duckdb::unique_ptr<duckdb::SQLStatement> merge_;
};

}  // namespace

duckdb::unique_ptr<duckdb::SQLStatement> WithStarsByName(duckdb::unique_ptr<duckdb::SQLStatement> merge) {
	if (merge->type != duckdb::StatementType::MERGE_INTO_STATEMENT) return merge;
	bool stars = false;
	VisitStars(merge->Cast<MergeIntoStatement>(), [&](MergeIntoAction&) { stars = true; });
	if (!stars) return merge;
	auto parameters = merge->named_param_map;
	auto relation = duckdb::make_shared_ptr<MergeByName>(std::move(merge));
	auto statement = duckdb::make_uniq<duckdb::RelationStatement>(std::move(relation));
	statement->named_param_map = std::move(parameters);
	return statement;
}

}  // namespace braid::engine
