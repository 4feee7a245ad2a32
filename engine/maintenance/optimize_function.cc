// SPDX-License-Identifier: Apache-2.0
// The files are chosen when the statement is bound; it is bound anew for each execution.
#include "engine/maintenance/maintenance_functions.h"

#include <algorithm>
#include <set>

#include "base/environment.h"
#include "base/json.h"
#include "duckdb/common/exception/binder_exception.hpp"
#include "duckdb/common/multi_file/multi_file_reader.hpp"
#include "duckdb/common/multi_file/multi_file_states.hpp"
#include "duckdb/common/string_util.hpp"
#include "duckdb/execution/expression_executor.hpp"
#include "duckdb/function/table_function.hpp"
#include "duckdb/main/extension/extension_loader.hpp"
#include "duckdb/parser/qualified_name.hpp"
#include "duckdb/planner/binder.hpp"
#include "duckdb/planner/expression/bound_columnref_expression.hpp"
#include "duckdb/planner/expression/bound_reference_expression.hpp"
#include "duckdb/planner/expression_iterator.hpp"
#include "duckdb/planner/operator/logical_get.hpp"
#include "duckdb/planner/operator/logical_order.hpp"
#include "duckdb/planner/operator/logical_projection.hpp"
#include "engine/catalog/type_mapping.h"
#include "engine/io/error_translation.h"
#include "engine/maintenance/auto_compaction.h"
#include "engine/maintenance/curve_order.h"
#include "engine/maintenance/dropped_columns.h"
#include "engine/maintenance/rearrange.h"
#include "engine/scan/hidden_columns.h"
#include "engine/scan/scalar_bridge.h"
#include "engine/scan/scan_function.h"
#include "engine/settings.h"
#include "engine/statement/named_table.h"
#include "engine/write/table_expression.h"
#include "kernel/alter/clustering.h"
#include "kernel/feature/property_table.h"
#include "kernel/feature/write_requirements.h"
#include "kernel/maintenance/auto_compaction.h"
#include "kernel/schema/column_mapping.h"
#include "kernel/snapshot/partition_key.h"
#include "kernel/stats/file_stats.h"

namespace braid::engine {

namespace {

constexpr size_t kMaxCurveColumns = 4;

struct Request {
	std::string operation, condition;
	bool full = false;
	std::vector<std::string> columns;                // of ZORDER BY
	std::optional<std::set<std::string>> crowdable;  // keys of the partitions that auto compaction looks at
};

std::string TableName(const Snapshot& view) { return view.table.substr(view.table.rfind('/') + 1); }

bool IsPartitionColumn(const Snapshot& view, const std::string& name) {
	return std::ranges::any_of(view.metadata.partition_columns,
							   [&](auto& column) { return duckdb::StringUtil::CIEquals(column, name); });
}

void RequirePartitionColumns(const duckdb::Expression& expression, const Snapshot& view, const Request& request) {
	if (expression.GetExpressionClass() == duckdb::ExpressionClass::BOUND_REF) {
		auto& name = view.schema->fields[expression.Cast<duckdb::BoundReferenceExpression>().index].name;
		if (IsPartitionColumn(view, name)) return;
		throw duckdb::BinderException("%s of table %s: WHERE may use partition columns only, and \"%s\" is none",
									  request.operation, view.table, name);
	}
	duckdb::ExpressionIterator::EnumerateChildren(
		expression, [&](const duckdb::Expression& child) { RequirePartitionColumns(child, view, request); });
}

duckdb::DataChunk& PartitionRow(duckdb::DataChunk& row, const Snapshot& view, const PartitionValues& values) {
	row.Reset();
	for (size_t i = 0; i < row.ColumnCount(); i++) {
		auto& field = view.schema->fields[i];
		auto& type = row.data[i].GetType();
		const auto value = values.find(PhysicalName(field, view.column_mapping));
		row.SetValue(i, 0,
					 value == values.end() ? duckdb::Value(type)
										   : ToValue(Unwrap(ParsePartitionValue(value->second, *field.type)), type));
	}
	row.SetCardinality(1);
	return row;
}

// The files whose partition satisfies the condition.
std::vector<const LiveFile*> FilesWhere(duckdb::ClientContext& context, const Snapshot& view, const Request& request) {
	auto files = view.files->Files();
	if (request.condition.empty()) return files;
	auto condition = BindRowCondition(context, *view.schema, TableName(view), request.condition,
									  request.operation + " of table " + view.table + ": WHERE");
	RequirePartitionColumns(*condition, view, request);
	duckdb::vector<duckdb::LogicalType> types;
	for (auto& field : view.schema->fields) types.push_back(ToDuckType(*field.type, field.name));
	duckdb::DataChunk row;
	row.Initialize(context, types);
	duckdb::ExpressionExecutor executor(context, *condition);
	PartitionKeys keys(view);
	std::map<std::string_view, bool> answers;
	std::erase_if(files, [&](const LiveFile* file) {
		auto [answer, fresh] = answers.try_emplace(keys.Of(*file), false);
		if (!fresh) return !answer->second;
		duckdb::Vector result(duckdb::LogicalType::BOOLEAN);
		executor.ExecuteExpression(PartitionRow(row, view, Unwrap(ToAddFile(*file)).partition_values), result);
		const auto verdict = result.GetValue(0);
		answer->second = !verdict.IsNull() && verdict.GetValue<bool>();
		return !answer->second;
	});
	return files;
}

std::vector<const LiveFile*> ConsideredFiles(duckdb::ClientContext& context, const Snapshot& view,
											 const Request& request) {
	if (request.crowdable) return CrowdingFiles(view, *request.crowdable, AutoCompactMinFiles(context));
	return FilesWhere(context, view, request);
}

CurveColumn FindCurveColumn(const Snapshot& view, const ColumnPath& path) {
	CurveColumn found;
	const auto* fields = &view.schema->fields;
	const Field* field = nullptr;
	for (auto& name : path) {
		auto at = std::ranges::find_if(*fields, [&](auto& f) { return duckdb::StringUtil::CIEquals(f.name, name); });
		if (at == fields->end()) {
			throw duckdb::BinderException("OPTIMIZE of table %s: it has no column \"%s\" to put rows in order by",
										  view.table,
										  duckdb::StringUtil::Join(path, path.size(), ".", [](auto& n) { return n; }));
		}
		if (field) {
			found.path.push_back(at->name);
		} else {
			found.column = static_cast<duckdb::column_t>(at - fields->begin());
		}
		found.name += (field ? "." : "") + at->name;
		field = &*at;
		fields = &at->type->fields;
	}
	if (!field->type->fields.empty() || field->type->element) {
		throw duckdb::BinderException("OPTIMIZE of table %s: rows cannot be clustered by \"%s\", a struct, list or map",
									  view.table, found.name);
	}
	if (IsPartitionColumn(view, found.name)) {
		throw duckdb::BinderException(
			"[DELTA_ZORDERING_ON_PARTITION_COLUMN] OPTIMIZE of table %s: \"%s\" is a partition column, whose files "
			"hold "
			"one value each; name data columns in ZORDER BY. SQLSTATE: 42P10",
			view.table, found.name);
	}
	return found;
}

// In which order rows are written: none, that of ZORDER BY, or that of the table's clustering columns.
std::vector<CurveColumn> CurveColumns(const Snapshot& view, const Request& request) {
	const auto clustering = request.operation == "REORG" ? std::vector<ColumnPath>() : Unwrap(ClusteringColumns(view));
	if (!clustering.empty() && !request.columns.empty()) {
		throw duckdb::BinderException(
			"OPTIMIZE of table %s: it is clustered by its own columns (CLUSTER BY), so ZORDER BY is not possible",
			view.table);
	}
	if (clustering.empty() && request.full) {
		throw duckdb::BinderException("OPTIMIZE of table %s: FULL is for clustered tables (CLUSTER BY), and it is none",
									  view.table);
	}
	if (request.columns.size() > kMaxCurveColumns) {
		throw duckdb::BinderException("OPTIMIZE of table %s: ZORDER BY takes at most %d columns", view.table,
									  static_cast<int>(kMaxCurveColumns));
	}
	std::vector<CurveColumn> columns;
	for (auto& path : clustering) columns.push_back(FindCurveColumn(view, path));
	for (auto& quoted : request.columns) {
		const auto names = duckdb::QualifiedName::ParseComponents(quoted);
		columns.push_back(FindCurveColumn(view, {names.begin(), names.end()}));
	}
	return columns;
}

Rewrite RewriteOf(const Request& request, const RearrangeSpec& spec) {
	if (request.operation == "REORG") return Rewrite::kDeleted;
	if (spec.clusters && !request.full) return Rewrite::kUnclustered;
	return spec.sorted ? Rewrite::kAll : Rewrite::kSmallOrDeleted;
}

void AddSources(RearrangeSpec& spec, ScanSource& source, const std::vector<Bin>& bins) {
	for (auto& bin : bins) {
		for (auto* file : bin.files) {
			source.files.push_back({file->path, file, nullptr, nullptr});
			const auto rows = NumRecords(file->stats);
			const auto deleted = file->deletion_vector ? file->deletion_vector->cardinality : 0;
			spec.source_by_name[source.Location(source.files.back())] = spec.sources.size();
			spec.sources.push_back({std::string(file->path), static_cast<size_t>(&bin - bins.data()), file->size,
									rows ? std::optional(static_cast<uint64_t>(*rows - deleted)) : std::nullopt,
									deleted});
		}
	}
	spec.bins = bins.size();
}

std::string JsonListText(const std::vector<std::string>& items) { return JsonString(JsonStringList(items)); }

// Spark's names and spellings.
std::map<std::string, std::string> Parameters(const Request& request, bool clusters,
											  const std::vector<CurveColumn>& columns) {
	std::vector<std::string> names;
	for (auto& column : columns) names.push_back(column.name);
	std::map<std::string, std::string> parameters;
	parameters["predicate"] =
		JsonListText(request.condition.empty() ? std::vector<std::string>() : std::vector {request.condition});
	if (request.operation == "REORG") {
		parameters["applyPurge"] = JsonString("true");
	} else {
		parameters["zOrderBy"] = JsonListText(clusters ? std::vector<std::string>() : names);
		parameters["clusterBy"] = JsonListText(clusters ? names : std::vector<std::string>());
		if (clusters) parameters["isFull"] = JsonString(request.full ? "true" : "false");
		parameters["auto"] = JsonString(request.crowdable ? "true" : "false");
	}
	return parameters;
}

duckdb::unique_ptr<duckdb::Expression> Reference(duckdb::LogicalOperator& scan, size_t column) {
	return duckdb::make_uniq<duckdb::BoundColumnRefExpression>(scan.types[column], scan.GetColumnBindings()[column]);
}

// The rows of the files that go, each with the number of its file and its position there.
duckdb::unique_ptr<duckdb::LogicalOperator> ScanOf(duckdb::ClientContext& context, duckdb::Binder& binder,
												   const ScanSourcePtr& source,
												   std::shared_ptr<const RearrangeSpec> spec) {
	duckdb::unique_ptr<duckdb::FunctionData> bind_data;
	auto function = MakeScan(context, source, bind_data);
	auto& files = bind_data->Cast<duckdb::MultiFileBindData>();
	auto types = files.types;
	auto names = files.names;
	auto get = duckdb::make_uniq<duckdb::LogicalGet>(binder.GenerateTableIndex(), std::move(function),
													 std::move(bind_data), types, names, ScanVirtualColumns());
	for (size_t i = 0; i < types.size(); i++) get->AddColumnId(i);
	for (auto column : ScanRowIdColumns()) get->AddColumnId(column);
	get->ResolveOperatorTypes();
	duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> columns;
	for (size_t i = 0; i < get->types.size(); i++) columns.push_back(Reference(*get, i));
	auto& name = columns[columns.size() - 2];
	name = SourceNumber(std::move(spec), std::move(name));
	auto numbered = duckdb::make_uniq<duckdb::LogicalProjection>(binder.GenerateTableIndex(), std::move(columns));
	numbered->children.push_back(std::move(get));
	numbered->ResolveOperatorTypes();
	return numbered;
}

// Partition by partition, and in each along the curve.
duckdb::unique_ptr<duckdb::LogicalOperator> Sorted(duckdb::ClientContext& context,
												   duckdb::unique_ptr<duckdb::LogicalOperator> scan,
												   const ScanSourcePtr& source,
												   const std::vector<CurveColumn>& columns) {
	duckdb::vector<duckdb::BoundOrderByNode> orders;
	const auto add = [&](duckdb::unique_ptr<duckdb::Expression> key) {
		orders.emplace_back(duckdb::OrderType::ASCENDING, duckdb::OrderByNullType::NULLS_FIRST, std::move(key));
	};
	auto& fields = source->view->schema->fields;
	for (size_t i = 0; i < fields.size(); i++) {
		if (IsPartitionColumn(*source->view, fields[i].name)) add(OrderKey(context, Reference(*scan, i)));
	}
	duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> values;
	for (auto& column : columns) values.push_back(CurveValue(context, column, Reference(*scan, column.column)));
	add(columns.size() == 1 ? OrderKey(context, std::move(values[0]))
							: CurvePlace(context, source, columns, std::move(values)));
	auto order = duckdb::make_uniq<duckdb::LogicalOrder>(std::move(orders));
	order->children.push_back(std::move(scan));
	order->ResolveOperatorTypes();
	return order;
}

Request ReadRequest(duckdb::TableFunctionBindInput& input) {
	Request request;
	for (auto& value : input.inputs) {
		if (value.IsNull()) throw duckdb::BinderException("braid_optimize: an argument is NULL");
	}
	request.operation = duckdb::StringValue::Get(input.inputs[1]);
	request.full = request.operation == "OPTIMIZE FULL";
	if (request.full) request.operation = "OPTIMIZE";
	request.condition = duckdb::StringValue::Get(input.inputs[2]);
	std::vector<std::string> list;
	for (auto& item : duckdb::ListValue::GetChildren(input.inputs[3])) list.push_back(item.ToString());
	if (request.operation == kAutoCompaction) {
		request.operation = "OPTIMIZE";
		request.crowdable.emplace(list.begin(), list.end());
	} else {
		request.columns = std::move(list);
	}
	return request;
}

duckdb::unique_ptr<duckdb::LogicalOperator> Bind(duckdb::ClientContext& context, duckdb::TableFunctionBindInput& input,
												 duckdb::idx_t index, duckdb::vector<std::string>& names) {
	const auto request = ReadRequest(input);
	const auto name = duckdb::StringValue::Get(input.inputs[0]);
	auto found =
		FindTableToChangeAlone(context, input, name, request.operation, duckdb::DatabaseModificationType::UPDATE_DATA);
	Unwrap(CheckWrite(*found.view, TableOperation::kMaintain));
	input.binder->SetAlwaysRequireRebind();
	names = RearrangeNames();

	const auto columns = CurveColumns(*found.view, request);
	auto spec = std::make_shared<RearrangeSpec>();
	spec->lake = found.lake;
	spec->table = found.table;
	spec->view = found.view;
	spec->operation = request.operation;
	spec->sorted = !columns.empty();
	spec->clusters = spec->sorted && request.columns.empty();
	spec->operation_parameters = Parameters(request, spec->clusters, columns);
	const auto files = ConsideredFiles(context, *found.view, request);
	spec->considered = files.size();
	auto source = std::make_shared<ScanSource>();
	source->table = found.table;
	const auto ids = RowIdColumnsOf(*found.view);
	source->view = ids ? WithHiddenColumns(*found.view, {ids->id, ids->version}) : found.view;
	const auto target = PropertyBytes(found.view->metadata.configuration, "delta.targetFileSize");
	PathSet also;
	if (request.operation == "REORG") also = FilesWithDroppedColumns(context, *found.table, *found.view, files);
	AddSources(*spec, *source, PlanBins(*found.view, files, RewriteOf(request, *spec), target, also));
	auto plan = duckdb::make_uniq<LogicalRearrange>(index, spec);
	if (spec->sources.empty()) return plan;
	auto scan = ScanOf(context, *input.binder, source, spec);
	const auto width = scan->types.size();
	for (size_t i = 0; i < width; i++) plan->expressions.push_back(Reference(*scan, i));
	if (spec->sorted) scan = Sorted(context, std::move(scan), source, columns);
	plan->children.push_back(std::move(scan));
	return plan;
}

}  // namespace

void RegisterOptimize(duckdb::ExtensionLoader& loader) {
	using duckdb::LogicalType;
	duckdb::TableFunction function(
		"braid_optimize",
		{LogicalType::VARCHAR, LogicalType::VARCHAR, LogicalType::VARCHAR, LogicalType::LIST(LogicalType::VARCHAR)},
		nullptr);
	function.bind_operator = Bind;
	loader.RegisterFunction(function);
}

}  // namespace braid::engine
