// SPDX-License-Identifier: Apache-2.0
// One function for each kind of AlterInfo; AlterInfo::ToString is not to be trusted (it throws for fields of structs).
#include "engine/catalog/alter_table.h"

#include <set>

#include "base/json.h"
#include "duckdb/common/exception.hpp"
#include "duckdb/common/exception/transaction_exception.hpp"
#include "duckdb/parser/expression/cast_expression.hpp"
#include "duckdb/parser/parsed_data/alter_table_info.hpp"
#include "duckdb/parser/parsed_data/comment_on_column_info.hpp"
#include "engine/catalog/column_default.h"
#include "engine/catalog/create_table.h"
#include "engine/catalog/transaction.h"
#include "engine/catalog/type_mapping.h"
#include "engine/io/error_translation.h"
#include "engine/write/present_rows.h"
#include "engine/write/staging.h"
#include "kernel/alter/columns.h"
#include "kernel/alter/table_changes.h"
#include "kernel/feature/write_requirements.h"
#include "kernel/txn/gate.h"

namespace braid::engine {

namespace {

using duckdb::AlterTableType;

// What was read or written before would be judged under another schema than it was made under.
void RefuseAfterOtherWork(duckdb::ClientContext& context, const TableWork& work) {
	auto& changes = work.work.changes;
	const bool rows = !changes.new_files.empty() || !changes.deleted_rows.empty() || !changes.replaced_files.empty() ||
					  (changes.removes_all && work.work.base);
	if (context.transaction.IsAutoCommit() || (work.work.reads.empty() && !rows)) return;
	throw duckdb::TransactionException(
		"ALTER TABLE %s inside BEGIN ... COMMIT must come before the statements that read or change the table; COMMIT "
		"first, then alter it",
		work.table->root());
}

ColumnPath PathOf(const duckdb::vector<duckdb::string>& names) { return {names.begin(), names.end()}; }

Field FieldOf(const duckdb::ColumnDefinition& column) {
	Field field {column.Name(), ToDeltaType(column.Type(), column.Name()), true, {}};
	if (!column.Comment().IsNull()) field.metadata["comment"] = JsonString(column.Comment().ToString());
	if (column.HasDefaultValue()) {
		const auto text = DefaultText(column.DefaultValue(), column.Name());
		if (text != "NULL") field.metadata[kCurrentDefault] = JsonString(text);
	}
	return field;
}

bool Exists(const TableDraft& draft, ColumnPath path) { return FindColumn(*draft.schema, path) != nullptr; }

void ChangeType(TableDraft& draft, duckdb::ChangeColumnTypeInfo& info) {
	auto& expression = *info.expression;
	const bool plain =
		expression.GetExpressionType() == duckdb::ExpressionType::OPERATOR_CAST &&
		expression.Cast<duckdb::CastExpression>().child->GetExpressionType() == duckdb::ExpressionType::COLUMN_REF;
	if (!plain) {
		throw duckdb::NotImplementedException(
			"ALTER COLUMN \"%s\" ... USING %s is not supported: data files are not rewritten. UPDATE a new column "
			"instead",
			info.column_name, expression.ToString());
	}
	Unwrap(ChangeColumnType(draft, {info.column_name}, ToDeltaType(info.target_type, info.column_name)));
}

void Change(TableDraft& draft, duckdb::AlterTableInfo& info) {
	switch (info.alter_table_type) {
		case AlterTableType::ADD_COLUMN: {
			auto& add = info.Cast<duckdb::AddColumnInfo>();
			if (add.if_column_not_exists && Exists(draft, {add.new_column.Name()})) return;
			return Unwrap(AddColumn(draft, {}, FieldOf(add.new_column), {}, SystemRandom()));
		}
		case AlterTableType::ADD_FIELD: {
			auto& add = info.Cast<duckdb::AddFieldInfo>();
			auto parent = PathOf(add.column_path);
			auto path = parent;
			path.push_back(add.new_field.Name());
			if (add.if_field_not_exists && Exists(draft, path)) return;
			return Unwrap(AddColumn(draft, parent, FieldOf(add.new_field), {}, SystemRandom()));
		}
		case AlterTableType::REMOVE_COLUMN: {
			auto& remove = info.Cast<duckdb::RemoveColumnInfo>();
			if (remove.if_column_exists && !Exists(draft, {remove.removed_column})) return;
			return Unwrap(DropColumn(draft, {remove.removed_column}));
		}
		case AlterTableType::REMOVE_FIELD: {
			auto& remove = info.Cast<duckdb::RemoveFieldInfo>();
			if (remove.if_column_exists && !Exists(draft, PathOf(remove.column_path))) return;
			return Unwrap(DropColumn(draft, PathOf(remove.column_path)));
		}
		case AlterTableType::RENAME_COLUMN: {
			auto& rename = info.Cast<duckdb::RenameColumnInfo>();
			return Unwrap(RenameColumn(draft, {rename.old_name}, rename.new_name));
		}
		case AlterTableType::RENAME_FIELD: {
			auto& rename = info.Cast<duckdb::RenameFieldInfo>();
			return Unwrap(RenameColumn(draft, PathOf(rename.column_path), rename.new_name));
		}
		case AlterTableType::ALTER_COLUMN_TYPE:
			return ChangeType(draft, info.Cast<duckdb::ChangeColumnTypeInfo>());
		case AlterTableType::SET_DEFAULT: {
			auto& set = info.Cast<duckdb::SetDefaultInfo>();
			std::optional<std::string> json;
			if (set.expression) json = JsonString(DefaultText(*set.expression, set.column_name));
			return Unwrap(SetColumnMetadata(draft, {set.column_name}, kCurrentDefault, json));
		}
		case AlterTableType::SET_NOT_NULL:
			return Unwrap(SetColumnNullable(draft, {info.Cast<duckdb::SetNotNullInfo>().column_name}, false));
		case AlterTableType::DROP_NOT_NULL:
			return Unwrap(SetColumnNullable(draft, {info.Cast<duckdb::DropNotNullInfo>().column_name}, true));
		case AlterTableType::SET_TABLE_OPTIONS: {
			Properties properties;
			for (auto& [key, value] : info.Cast<duckdb::SetTableOptionsInfo>().table_options)
				properties.emplace_back(key, OptionText(*value));
			return Unwrap(AlterProperties(draft, properties, SystemRandom()));
		}
		case AlterTableType::RESET_TABLE_OPTIONS: {
			auto& reset = info.Cast<duckdb::ResetTableOptionsInfo>().table_options;
			return Unwrap(AlterProperties(draft, {reset.begin(), reset.end()}, false));
		}
		case AlterTableType::SET_PARTITIONED_BY:
			throw duckdb::NotImplementedException(
				"ALTER TABLE ... SET PARTITIONED BY is not supported: every file would have to be rewritten. Make the "
				"table anew: CREATE OR REPLACE TABLE ... PARTITIONED BY (...) AS SELECT ...");
		case AlterTableType::SET_SORTED_BY:
			throw duckdb::NotImplementedException(
				"ALTER TABLE ... SET SORTED BY is not supported; ALTER TABLE ... CLUSTER BY (columns) is");
		default:
			throw duckdb::NotImplementedException("this ALTER TABLE is not supported for tables of a lake");
	}
}

void ChangeByInfo(TableDraft& draft, duckdb::AlterInfo& info) {
	switch (info.type) {
		case duckdb::AlterType::ALTER_TABLE:
			return Change(draft, info.Cast<duckdb::AlterTableInfo>());
		case duckdb::AlterType::SET_COMMENT: {
			auto& comment = info.Cast<duckdb::SetCommentInfo>().comment_value;
			return Unwrap(SetTableComment(draft, comment.IsNull() ? std::nullopt : std::optional(comment.ToString())));
		}
		case duckdb::AlterType::SET_COLUMN_COMMENT: {
			auto& comment = info.Cast<duckdb::SetColumnCommentInfo>();
			std::optional<std::string> json;
			if (!comment.comment_value.IsNull()) json = JsonString(comment.comment_value.ToString());
			return Unwrap(SetColumnMetadata(draft, {comment.column_name}, "comment", json));
		}
		default:
			throw duckdb::NotImplementedException("this ALTER is not supported for tables of a lake");
	}
}

// A table that this transaction creates keeps the name of its operation.
void Stage(TableWork& work, const TableDraft& draft, const SnapshotPtr& after) {
	const bool creates = work.work.operation.find("TABLE") != std::string::npos && work.work.changes.metadata &&
						 (!work.work.base || work.work.changes.removes_all);
	if (!creates) {
		NameOperation(work, draft.operation);
		if (work.work.operation == draft.operation) work.work.operation_parameters = draft.parameters;
	}
	std::lock_guard guard(work.mutex);
	auto& changes = work.work.changes;
	changes.metadata = after->metadata;
	if (!(after->protocol == draft.before->protocol)) changes.protocol = after->protocol;
	for (auto& domain : draft.domains) {
		std::erase_if(changes.domains, [&](auto& known) { return known.domain == domain.domain; });
		changes.domains.push_back(domain);
	}
	work.view = after;
}

}  // namespace

void StageAlteration(duckdb::ClientContext& context, LakeCatalog& lake, const std::shared_ptr<TableHandle>& table,
					 const std::function<void(TableDraft&)>& change) {
	auto& work = LakeTransaction::Get(context, lake).Modify(context, table);
	RefuseAfterOtherWork(context, work);
	Unwrap(CheckWrite(*work.view, TableOperation::kAlter));
	auto draft = DraftOf(work.view);
	change(draft);
	auto after = Unwrap(FinishDraft(draft));
	if (SameMetadata(after->metadata, draft.before->metadata) && after->protocol == draft.before->protocol &&
		draft.domains.empty())
		return;  // it is so already
	CheckPresentRows(context, lake, work, after);
	Stage(work, draft, after);
}

void AlterTable(duckdb::ClientContext& context, LakeCatalog& lake, const std::shared_ptr<TableHandle>& table,
				duckdb::AlterInfo& info) {
	StageAlteration(context, lake, table, [&](TableDraft& draft) { ChangeByInfo(draft, info); });
}

}  // namespace braid::engine
