// SPDX-License-Identifier: Apache-2.0
// Pruning and the description of each file that spares DuckDB a look at it.
#include "engine/scan/file_list.h"

#include <numeric>

#include "duckdb/common/multi_file/multi_file_reader.hpp"
#include "duckdb/planner/expression/bound_columnref_expression.hpp"
#include "duckdb/planner/expression/bound_reference_expression.hpp"
#include "engine/scan/filter_bridge.h"
#include "engine/scan/scan_statistics.h"
#include "kernel/snapshot/pruning.h"

namespace braid::engine {

namespace {

NamedColumn ColumnOf(const ScanSource& source, duckdb::column_t id, const duckdb::vector<duckdb::LogicalType>& types) {
	const auto& fields = source.view->schema->fields;
	if (duckdb::IsVirtualColumn(id) || id >= fields.size() || id >= types.size()) return {};
	return {fields[id].name, types[id]};
}

}  // namespace

LakeFileList::LakeFileList(ScanSourcePtr source, std::shared_ptr<ReadRegistration> registration,
						   duckdb::optional_ptr<duckdb::TableCatalogEntry> entry)
	: source_(std::move(source)),
	  registration_(std::move(registration)),
	  entry_(entry),
	  conditions_(std::make_shared<ScanConditions>()) {}

duckdb::unique_ptr<LakeFileList> LakeFileList::With(std::shared_ptr<const ScanConditions> conditions,
													Chosen chosen) const {
	auto list = duckdb::make_uniq<LakeFileList>(source_, registration_, entry_);
	list->conditions_ = std::move(conditions);
	list->chosen_ = std::move(chosen);
	return list;
}

LakeFileList::Chosen LakeFileList::Prune(const Predicate& predicate) const {
	const Snapshot& view = *source_->view;
	FilePruner pruner(view.metadata, view.schema, view.column_mapping, predicate);
	if (pruner.trivial()) return chosen_;
	std::vector<uint32_t> kept;
	for (duckdb::idx_t i = 0; i < size(); ++i) {
		const ScanFile& file = File(i);
		if (!file.live || pruner.MayMatch(*file.live)) kept.push_back(IndexInSource(i));
	}
	return kept;
}

duckdb::unique_ptr<duckdb::MultiFileList> LakeFileList::ComplexFilterPushdown(
	duckdb::ClientContext&, const duckdb::MultiFileOptions&, duckdb::MultiFilePushdownInfo& info,
	duckdb::vector<duckdb::unique_ptr<duckdb::Expression>>& filters) const {
	if (filters.empty()) return nullptr;
	auto resolve = [&](const duckdb::Expression& expression) -> NamedColumn {
		if (expression.GetExpressionClass() != duckdb::ExpressionClass::BOUND_COLUMN_REF) return {};
		const auto& reference = expression.Cast<duckdb::BoundColumnRefExpression>();
		if (reference.binding.table_index != info.table_index ||
			reference.binding.column_index >= info.column_ids.size())
			return {};
		duckdb::column_t id = info.column_ids[reference.binding.column_index];
		const auto& fields = source_->view->schema->fields;
		if (duckdb::IsVirtualColumn(id) || id >= fields.size()) return {};
		return {fields[id].name, reference.return_type};
	};
	auto conditions = std::make_shared<ScanConditions>(*conditions_);
	std::vector<Predicate> fresh;
	for (const auto& filter : filters) {
		Predicate predicate = ToPredicate(*filter, resolve);
		conditions->bound.push_back(predicate);
		fresh.push_back(std::move(predicate));
		auto exact = std::make_shared<BoundRowPredicate>();
		if (AddConjunct(*exact, *filter, resolve)) {
			conditions->exact.push_back(std::move(exact));
		} else {
			conditions->complete = false;
		}
	}
	auto list = With(std::move(conditions), Prune(Predicate::And(std::move(fresh))));
	info.extra_info.total_files = source_->Count();
	info.extra_info.filtered_files = list->size();
	return list;
}

duckdb::unique_ptr<duckdb::MultiFileList> LakeFileList::DynamicFilterPushdown(
	duckdb::ClientContext&, const duckdb::MultiFileOptions&, const duckdb::vector<std::string>&,
	const duckdb::vector<duckdb::LogicalType>& types, const duckdb::vector<duckdb::column_t>& column_ids,
	duckdb::TableFilterSet& filters) const {
	auto conditions = std::make_shared<ScanConditions>(*conditions_);
	std::vector<Predicate> fresh;
	Chosen chosen = chosen_;
	for (const auto& [position, filter] : filters.filters) {
		duckdb::column_t id = column_ids[position];
		if (id == duckdb::MultiFileReader::COLUMN_IDENTIFIER_FILENAME) {
			// The second scan of a late materialisation is pruned by nothing else (trap 2).
			if (!chosen) {
				chosen.emplace(source_->Count());
				std::iota(chosen->begin(), chosen->end(), 0u);
			}
			std::erase_if(*chosen, [&](uint32_t index) {
				return !FileNameMayPass(*filter, source_->Location(source_->Files()[index]));
			});
			continue;
		}
		NamedColumn column = ColumnOf(*source_, id, types);
		if (column.name.empty()) continue;
		Predicate predicate = ToPredicate(*filter, column);
		conditions->bound.push_back(predicate);
		fresh.push_back(std::move(predicate));
		auto exact = std::make_shared<BoundRowPredicate>();
		if (AddConjunct(*exact, *filter, column)) conditions->exact.push_back(std::move(exact));
	}
	auto list = With(std::move(conditions), std::move(chosen));
	list->chosen_ = list->Prune(Predicate::And(std::move(fresh)));
	return list;
}

duckdb::OpenFileInfo LakeFileList::GetFile(duckdb::idx_t index) const {
	if (index >= size()) return {};
	const ScanFile& file = File(index);
	duckdb::OpenFileInfo info(source_->Location(file));
	info.extended_info = duckdb::make_shared_ptr<duckdb::ExtendedOpenFileInfo>();
	auto& options = info.extended_info->options;
	options["file_size"] = duckdb::Value::UBIGINT(static_cast<uint64_t>(file.size()));
	// Data files never change, so what DuckDB has cached of them needs no check.
	options["validate_external_file_cache"] = duckdb::Value::BOOLEAN(false);
	options["etag"] = duckdb::Value("");
	options["last_modified"] = duckdb::Value::TIMESTAMP(duckdb::timestamp_t(0));
	// Without this count(*) would be answered from cached footers, deleted rows included (trap 1).
	if (file.has_deletes()) options["has_deletes"] = duckdb::Value::BOOLEAN(true);
	return info;
}

duckdb::vector<duckdb::OpenFileInfo> LakeFileList::GetAllFiles() const {
	duckdb::vector<duckdb::OpenFileInfo> files;
	for (duckdb::idx_t i = 0; i < size(); ++i) files.push_back(GetFile(i));
	return files;
}

duckdb::FileExpandResult LakeFileList::GetExpandResult() const {
	// SINGLE_FILE would make the Parquet reader size its threads by a reader that was opened at bind; there is none.
	return size() == 0 ? duckdb::FileExpandResult::NO_FILES : duckdb::FileExpandResult::MULTIPLE_FILES;
}

duckdb::unique_ptr<duckdb::NodeStatistics> LakeFileList::GetCardinality(duckdb::ClientContext&) const {
	RowEstimate rows = EstimateRows(*this);
	auto statistics = duckdb::make_uniq<duckdb::NodeStatistics>(rows.count);
	if (rows.exact) {
		statistics->has_max_cardinality = true;
		statistics->max_cardinality = rows.count;
	}
	return statistics;
}

duckdb::unique_ptr<duckdb::MultiFileList> LakeFileList::Copy() const { return With(conditions_, chosen_); }

}  // namespace braid::engine
