// SPDX-License-Identifier: Apache-2.0
// Threads share nothing but the output until Combine; Finalize runs once, on one thread, after all of them.
#include "engine/write/merge_sink.h"

#include <algorithm>
#include <array>

#include "base/environment.h"
#include "duckdb/common/types/column/column_data_collection.hpp"
#include "duckdb/execution/expression_executor.hpp"
#include "engine/io/error_translation.h"
#include "engine/write/key_capture.h"
#include "engine/write/parquet_output.h"
#include "engine/write/position_collector.h"
#include "engine/write/row_origins.h"
#include "engine/write/row_rules.h"
#include "engine/write/stable_ids.h"
#include "engine/write/staging.h"
#include "engine/write/statement_result.h"
#include "engine/write/write_once.h"
#include "kernel/feature/write_requirements.h"
#include "kernel/txn/gate.h"

namespace braid::engine {

namespace {

using duckdb::idx_t;
using duckdb::MergeActionType;

struct MergeState : duckdb::GlobalSinkState {
	TableWork* work = nullptr;
	SnapshotPtr view;
	int64_t started_ms = SystemClock().MonotonicMs();
	std::unique_ptr<RowRules> rules;
	std::unique_ptr<ParquetOutput> output;  // null: no arm writes rows
	std::unique_ptr<RowOrigins> origins;    // null: nobody asks for them
	std::unique_ptr<StableIds> ids;         // null: the new rows carry none

	std::mutex mutex;  // guards what follows
	PositionCollector positions;
	std::vector<uint64_t> rows;  // by arm
	StatementResult result;
	uint64_t changed = 0;  // the answer, known at the end
};

struct ArmState {
	std::unique_ptr<duckdb::ExpressionExecutor> condition;
	std::unique_ptr<duckdb::ExpressionExecutor> images;
	duckdb::DataChunk image;
	duckdb::DataChunk table_rows;  // the image without what it says of ids
	duckdb::DataChunk returned;
	RowRules::Local rules;
	ParquetOutput::Local output;
	uint64_t rows = 0;
};

// Rows of a chunk that are still looking for their arm.
struct Selected {
	duckdb::SelectionVector rows {STANDARD_VECTOR_SIZE};
	idx_t count = 0;
};

struct ThreadState : duckdb::LocalSinkState {
	std::vector<ArmState> arms;
	std::array<Selected, kMergeClauses> by_clause;
	duckdb::SelectionVector taken {STANDARD_VECTOR_SIZE};
	duckdb::SelectionVector left {STANDARD_VECTOR_SIZE};
	duckdb::DataChunk slice;
	PositionCollector positions;
	duckdb::unique_ptr<duckdb::ColumnDataCollection> returned;
};

duckdb::vector<duckdb::LogicalType> TypesOf(const duckdb::vector<duckdb::unique_ptr<duckdb::Expression>>& expressions) {
	duckdb::vector<duckdb::LogicalType> types;
	for (auto& expression : expressions) types.push_back(expression->return_type);
	return types;
}

// Trap 13: the file's name is never NULL where there is a row of the table.
void SortByClause(const LakeMerge& merge, duckdb::DataChunk& chunk, ThreadState& thread) {
	for (auto& clause : thread.by_clause) clause.count = 0;
	duckdb::UnifiedVectorFormat target;
	duckdb::UnifiedVectorFormat source;
	chunk.data[merge.file_column].ToUnifiedFormat(chunk.size(), target);
	bool marked = merge.source_marker.IsValid();
	if (marked) chunk.data[merge.source_marker.GetIndex()].ToUnifiedFormat(chunk.size(), source);
	for (idx_t row = 0; row < chunk.size(); row++) {
		auto clause = MergeClause::kMatched;
		if (marked && !source.validity.RowIsValid(source.sel->get_index(row))) {
			clause = MergeClause::kNotMatchedBySource;
		} else if (!target.validity.RowIsValid(target.sel->get_index(row))) {
			clause = MergeClause::kNotMatched;
		}
		auto& rows = thread.by_clause[static_cast<size_t>(clause)];
		rows.rows.set_index(rows.count++, row);
	}
}

[[noreturn]] void RefuseByErrorArm(const MergeArm& arm, duckdb::DataChunk& images) {
	std::string message = arm.images.empty() || images.data[0].GetValue(0).IsNull()
							  ? "a row meets the condition of WHEN ... THEN ERROR"
							  : images.data[0].GetValue(0).ToString();
	throw duckdb::ConstraintException("MERGE: %s", message);
}

[[noreturn]] void RefuseDoubleMatch(duckdb::ClientContext& context, TableWork& work, const RowAddress& row) {
	throw duckdb::InvalidInputException(
		"[DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE] MERGE INTO table %s: more than one row of the source "
		"would change the row (%s) of the table; leave one row per key in the source, for example with GROUP BY or "
		"QUALIFY row_number() OVER (...) = 1. SQLSTATE: 21506",
		work.table->root(), PictureOf(context, work, row));
}

const char* ActionName(MergeActionType action) {
	switch (action) {
		case MergeActionType::MERGE_UPDATE:
			return "UPDATE";
		case MergeActionType::MERGE_DELETE:
			return "DELETE";
		case MergeActionType::MERGE_INSERT:
			return "INSERT";
		default:
			return "";
	}
}

struct Counts {
	uint64_t inserted = 0;
	std::array<uint64_t, kMergeClauses> updated {};
	std::array<uint64_t, kMergeClauses> deleted {};
};

Counts CountRows(const LakeMerge& merge, const MergeState& state) {
	Counts counts;
	uint64_t removals = 0;
	for (size_t i = 0; i < merge.arms.size(); i++) {
		auto clause = static_cast<size_t>(merge.arms[i].clause);
		if (merge.arms[i].action == MergeActionType::MERGE_INSERT) counts.inserted += state.rows[i];
		if (merge.arms[i].action == MergeActionType::MERGE_UPDATE) counts.updated[clause] += state.rows[i];
		if (merge.arms[i].action == MergeActionType::MERGE_DELETE) counts.deleted[clause] += state.rows[i];
		if (merge.arms[i].removes_rows()) removals += state.rows[i];
	}
	// Rows that several rows of the source have deleted.
	counts.deleted[static_cast<size_t>(MergeClause::kMatched)] -= removals - state.positions.Cardinality();
	return counts;
}

// Spark's names (properties.md 6.4); those of files and vectors come from the committer. The caller holds work.mutex.
void AddMetrics(TableWork& work, const Counts& counts, int64_t started_ms) {
	auto matched = static_cast<size_t>(MergeClause::kMatched);
	auto by_source = static_cast<size_t>(MergeClause::kNotMatchedBySource);
	auto updated = counts.updated[matched] + counts.updated[by_source];
	AddMetric(work, "numTargetRowsInserted", counts.inserted);
	AddMetric(work, "numTargetRowsUpdated", updated);
	AddMetric(work, "numTargetRowsMatchedUpdated", counts.updated[matched]);
	AddMetric(work, "numTargetRowsNotMatchedBySourceUpdated", counts.updated[by_source]);
	AddMetric(work, "numTargetRowsDeleted", counts.deleted[matched] + counts.deleted[by_source]);
	AddMetric(work, "numTargetRowsMatchedDeleted", counts.deleted[matched]);
	AddMetric(work, "numTargetRowsNotMatchedBySourceDeleted", counts.deleted[by_source]);
	AddMetric(work, "numOutputRows", counts.inserted + updated);
	AddMetric(work, "executionTimeMs", static_cast<uint64_t>(SystemClock().MonotonicMs() - started_ms));
}

}  // namespace

LakeMerge::LakeMerge(duckdb::PhysicalPlan& plan, duckdb::vector<duckdb::LogicalType> result_types,
					 duckdb::Catalog& catalog_p, std::shared_ptr<TableHandle> table_p, idx_t estimate)
	: PhysicalOperator(plan, duckdb::PhysicalOperatorType::EXTENSION, std::move(result_types), estimate),
	  catalog(catalog_p),
	  table(std::move(table_p)) {}

// The columns that WITH SCHEMA EVOLUTION adds go into the commit with the rows.
static void StageSchema(TableWork& work, const SnapshotPtr& evolved) {
	std::lock_guard guard(work.mutex);
	auto& changes = work.work.changes;
	changes.metadata = evolved->metadata;
	if (!(evolved->protocol == work.view->protocol)) changes.protocol = evolved->protocol;
	work.view = evolved;
}

duckdb::unique_ptr<duckdb::GlobalSinkState> LakeMerge::GetGlobalSinkState(duckdb::ClientContext& context) const {
	auto state = duckdb::make_uniq<MergeState>();
	if (returning) state->result.returned = duckdb::make_uniq<duckdb::ColumnDataCollection>(context, types);
	auto& work = LakeTransaction::Get(context, catalog).Modify(context, table);
	if (IsWrittenAlready(context, work, "MERGE")) return state;
	state->work = &work;
	if (evolved) StageSchema(work, evolved);
	state->view = state->work->view;
	state->rows.resize(arms.size());
	bool removes = std::ranges::any_of(arms, &MergeArm::removes_rows);
	Unwrap(CheckWrite(*state->view, removes ? TableOperation::kChange : TableOperation::kAppend));
	auto writer = std::ranges::find_if(arms, &MergeArm::writes_rows);
	if (writer != arms.end()) {
		state->rules = std::make_unique<RowRules>(context, state->view);
		auto table_types = TypesOf(writer->images);
		const auto columns = state->view->schema->fields.size();
		table_types.resize(columns);
		const bool images =
			std::ranges::any_of(arms, [&](auto& arm) { return arm.writes_rows() && arm.images.size() > columns; });
		if (images) state->ids = StableIds::For(work);
		state->output = state->ids ? std::make_unique<ParquetOutput>(context, work, *state->ids->written(),
																	 StableIds::WithIds(table_types))
								   : std::make_unique<ParquetOutput>(context, work, *state->view, table_types);
		if (work.work.row_local) state->origins = std::make_unique<RowOrigins>();
	}
	return state;
}

duckdb::unique_ptr<duckdb::LocalSinkState> LakeMerge::GetLocalSinkState(duckdb::ExecutionContext& context) const {
	auto& client = context.client;
	auto state = duckdb::make_uniq<ThreadState>();
	state->arms = std::vector<ArmState>(arms.size());
	for (size_t i = 0; i < arms.size(); i++) {
		auto& arm = state->arms[i];
		if (arms[i].condition) arm.condition = std::make_unique<duckdb::ExpressionExecutor>(client, *arms[i].condition);
		if (arms[i].images.empty()) continue;
		arm.images = std::make_unique<duckdb::ExpressionExecutor>(client, arms[i].images);
		arm.image.Initialize(client, TypesOf(arms[i].images));
		if (returning) arm.returned.InitializeEmpty(types);
	}
	state->slice.InitializeEmpty(children[0].get().types);
	if (returning) state->returned = duckdb::make_uniq<duckdb::ColumnDataCollection>(client, types);
	return state;
}

bool LakeMerge::MayMatchTwice() const {
	const MergeArm* only = nullptr;
	for (auto& arm : arms) {
		if (arm.clause != MergeClause::kMatched) continue;
		if (only) return false;
		only = &arm;
	}
	return only && only->action == MergeActionType::MERGE_DELETE && !only->condition;
}

static void TakeRows(const LakeMerge& merge, size_t index, duckdb::DataChunk& rows, MergeState& global,
					 ThreadState& thread) {
	auto& arm = merge.arms[index];
	auto& state = thread.arms[index];
	if (state.images) {
		state.image.Reset();
		state.images->Execute(rows, state.image);
	}
	if (arm.action == MergeActionType::MERGE_ERROR) RefuseByErrorArm(arm, state.image);
	duckdb::SelectionVector fresh(STANDARD_VECTOR_SIZE);
	auto returned = rows.size();
	if (arm.removes_rows()) {
		returned =
			thread.positions.Add(rows.data[merge.file_column], rows.data[merge.position_column], rows.size(), &fresh);
	}
	auto* written = &state.image;
	if (arm.writes_rows()) {
		const auto columns = global.view->schema->fields.size();
		const bool has_id = state.image.ColumnCount() > columns;
		auto& table_rows = has_id ? FirstColumns(state.image, columns, state.table_rows) : state.image;
		written = &global.rules->Apply(state.rules, table_rows);
		std::vector<ParquetOutput::Run> origins;
		if (global.origins) {
			auto &files = rows.data[merge.file_column], &positions = rows.data[merge.position_column];
			origins = global.origins->PlacesOf(files, positions, rows.size());
		}
		auto* with_ids = written;
		duckdb::DataChunk wider;
		if (global.ids) {
			std::optional<StableIds::Origin> origin;
			if (has_id)
				origin.emplace(state.image.data.back(), nullptr,
							   global.ids->ByName(rows.data[merge.file_column], rows.size()),
							   rows.data[merge.position_column]);
			global.ids->Append(*written, origin, wider);
			with_ids = &wider;
		}
		global.output->Append(state.output, *with_ids, origins);
	}
	if (thread.returned && (arm.writes_rows() || arm.removes_rows())) {
		for (idx_t i = 0; i < written->ColumnCount(); i++) state.returned.data[i].Reference(written->data[i]);
		state.returned.data.back().Reference(duckdb::Value(ActionName(arm.action)));
		state.returned.SetCardinality(rows.size());
		if (returned < rows.size()) state.returned.Slice(fresh, returned);  // otherwise met more than once
		thread.returned->Append(state.returned);
	}
	state.rows += rows.size();
}

duckdb::SinkResultType LakeMerge::Sink(duckdb::ExecutionContext&, duckdb::DataChunk& chunk,
									   duckdb::OperatorSinkInput& input) const {
	auto& global = input.global_state.Cast<MergeState>();
	auto& thread = input.local_state.Cast<ThreadState>();
	if (!global.work) return duckdb::SinkResultType::FINISHED;  // the table has what would be written
	SortByClause(*this, chunk, thread);
	for (size_t i = 0; i < arms.size(); i++) {
		auto& waiting = thread.by_clause[static_cast<size_t>(arms[i].clause)];
		if (waiting.count == 0) continue;
		auto* taken = &waiting.rows;
		auto count = waiting.count;
		if (arms[i].condition) {
			count = thread.arms[i].condition->SelectExpression(chunk, &thread.taken, &thread.left, &waiting.rows,
															   waiting.count);
			waiting.count -= count;
			std::copy_n(thread.left.data(), waiting.count, waiting.rows.data());
			taken = &thread.taken;
		} else {
			waiting.count = 0;
		}
		if (count == 0 || arms[i].action == MergeActionType::MERGE_DO_NOTHING) continue;
		auto* rows = &chunk;
		if (count < chunk.size()) {
			thread.slice.Slice(chunk, *taken, count);
			rows = &thread.slice;
		}
		TakeRows(*this, i, *rows, global, thread);
	}
	return duckdb::SinkResultType::NEED_MORE_INPUT;
}

duckdb::SinkCombineResultType LakeMerge::Combine(duckdb::ExecutionContext&,
												 duckdb::OperatorSinkCombineInput& input) const {
	auto& global = input.global_state.Cast<MergeState>();
	auto& thread = input.local_state.Cast<ThreadState>();
	if (!global.work) return duckdb::SinkCombineResultType::FINISHED;
	for (auto& arm : thread.arms) {
		if (global.output) global.output->FinishThread(arm.output);
	}
	std::lock_guard guard(global.mutex);
	global.positions.Merge(std::move(thread.positions));
	for (size_t i = 0; i < arms.size(); i++) global.rows[i] += thread.arms[i].rows;
	if (returning) global.result.returned->Combine(*thread.returned);
	return duckdb::SinkCombineResultType::FINISHED;
}

duckdb::SinkFinalizeType LakeMerge::Finalize(duckdb::Pipeline&, duckdb::Event&, duckdb::ClientContext& context,
											 duckdb::OperatorSinkFinalizeInput& input) const {
	auto& global = input.global_state.Cast<MergeState>();
	if (!global.work) return duckdb::SinkFinalizeType::READY;
	auto& work = *global.work;
	if (global.positions.duplicate() && !MayMatchTwice())
		RefuseDoubleMatch(context, work, *global.positions.duplicate());
	auto counts = CountRows(*this, global);
	global.changed = counts.inserted + global.positions.Cardinality();
	auto files = global.output ? global.output->Finish() : std::vector<NewFile>();
	if (global.changed == 0 && !evolved && work.work.changes.set_transactions.empty())
		return duckdb::SinkFinalizeType::READY;
	NameOperation(work, "MERGE");
	StageDeletions(context, work, global.positions.by_file());
	if (global.origins) global.origins->Stage(work);
	if (global.ids) global.ids->Stage();
	StageNewFiles(work, std::move(files));
	std::lock_guard guard(work.mutex);
	if (work.work.operation == "MERGE") work.work.operation_parameters = parameters;
	AddMetrics(work, counts, global.started_ms);
	if (auto* source = FindSourceCapture(children[0].get())) AddMetric(work, "numSourceRows", source->rows());
	return duckdb::SinkFinalizeType::READY;
}

duckdb::SourceResultType LakeMerge::GetDataInternal(duckdb::ExecutionContext&, duckdb::DataChunk& chunk,
													duckdb::OperatorSourceInput&) const {
	auto& global = sink_state->Cast<MergeState>();
	return global.result.Next(global.changed, chunk) ? duckdb::SourceResultType::HAVE_MORE_OUTPUT
													 : duckdb::SourceResultType::FINISHED;
}

}  // namespace braid::engine
