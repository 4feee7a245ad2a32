// SPDX-License-Identifier: Apache-2.0
#include "engine/statement/late_binding.h"

#include <filesystem>

#include "duckdb/common/exception/binder_exception.hpp"
#include "duckdb/common/string_util.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/main/relation.hpp"
#include "duckdb/parser/statement/delete_statement.hpp"
#include "duckdb/parser/statement/insert_statement.hpp"
#include "duckdb/parser/statement/merge_into_statement.hpp"
#include "duckdb/parser/statement/relation_statement.hpp"
#include "duckdb/parser/statement/update_statement.hpp"
#include "duckdb/parser/tableref/basetableref.hpp"
#include "duckdb/planner/binder.hpp"
#include "engine/catalog/attached_lakes.h"
#include "engine/statement/named_table.h"
#include "engine/write/insert_mode.h"

namespace braid::engine {

namespace {

duckdb::optional_ptr<duckdb::BaseTableRef> TargetOf(duckdb::SQLStatement& statement) {
	duckdb::optional_ptr<duckdb::TableRef> target;
	if (statement.type == duckdb::StatementType::UPDATE_STATEMENT) {
		target = statement.Cast<duckdb::UpdateStatement>().table.get();
	} else if (statement.type == duckdb::StatementType::DELETE_STATEMENT) {
		target = statement.Cast<duckdb::DeleteStatement>().table.get();
	} else if (statement.type == duckdb::StatementType::MERGE_INTO_STATEMENT) {
		target = statement.Cast<duckdb::MergeIntoStatement>().target.get();
	}
	if (!target || target->type != duckdb::TableReferenceType::BASE_TABLE) return nullptr;
	return target->Cast<duckdb::BaseTableRef>();
}

bool HasPathTarget(duckdb::SQLStatement& statement) {
	if (statement.type == duckdb::StatementType::INSERT_STATEMENT) {
		auto& insert = statement.Cast<duckdb::InsertStatement>();
		return IsPathName(insert.catalog, insert.schema, SplitInsertMode(insert.table).first);
	}
	auto target = TargetOf(statement);
	return target && IsPathName(target->catalog_name, target->schema_name, target->table_name);
}

// The name, in the lake that shows it, of the table at a path.
void FindByPath(duckdb::ClientContext& context, std::string& catalog, std::string& schema, std::string& table) {
	const auto directory = AbsoluteDirectory(table);
	auto lake = LakeOfTable(context, directory);
	if (!lake) {
		throw duckdb::BinderException(
			"delta.`%s`: attach the directory that it lies in first (ATTACH '...' AS lake (TYPE braid))", table);
	}
	catalog = lake->GetName();
	schema = DEFAULT_SCHEMA;
	if (lake->lake().is_one_table()) {
		table = lake->lake().Tables(schema)[0];
		return;
	}
	const std::filesystem::path below = directory.substr(lake->lake().root().size() + 1);
	if (below.has_parent_path()) schema = below.parent_path().string();
	table = below.filename().string();
}

void FindPathTarget(duckdb::ClientContext& context, duckdb::SQLStatement& statement) {
	if (!HasPathTarget(statement)) return;
	if (statement.type == duckdb::StatementType::INSERT_STATEMENT) {
		auto& insert = statement.Cast<duckdb::InsertStatement>();
		auto [table, mode] = SplitInsertMode(insert.table);
		FindByPath(context, insert.catalog, insert.schema, table);
		insert.table = mode ? WithInsertMode(table, *mode) : table;
		return;
	}
	auto target = TargetOf(statement);
	if (target->alias.empty()) target->alias = target->table_name;
	FindByPath(context, target->catalog_name, target->schema_name, target->table_name);
}

class LateStatement final : public duckdb::Relation {
public:
	LateStatement(duckdb::unique_ptr<duckdb::SQLStatement> statement, BindLate bind)
		: Relation(duckdb::make_shared_ptr<duckdb::ClientContextWrapper>(nullptr),
				   duckdb::RelationType::EXTENSION_RELATION, "statement"),
		  statement_(std::move(statement)),
		  bind_(std::move(bind)) {}

	const duckdb::vector<duckdb::ColumnDefinition>& Columns() override { return columns_; }
	duckdb::unique_ptr<duckdb::QueryNode> GetQueryNode() override {
		throw duckdb::NotImplementedException("This statement is no query");
	}
	std::string GetQuery() override { return statement_->query; }
	std::string ToString(duckdb::idx_t) override { return statement_->ToString(); }

	duckdb::BoundStatement Bind(duckdb::Binder& binder) override {
		auto copy = statement_->Copy();
		FindPathTarget(binder.context, *copy);
		return bind_(binder, *copy);
	}

private:
	duckdb::vector<duckdb::ColumnDefinition> columns_;
	duckdb::unique_ptr<duckdb::SQLStatement> statement_;
	BindLate bind_;
};

}  // namespace

duckdb::unique_ptr<duckdb::SQLStatement> BindLater(duckdb::unique_ptr<duckdb::SQLStatement> statement, BindLate bind) {
	auto parameters = statement->named_param_map;
	auto relation = duckdb::make_shared_ptr<LateStatement>(std::move(statement), std::move(bind));
	auto late = duckdb::make_uniq<duckdb::RelationStatement>(std::move(relation));
	late->named_param_map = std::move(parameters);
	return late;
}

duckdb::unique_ptr<duckdb::SQLStatement> WithPathTarget(duckdb::unique_ptr<duckdb::SQLStatement> statement) {
	if (!HasPathTarget(*statement)) return statement;
	return BindLater(std::move(statement),
					 [](duckdb::Binder& binder, duckdb::SQLStatement& copy) { return binder.Bind(copy); });
}

}  // namespace braid::engine
