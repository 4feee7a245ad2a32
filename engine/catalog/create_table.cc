// SPDX-License-Identifier: Apache-2.0
// From the bound statement to a TableDescription, with everything refused by name that a Delta table cannot keep.
#include "engine/catalog/create_table.h"

#include <algorithm>
#include <filesystem>

#include "base/json.h"
#include "duckdb/common/exception/catalog_exception.hpp"
#include "duckdb/common/string_util.hpp"
#include "duckdb/parser/constraints/check_constraint.hpp"
#include "duckdb/parser/constraints/not_null_constraint.hpp"
#include "duckdb/parser/constraints/unique_constraint.hpp"
#include "duckdb/parser/expression/cast_expression.hpp"
#include "duckdb/parser/expression/columnref_expression.hpp"
#include "duckdb/parser/expression/constant_expression.hpp"
#include "duckdb/parser/parsed_data/create_table_info.hpp"
#include "engine/catalog/column_default.h"
#include "engine/catalog/lake_directory.h"
#include "engine/catalog/new_table.h"
#include "engine/catalog/type_mapping.h"
#include "engine/io/duckdb_parquet_gateway.h"
#include "engine/io/error_translation.h"
#include "engine/statement/column_spelling.h"
#include "engine/statement/create_table_spelling.h"
#include "engine/write/row_rules.h"
#include "engine/write/table_expression.h"
#include "kernel/alter/clustering.h"
#include "kernel/alter/table_changes.h"

namespace braid::engine {

namespace {

using duckdb::CreateTableInfo;

[[noreturn]] void Refuse(const std::string& table, const std::string& what, const std::string& instead) {
	throw duckdb::NotImplementedException("CREATE TABLE %s: %s is not supported%s", table, what, instead);
}

void CheckConstraints(const CreateTableInfo& info) {
	for (auto& constraint : info.constraints) {
		switch (constraint->type) {
			case duckdb::ConstraintType::NOT_NULL:
			case duckdb::ConstraintType::CHECK:
				break;
			case duckdb::ConstraintType::UNIQUE:
				Refuse(info.table,
					   constraint->Cast<duckdb::UniqueConstraint>().IsPrimaryKey() ? "PRIMARY KEY" : "UNIQUE",
					   ": Delta does not enforce keys");
			case duckdb::ConstraintType::FOREIGN_KEY:
				Refuse(info.table, "FOREIGN KEY", ": Delta does not enforce keys");
			default:
				Refuse(info.table, constraint->ToString(), "");
		}
	}
	if (!info.sort_keys.empty())
		Refuse(info.table, "SORTED BY", "; insert the rows in order (INSERT ... SELECT ... ORDER BY)");
}

// GENERATED ... AS IDENTITY, which DuckDB's columns have no room for.
void AddIdentity(const CreateTableInfo& info, Field& field) {
	const auto option = info.options.find(kIdentityOption + field.name);
	if (option == info.options.end()) return;
	const auto refuse = [&](const char* error_class, const std::string& why) {
		throw duckdb::BinderException("[%s] column \"%s\" of table %s cannot be an identity column: %s", error_class,
									  field.name, info.table, why);
	};
	if (field.type->kind != TypeKind::kLong) {
		refuse("DELTA_IDENTITY_COLUMNS_UNSUPPORTED_DATA_TYPE",
			   "it has type " + ToString(*field.type) + ", and must have BIGINT");
	}
	if (field.metadata.contains(kGenerationExpressionKey) || field.metadata.contains(kCurrentDefault))
		refuse("DELTA_IDENTITY_COLUMNS_WITH_GENERATED_EXPRESSION", "it has an expression or a default as well");
	Identity identity;
	const auto words = duckdb::StringUtil::Split(OptionText(*option->second), ' ');
	identity.start = std::stoll(words[0]);
	identity.step = std::stoll(words[1]);
	identity.allows_explicit = words.size() > 2;
	if (identity.step == 0) refuse("DELTA_IDENTITY_COLUMNS_ILLEGAL_STEP", "INCREMENT BY must not be 0");
	WriteIdentity(identity, field.metadata);
}

StructType SchemaOf(const CreateTableInfo& info) {
	StructType schema;
	schema.kind = TypeKind::kStruct;
	for (auto& column : info.columns.Logical()) {
		Field field {column.Name(), ToDeltaType(column.Type(), column.Name()), true, {}};
		if (!column.Comment().IsNull()) field.metadata["comment"] = JsonString(column.Comment().ToString());
		if (column.Generated()) {
			auto& expression = column.GeneratedExpression();
			field.metadata[kGenerationExpressionKey] = JsonString(SparkText(expression));
		} else if (column.HasDefaultValue())
			field.metadata[kCurrentDefault] = JsonString(DefaultText(column.DefaultValue(), column.Name()));
		AddIdentity(info, field);
		schema.fields.push_back(std::move(field));
	}
	for (auto& constraint : info.constraints) {
		if (constraint->type != duckdb::ConstraintType::NOT_NULL) continue;
		schema.fields[constraint->Cast<duckdb::NotNullConstraint>().index.index].nullable = false;
	}
	return schema;
}

std::vector<std::string> PartitionColumns(const CreateTableInfo& info, const StructType& schema) {
	std::vector<std::string> names;
	for (auto& key : info.partition_keys) {
		if (key->GetExpressionType() != duckdb::ExpressionType::COLUMN_REF) {
			Refuse(info.table, "PARTITIONED BY (" + key->ToString() + ")", ": name columns of the table");
		}
		auto& wanted = key->Cast<duckdb::ColumnRefExpression>().GetColumnName();
		auto field =
			std::ranges::find_if(schema.fields, [&](auto& f) { return duckdb::StringUtil::CIEquals(f.name, wanted); });
		if (field == schema.fields.end())
			throw duckdb::BinderException("PARTITIONED BY (%s): no such column in table %s", wanted, info.table);
		if (IsNested(field->type->kind) || field->type->kind == TypeKind::kVariant) {
			Refuse(info.table, "PARTITIONED BY (" + wanted + ")",
				   ": a column of type " + ToString(*field->type) + " cannot partition");
		}
		if (IdentityOf(*field)) {
			throw duckdb::BinderException(
				"[DELTA_IDENTITY_COLUMNS_PARTITION_NOT_SUPPORTED] PARTITIONED BY (%s): an identity column of table %s "
				"cannot partition it",
				wanted, info.table);
		}
		if (std::ranges::find(names, field->name) != names.end())
			throw duckdb::BinderException("PARTITIONED BY names %s twice", wanted);
		names.push_back(field->name);
	}
	if (!names.empty() && names.size() == schema.fields.size()) {
		throw duckdb::BinderException("Table %s: at least one column must not be a partition column", info.table);
	}
	return names;
}

TableDescription Describe(const CreateTableInfo& info, const std::string& location) {
	CheckConstraints(info);
	TableDescription table;
	table.location = location;
	if (!info.comment.IsNull()) table.description = info.comment.ToString();
	table.schema = SchemaOf(info);
	table.partition_columns = PartitionColumns(info, table.schema);
	for (auto& [key, value] : info.options) {
		const auto text = OptionText(*value);
		if (key == kLocationOption && AbsoluteDirectory(text) != location) {
			Refuse(info.table, "LOCATION '" + text + "'", ": the table is made in " + location);
		}
		if (key[0] != kUsingOption[0]) table.properties.emplace_back(key, text);
	}
	return table;
}

// CHECK constraints and clustering of a table that is described: what ALTER TABLE would do to it (kernel/alter).
TableDraft WithDemands(const CreateTableInfo& info, const SnapshotPtr& view) {
	auto draft = DraftOf(view);
	int number = 0;
	for (auto& constraint : info.constraints) {
		if (constraint->type != duckdb::ConstraintType::CHECK) continue;
		auto& condition = *constraint->Cast<duckdb::CheckConstraint>().expression;
		Unwrap(AddConstraint(draft, "check_" + std::to_string(++number), SparkText(condition)));
	}
	const auto clustering = info.options.find(kClusteringOption);
	if (clustering != info.options.end()) {
		const auto names = OptionText(*clustering->second);
		std::vector<ColumnPath> columns;
		TokenCursor cursor(names, Tokenize(names));
		do {
			columns.push_back(TakePath(cursor));
		} while (cursor.Take({","}));
		Unwrap(ClusterBy(draft, std::move(columns)));
	} else if (!Unwrap(ClusteringColumns(draft)).empty()) {
		Unwrap(ClusterBy(draft, {}));
	}
	return draft;
}

// properties.md 6.4: maps and lists are JSON inside a JSON string.
std::map<std::string, std::string> Parameters(const Snapshot& view) {
	auto& metadata = view.metadata;
	std::vector<std::string> clustering;
	for (auto& column : Unwrap(ClusteringColumns(view))) clustering.push_back(ToString(column));
	std::string properties = "{";
	for (auto& [key, value] : metadata.configuration) {
		properties += (properties.size() > 1 ? "," : "") + JsonString(key) + ":" + JsonString(value);
	}
	return {{"isManaged", JsonString("false")},
			{"description", metadata.description ? JsonString(*metadata.description) : "null"},
			{"partitionBy", JsonString(JsonStringList(metadata.partition_columns))},
			{"clusterBy", JsonString(JsonStringList(clustering))},
			{"properties", JsonString(properties + "}")}};
}

// Data files of a creation that was cut short, or that another process has not committed yet, do not count as foreign.
bool LooksLikeOurs(const std::string& name) {
	return (name.starts_with("part-") && name.find(".c000.") != std::string::npos) ||
		   name.find('=') != std::string::npos;
}

}  // namespace

SnapshotPtr TableAt(duckdb::ClientContext& context, LakeTransaction& transaction,
					const std::shared_ptr<TableHandle>& table) {
	if (auto* work = transaction.Find(table->root())) return work->view;
	DuckdbParquetGateway parquet(*context.db);
	auto snapshot = table->Latest(parquet);
	if (snapshot) return transaction.Touch(context, table).view;
	if (snapshot.error().kind != ErrorKind::kNotFound) Throw(snapshot.error());
	return nullptr;
}

void CheckDirectoryIsFree(const std::string& root, const std::string& name) {
	std::error_code error;
	for (auto& entry : std::filesystem::directory_iterator(root, error)) {
		auto child = entry.path().filename().string();
		if (LooksLikeOurs(child) || (child != "_SUCCESS" && (child.starts_with(".") || child.starts_with("_"))))
			continue;
		throw duckdb::CatalogException(
			"CREATE TABLE %s: directory %s is not empty and not a Delta table (it holds \"%s\")", name, root, child);
	}
}

duckdb::ErrorData CheckCreateTable(duckdb::BoundCreateTableInfo&) { return {}; }

// The grammar gives true and false as casts of 't' and 'f' to a type that is not bound yet.
std::string OptionText(const duckdb::ParsedExpression& option) {
	if (option.GetExpressionType() == duckdb::ExpressionType::VALUE_CONSTANT) {
		return option.Cast<duckdb::ConstantExpression>().value.ToString();
	}
	if (option.GetExpressionType() == duckdb::ExpressionType::OPERATOR_CAST) {
		auto& cast = option.Cast<duckdb::CastExpression>();
		if (cast.child->GetExpressionType() == duckdb::ExpressionType::VALUE_CONSTANT) {
			auto text = cast.child->Cast<duckdb::ConstantExpression>().value.ToString();
			bool boolean = duckdb::StringUtil::CIEquals(cast.cast_type.ToString(), "BOOLEAN");
			return boolean && text == "t" ? "true" : boolean && text == "f" ? "false" : text;
		}
	}
	return option.ToString();
}

bool CreateTable(duckdb::ClientContext& context, LakeTransaction& transaction,
				 const std::shared_ptr<TableHandle>& table, duckdb::BoundCreateTableInfo& bound, bool as_query) {
	auto& info = bound.Base();
	auto existing = TableAt(context, transaction, table);
	bool replace = info.on_conflict == duckdb::OnCreateConflict::REPLACE_ON_CONFLICT;
	if (existing && info.on_conflict == duckdb::OnCreateConflict::IGNORE_ON_CONFLICT) return false;
	if (existing && !replace)
		throw duckdb::CatalogException::EntryAlreadyExists(duckdb::CatalogType::TABLE_ENTRY, info.table);
	const bool must_replace = info.options.contains(kReplaceOption);
	if (!existing && must_replace) {
		throw duckdb::CatalogException(
			"[DELTA_CANNOT_REPLACE_MISSING_TABLE] REPLACE TABLE %s: there is no such table; CREATE OR REPLACE TABLE "
			"makes "
			"one. SQLSTATE: 42P01",
			info.table);
	}
	bool committed = existing && existing->version >= 0;
	if (!existing) CheckDirectoryIsFree(table->root(), info.table);
	auto described = Unwrap(DescribeNewTable(Describe(info, table->root()), committed ? existing : nullptr));
	const auto draft = WithDemands(info, described);
	auto view = Unwrap(FinishDraft(draft));
	RowRules understood(context, view);

	auto& work = transaction.Create(context, table);
	std::lock_guard guard(work.mutex);
	auto& changes = work.work.changes;
	changes = StagedChanges();
	changes.protocol = view->protocol;
	changes.metadata = view->metadata;
	changes.domains = draft.domains;
	changes.removes_all = committed;
	work.view = view;
	work.work.create_if_not_exists = !as_query && info.on_conflict == duckdb::OnCreateConflict::IGNORE_ON_CONFLICT;
	work.work.operation = std::string(must_replace ? "REPLACE TABLE"
									  : replace    ? "CREATE OR REPLACE TABLE"
												   : "CREATE TABLE") +
						  (as_query ? " AS SELECT" : "");
	work.work.operation_parameters = Parameters(*view);
	work.work.operation_metrics.clear();
	return true;
}

}  // namespace braid::engine
