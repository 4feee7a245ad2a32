// SPDX-License-Identifier: Apache-2.0
// Files that go as a whole are named as such; rows that satisfy a condition are looked up and deleted by position.
#include "engine/write/replacement.h"

#include <algorithm>
#include <map>

#include "base/json.h"
#include "duckdb/common/exception.hpp"
#include "duckdb/common/multi_file/multi_file_reader.hpp"
#include "duckdb/execution/expression_executor.hpp"
#include "duckdb/planner/expression/bound_reference_expression.hpp"
#include "engine/catalog/type_mapping.h"
#include "engine/io/error_translation.h"
#include "engine/io/row_reader.h"
#include "engine/scan/filter_bridge.h"
#include "engine/scan/scan_source.h"
#include "engine/settings.h"
#include "engine/write/condition_traits.h"
#include "engine/write/staging.h"
#include "kernel/action/file_view.h"
#include "kernel/schema/column_mapping.h"
#include "kernel/snapshot/partition_key.h"
#include "kernel/snapshot/pruning.h"

namespace braid::engine {

namespace {

ResolveColumn Resolve(const Snapshot& view) {
	return [&view](const duckdb::Expression& expression) -> NamedColumn {
		if (expression.GetExpressionClass() != duckdb::ExpressionClass::BOUND_REF) return {};
		auto& field = view.schema->fields[expression.Cast<duckdb::BoundReferenceExpression>().index];
		return {field.name, expression.return_type};
	};
}

// "mode":"Overwrite", and what of the table it is limited to (properties.md 6.4).
void Describe(TableWork& work, const std::string& key, const std::string& value) {
	auto& parameters = work.work.operation_parameters;
	parameters["mode"] = JsonString("Overwrite");
	parameters["partitionBy"] = JsonString(JsonStringList(work.view->metadata.partition_columns));
	if (!key.empty()) parameters[key] = value;
}

// The rows of one partition, as a question to concurrent commits.
Predicate InPartition(const Snapshot& view, const PartitionValues& values) {
	std::vector<Predicate> parts;
	for (auto& field : view.schema->fields) {
		const auto value = values.find(PhysicalName(field, view.column_mapping));
		if (value == values.end()) continue;
		auto scalar = Unwrap(ParsePartitionValue(value->second, *field.type));
		parts.push_back(scalar.is_null() ? Predicate::IsNull({field.name})
										 : Predicate::Compare({field.name}, CompareOp::kEqual, std::move(scalar)));
	}
	return Predicate::And(std::move(parts));
}

}  // namespace

Replacement::Replacement(duckdb::ClientContext& context, const SnapshotPtr& view, const InsertMode& mode)
	: view_(view), mode_(mode) {
	const bool partitioned = !view_->metadata.partition_columns.empty();
	partitions_ = mode_.replaces_all() && partitioned && OverwritesPartitions(context);
	if (mode_.replaces_all()) return;
	condition_ = BindRowCondition(context, *view_->schema, view_->table.substr(view_->table.rfind('/') + 1),
								  mode_.predicate, "REPLACE WHERE " + mode_.predicate);
}

void Replacement::CheckNew(duckdb::ClientContext& context, duckdb::DataChunk& rows) const {
	if (!condition_) return;
	duckdb::ExpressionExecutor executor(context, *condition_);
	duckdb::SelectionVector matches(STANDARD_VECTOR_SIZE), others(STANDARD_VECTOR_SIZE);
	const auto count = executor.SelectExpression(rows, &matches, &others,
												 duckdb::optional_ptr<duckdb::SelectionVector>(), rows.size());
	if (count == rows.size()) return;
	throw duckdb::ConstraintException(
		"[DELTA_REPLACE_WHERE_MISMATCH] INSERT INTO %s REPLACE WHERE %s: a new row does not satisfy the condition: %s",
		view_->table.substr(view_->table.rfind('/') + 1), mode_.predicate,
		RowPicture(*view_, rows, others.get_index(0)));
}

void Replacement::Stage(duckdb::ClientContext& context, TableWork& work, const std::vector<NewFile>& files) const {
	if (condition_) return StageMatches(context, work);
	std::lock_guard guard(work.mutex);
	return partitions_ ? StagePartitions(work, files) : StageAll(work);
}

void Replacement::StageAll(TableWork& work) const {
	auto& changes = work.work.changes;
	changes.new_files.clear();
	changes.deleted_rows.clear();
	changes.replaced_files.clear();
	changes.removes_all = work.work.base != nullptr;
	Describe(work, "", "");
}

void Replacement::StagePartitions(TableWork& work, const std::vector<NewFile>& files) const {
	std::map<std::string, PartitionValues> partitions;
	const auto of_file = [&](const NewFile& file) { return PartitionKey(file.add.partition_values, *view_); };
	for (auto& file : files) partitions.emplace(of_file(file), file.add.partition_values);
	auto& changes = work.work.changes;
	std::erase_if(changes.new_files, [&](auto& file) { return partitions.contains(of_file(file)); });
	if (!changes.removes_all) {
		for (const LiveFile* file : work.view->files->Files()) {
			if (!partitions.contains(PartitionKey(file->partition_values, *view_))) continue;
			auto add = Unwrap(ToAddFile(*file));
			changes.deleted_rows.erase(add.path);
			if (std::ranges::find(changes.replaced_files, add.path) == changes.replaced_files.end())
				changes.replaced_files.push_back(add.path);
		}
	}
	for (auto& [key, values] : partitions)
		work.work.reads.reads.push_back({InPartition(*view_, values), nullptr, false});
	Describe(work, "isDynamicPartitionOverwrite", "true");
}

void Replacement::StageMatches(duckdb::ClientContext& context, TableWork& work) const {
	const auto resolve = Resolve(*view_);
	const auto bound = ToPredicate(*condition_, resolve);
	auto exact = std::make_shared<BoundRowPredicate>();
	if (!AddConjunct(*exact, *condition_, resolve)) exact = nullptr;
	const auto everything = MakeScanSource(work.table, view_, &work);  // owns what the copy points to
	auto source = std::make_shared<ScanSource>();
	source->table = everything->table;
	source->view = everything->view;
	source->files = everything->Files();
	source->has_local_changes = everything->has_local_changes;
	const FilePruner pruner(view_->metadata, view_->schema, view_->column_mapping, bound);
	std::erase_if(source->files,
				  [&](const ScanFile& file) { return file.live != nullptr && !pruner.MayMatch(*file.live); });
	auto columns = AllColumns(*view_);
	columns.push_back(duckdb::MultiFileReader::COLUMN_IDENTIFIER_FILENAME);
	columns.push_back(duckdb::MultiFileReader::COLUMN_IDENTIFIER_FILE_ROW_NUMBER);
	const auto file_column = columns.size() - 2;
	RowReader reader(context, std::move(source), columns);
	duckdb::ExpressionExecutor executor(context, *condition_);
	duckdb::SelectionVector matches(STANDARD_VECTOR_SIZE);
	PositionCollector positions;
	while (auto* rows = reader.Next()) {
		const auto count = executor.SelectExpression(*rows, matches);
		if (count == 0) continue;
		duckdb::DataChunk found;
		found.InitializeEmpty(rows->GetTypes());
		found.Slice(*rows, matches, count);
		positions.Add(found.data[file_column], found.data[file_column + 1], count);
	}
	StageDeletions(context, work, positions.by_file());
	std::lock_guard guard(work.mutex);
	work.work.reads.reads.push_back({bound, std::move(exact), true});
	work.work.conditions |= TraitsOf(*condition_);
	Describe(work, "predicate", JsonString("[" + JsonString("(" + mode_.predicate + ")") + "]"));
	AddMetric(work, "numDeletedRows", positions.Cardinality());
}

}  // namespace braid::engine
