// SPDX-License-Identifier: Apache-2.0
// braid_alter_table('table', 'what', [arguments], if_exists): what ALTER TABLE in Delta's words is respelled to. The table is found when the
// call is bound; the change is staged when it is executed, once.
#include "base/environment.h"
#include "base/json.h"
#include "duckdb/common/exception.hpp"
#include "duckdb/common/exception/transaction_exception.hpp"
#include "duckdb/execution/expression_executor.hpp"
#include "duckdb/function/scalar_function.hpp"
#include "duckdb/function/table_function.hpp"
#include "duckdb/main/extension/extension_loader.hpp"
#include "duckdb/parser/column_list.hpp"
#include "duckdb/parser/parser.hpp"
#include "duckdb/parser/qualified_name.hpp"
#include "duckdb/planner/binder.hpp"
#include "duckdb/planner/expression/bound_function_expression.hpp"
#include "engine/catalog/alter_table.h"
#include "engine/catalog/column_default.h"
#include "engine/catalog/transaction.h"
#include "engine/catalog/type_mapping.h"
#include "engine/io/duckdb_parquet_gateway.h"
#include "engine/io/error_translation.h"
#include "engine/statement/alter_spelling.h"
#include "engine/statement/column_spelling.h"
#include "engine/statement/named_table.h"
#include "engine/write/present_rows.h"
#include "engine/write/table_expression.h"
#include "kernel/alter/clustering.h"
#include "kernel/alter/columns.h"
#include "kernel/alter/drop_feature.h"
#include "kernel/alter/table_changes.h"
#include "kernel/log/checkpoint_write.h"
#include "kernel/log/log_cleanup.h"

namespace braid::engine {

namespace {

using Arguments = std::vector<std::optional<std::string>>;

struct AlterData : duckdb::FunctionData {
	duckdb::optional_ptr<LakeCatalog> lake;  // null: IF EXISTS, and there is no such table
	std::shared_ptr<TableHandle> table;
	std::string what;
	Arguments arguments;
	duckdb::vector<duckdb::LogicalType> types;  // of the columns that are added or changed

	duckdb::unique_ptr<FunctionData> Copy() const override { return duckdb::make_uniq<AlterData>(*this); }
	bool Equals(const FunctionData& other) const override { return this == &other; }
};

struct AlterState : duckdb::GlobalTableFunctionState {
	bool done = false;
};

ColumnPath PathOf(const std::string& quoted) {
	auto names = duckdb::QualifiedName::ParseComponents(quoted);
	return {names.begin(), names.end()};
}

ColumnPosition PositionOf(const std::optional<std::string>& text) {
	if (!text) return {};
	return text->empty() ? ColumnPosition {true, ""} : ColumnPosition {false, *text};
}

// Which argument of each group names a type, and how many there are in a group.
constexpr size_t kAddGroup = 6;

std::optional<std::string> DefaultJson(const std::optional<std::string>& text, const std::string& column) {
	if (!text) return std::nullopt;
	auto parsed = duckdb::Parser::ParseExpressionList(*text);
	if (parsed.size() != 1)
		throw duckdb::BinderException("DEFAULT of column \"%s\": %s is not one value", column, *text);
	const auto stored = DefaultText(*parsed[0], column);
	return stored == "NULL" ? std::nullopt : std::optional(JsonString(stored));
}

// The column that the arguments from `i` on describe.
Field FieldAt(const AlterData& data, size_t i) {
	const auto name = PathOf(*data.arguments[i]).back();
	Field field {name, ToDeltaType(data.types[i / kAddGroup], name), !data.arguments[i + 5], {}};
	if (auto json = DefaultJson(data.arguments[i + 2], name)) field.metadata[kCurrentDefault] = *json;
	if (auto& comment = data.arguments[i + 3]) field.metadata["comment"] = JsonString(*comment);
	return field;
}

void AddColumns(TableDraft& draft, const AlterData& data, bool if_missing) {
	for (size_t i = 0; i + kAddGroup <= data.arguments.size(); i += kAddGroup) {
		auto path = PathOf(*data.arguments[i]);
		if (auto known = path; if_missing && FindColumn(*draft.schema, known) != nullptr) continue;
		path.pop_back();
		Unwrap(AddColumn(draft, path, FieldAt(data, i), PositionOf(data.arguments[i + 4]), SystemRandom()));
	}
}

void DropColumns(TableDraft& draft, const Arguments& columns, bool if_exists) {
	for (auto& column : columns) {
		auto path = PathOf(*column);
		if (auto known = path; if_exists && FindColumn(*draft.schema, known) == nullptr) continue;
		Unwrap(DropColumn(draft, path));
	}
}

void SetProperties(TableDraft& draft, const Arguments& arguments) {
	Properties properties;
	for (size_t i = 0; i + 1 < arguments.size(); i += 2) properties.emplace_back(*arguments[i], *arguments[i + 1]);
	Unwrap(AlterProperties(draft, properties, SystemRandom()));
}

void UnsetProperties(TableDraft& draft, const Arguments& arguments, bool if_exists) {
	std::vector<std::string> names;
	for (auto& name : arguments) names.push_back(*name);
	Unwrap(AlterProperties(draft, names, if_exists));
}

void Change(TableDraft& draft, const AlterData& data) {
	auto& what = data.what;
	auto& arguments = data.arguments;
	const auto json = [](const std::optional<std::string>& text) {
		return text ? std::optional(JsonString(*text)) : std::nullopt;
	};
	if (what == "ADD COLUMNS") return AddColumns(draft, data, false);
	if (what == "ADD COLUMNS IF NOT EXISTS") return AddColumns(draft, data, true);
	if (what == "REPLACE COLUMNS") {
		std::vector<Field> columns;
		for (size_t i = 0; i + kAddGroup <= arguments.size(); i += kAddGroup) columns.push_back(FieldAt(data, i));
		return Unwrap(ReplaceColumns(draft, columns, SystemRandom()));
	}
	if (what == "DROP COLUMNS") return DropColumns(draft, arguments, false);
	if (what == "DROP COLUMNS IF EXISTS") return DropColumns(draft, arguments, true);
	if (what == "SET TBLPROPERTIES") return SetProperties(draft, arguments);
	if (what == "UNSET TBLPROPERTIES") return UnsetProperties(draft, arguments, false);
	if (what == "UNSET TBLPROPERTIES IF EXISTS") return UnsetProperties(draft, arguments, true);
	if (what == "ADD CONSTRAINT") {
		return Unwrap(AddConstraint(draft, *arguments[0], SparkText(*arguments[1])));
	}
	if (what.starts_with("DROP CONSTRAINT")) {
		(void)Unwrap(DropConstraint(draft, *arguments[0], what.ends_with("EXISTS")));
		return;
	}
	if (what == "CLUSTER BY") {
		std::vector<ColumnPath> columns;
		for (auto& column : arguments) columns.push_back(PathOf(*column));
		return Unwrap(ClusterBy(draft, std::move(columns)));
	}
	const auto column = PathOf(*arguments[0]);
	if (what == "MOVE COLUMN") return Unwrap(MoveColumn(draft, column, PositionOf(arguments[1])));
	if (what == "COMMENT ON COLUMN") return Unwrap(SetColumnMetadata(draft, column, "comment", json(arguments[1])));
	if (what == "SET NOT NULL") return Unwrap(SetColumnNullable(draft, column, false));
	if (what == "DROP NOT NULL") return Unwrap(SetColumnNullable(draft, column, true));
	if (what == "SET DEFAULT") {
		return Unwrap(SetColumnMetadata(draft, column, kCurrentDefault, DefaultJson(arguments[1], column.back())));
	}
	if (what == "CHANGE COLUMN") {
		Unwrap(ChangeColumnType(draft, column, ToDeltaType(data.types[0], column.back())));
		if (arguments[2]) Unwrap(SetColumnMetadata(draft, column, "comment", json(arguments[2])));
		return;
	}
	throw duckdb::InvalidInputException("braid_alter_table: unknown change \"%s\"", what);
}

void Sync(TableDraft& draft, duckdb::ClientContext& context, TableWork& work, const AlterData& data) {
	auto column = PathOf(*data.arguments[0]);
	const auto identity = Unwrap(IdentityToSync(draft, column));
	FindColumn(*draft.schema, column);
	Unwrap(SyncIdentity(draft, column, ExtremeValue(context, work, column.back(), identity.step > 0)));
}

void Drop(TableDraft& draft, duckdb::ClientContext& context, const AlterData& data) {
	auto& name = *data.arguments[0];
	const bool truncate = data.arguments[1].has_value();
	Unwrap(DropFeature(draft, name, truncate));
	auto& store = data.table->store();
	if (!Unwrap(CheckHistory(store, *draft.before, name, truncate, SystemClock().NowMs()))) return;
	if (!context.transaction.IsAutoCommit()) {
		throw duckdb::TransactionException(
			"DROP FEATURE %s TRUNCATE HISTORY cuts off the log of table %s at once, so it "
			"is refused inside BEGIN ... COMMIT",
			name, draft.before->table);
	}
	DuckdbParquetGateway parquet(*context.db);
	const auto written = WriteCheckpoint({store, parquet}, SystemClock(), SystemRandom(), *draft.before);
	if (!written && written.error().kind != ErrorKind::kAlreadyExists) Throw(written.error());
	Unwrap(DeleteLogBefore(store, draft.before->version));
}

duckdb::unique_ptr<duckdb::FunctionData> Bind(duckdb::ClientContext& context, duckdb::TableFunctionBindInput& input,
											  duckdb::vector<duckdb::LogicalType>& types,
											  duckdb::vector<duckdb::string>& names) {
	types.emplace_back(duckdb::LogicalType::BOOLEAN);
	names.emplace_back("Success");
	for (auto& value : input.inputs) {
		if (value.IsNull()) throw duckdb::BinderException("braid_alter_table: an argument is NULL");
	}
	auto data = duckdb::make_uniq<AlterData>();
	data->what = duckdb::StringValue::Get(input.inputs[1]);
	for (auto& item : duckdb::ListValue::GetChildren(input.inputs[2])) {
		data->arguments.push_back(item.IsNull() ? std::nullopt : std::optional(duckdb::StringValue::Get(item)));
	}
	const auto name = duckdb::StringValue::Get(input.inputs[0]);
	if (duckdb::BooleanValue::Get(input.inputs[3]) && !NamedTableExists(context, name)) return data;
	auto found = FindTableToChange(context, input, name, "ALTER TABLE", duckdb::DatabaseModificationType::ALTER_TABLE);
	data->lake = found.lake;
	data->table = found.table;
	const bool adds = data->what.starts_with("ADD COLUMNS") || data->what == "REPLACE COLUMNS";
	if (adds || data->what == "CHANGE COLUMN") {
		for (size_t i = 1; i < data->arguments.size(); i += adds ? kAddGroup : 3)
			data->types.push_back(BindType(*input.binder, *data->arguments[i]));
	}
	return data;
}

duckdb::unique_ptr<duckdb::GlobalTableFunctionState> Start(duckdb::ClientContext&, duckdb::TableFunctionInitInput&) {
	return duckdb::make_uniq<AlterState>();
}

void Run(duckdb::ClientContext& context, duckdb::TableFunctionInput& input, duckdb::DataChunk&) {
	auto& state = input.global_state->Cast<AlterState>();
	auto& data = input.bind_data->Cast<AlterData>();
	if (state.done || !data.lake) return;
	state.done = true;
	auto lake = data.lake;
	StageAlteration(context, *lake, data.table, [&](TableDraft& draft) {
		if (data.what == "SYNC IDENTITY") {
			Sync(draft, context, LakeTransaction::Get(context, *lake).Modify(context, data.table), data);
		} else if (data.what == "DROP FEATURE") {
			Drop(draft, context, data);
		} else {
			Change(draft, data);
		}
	});
}

}  // namespace

namespace {

struct NotInLakeData : duckdb::FunctionData {
	explicit NotInLakeData(bool answer_p) : answer(answer_p) {}
	bool answer;
	duckdb::unique_ptr<FunctionData> Copy() const override { return duckdb::make_uniq<NotInLakeData>(answer); }
	bool Equals(const FunctionData& other) const override { return answer == other.Cast<NotInLakeData>().answer; }
};

duckdb::unique_ptr<duckdb::FunctionData> BindNotInLake(
	duckdb::ClientContext& context, duckdb::ScalarFunction&,
	duckdb::vector<duckdb::unique_ptr<duckdb::Expression>>& arguments) {
	const auto name = duckdb::ExpressionExecutor::EvaluateScalar(context, *arguments[0]);
	return duckdb::make_uniq<NotInLakeData>(!IsLakeTable(context, name.ToString()));
}

void NotInLake(duckdb::DataChunk&, duckdb::ExpressionState& state, duckdb::Vector& result) {
	auto& data = state.expr.Cast<duckdb::BoundFunctionExpression>().bind_info->Cast<NotInLakeData>();
	result.Reference(duckdb::Value::BOOLEAN(data.answer));
}

}  // namespace

void RegisterAlterFunction(duckdb::ExtensionLoader& loader) {
	using duckdb::LogicalType;
	loader.RegisterFunction(
		duckdb::ScalarFunction(kNotInLake, {LogicalType::VARCHAR}, LogicalType::BOOLEAN, NotInLake, BindNotInLake));
	duckdb::TableFunction function(
		"braid_alter_table",
		{LogicalType::VARCHAR, LogicalType::VARCHAR, LogicalType::LIST(LogicalType::VARCHAR), LogicalType::BOOLEAN},
		Run, Bind, Start);
	loader.RegisterFunction(function);
}

}  // namespace braid::engine
