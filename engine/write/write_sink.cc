// SPDX-License-Identifier: Apache-2.0
// Threads share nothing until Combine; Finalize runs once, on one thread, after all of them.
#include "engine/write/write_sink.h"

#include "base/environment.h"
#include "duckdb/execution/expression_executor.hpp"
#include "engine/catalog/create_table.h"
#include "engine/io/error_translation.h"
#include "engine/write/parquet_output.h"
#include "engine/write/position_collector.h"
#include "engine/write/replacement.h"
#include "engine/write/row_origins.h"
#include "engine/write/row_rules.h"
#include "engine/write/stable_ids.h"
#include "engine/write/staging.h"
#include "engine/write/statement_result.h"
#include "engine/write/write_once.h"
#include "kernel/feature/write_requirements.h"

namespace braid::engine {

namespace {

struct WriteState : duckdb::GlobalSinkState {
	TableWork* work = nullptr;
	SnapshotPtr view;
	int64_t started_ms = SystemClock().MonotonicMs();
	std::unique_ptr<RowRules> rules;
	std::unique_ptr<Replacement> replacement;
	std::shared_ptr<ParquetOutput> output;
	std::unique_ptr<RowOrigins> origins;  // null: nobody asks for them
	std::unique_ptr<StableIds> ids;       // null: the new rows carry none

	std::mutex mutex;  // guards what follows
	PositionCollector positions;
	uint64_t rows = 0;
	StatementResult result;
};

struct ThreadState : duckdb::LocalSinkState {
	duckdb::unique_ptr<duckdb::ExpressionExecutor> executor;
	duckdb::DataChunk image;
	duckdb::DataChunk table_rows;  // the image without what it says of ids
	RowRules::Local rules;
	ParquetOutput::Local output;
	PositionCollector positions;
	uint64_t rows = 0;
	duckdb::unique_ptr<duckdb::ColumnDataCollection> returned;
};

const char* OperationName(WriteKind kind) {
	switch (kind) {
		case WriteKind::kInsert:
			return "WRITE";
		case WriteKind::kDelete:
			return "DELETE";
		case WriteKind::kUpdate:
			return "UPDATE";
		case WriteKind::kCreateTableAs:
			return "CREATE TABLE AS SELECT";
	}
	return "";
}

[[noreturn]] void RefuseDoubleMatch(duckdb::ClientContext& context, TableWork& work, const RowAddress& row) {
	throw duckdb::InvalidInputException(
		"UPDATE of table %s: row (%s) is matched by more than one source row; each row can be updated once",
		work.table->root(), PictureOf(context, work, row));
}

}  // namespace

LakeWrite::LakeWrite(duckdb::PhysicalPlan& plan, duckdb::vector<duckdb::LogicalType> result_types, WriteKind kind_p,
					 duckdb::Catalog& catalog_p, std::shared_ptr<TableHandle> table_p, duckdb::idx_t estimate)
	: PhysicalOperator(plan, duckdb::PhysicalOperatorType::EXTENSION, std::move(result_types), estimate),
	  kind(kind_p),
	  catalog(catalog_p),
	  table(std::move(table_p)) {}

std::string LakeWrite::GetName() const {
	return std::string("BRAID ") + (kind == WriteKind::kInsert ? "INSERT" : OperationName(kind));
}

duckdb::unique_ptr<duckdb::GlobalSinkState> LakeWrite::GetGlobalSinkState(duckdb::ClientContext& context) const {
	auto state = duckdb::make_uniq<WriteState>();
	auto& transaction = LakeTransaction::Get(context, catalog);
	if (kind == WriteKind::kCreateTableAs && !CreateTable(context, transaction, table, *create, true)) return state;
	if (returning) state->result.returned = duckdb::make_uniq<duckdb::ColumnDataCollection>(context, types);
	auto& work = transaction.Modify(context, table);
	if (kind != WriteKind::kCreateTableAs && IsWrittenAlready(context, work, OperationName(kind))) return state;
	state->work = &work;
	state->view = state->work->view;
	const bool removes = removes_rows() || insert_mode;
	Unwrap(CheckWrite(*state->view, removes ? TableOperation::kChange : TableOperation::kAppend));
	if (insert_mode) state->replacement = std::make_unique<Replacement>(context, state->view, *insert_mode);
	auto& row_types = kind == WriteKind::kDelete ? types : children[0].get().types;
	auto table_types = images.empty() ? row_types : duckdb::vector<duckdb::LogicalType>();
	for (auto& image : images) table_types.push_back(image->return_type);
	if (writes_rows()) {
		state->rules = std::make_unique<RowRules>(context, state->view);
		if (kind == WriteKind::kUpdate && images.size() > state->view->schema->fields.size()) {
			table_types.pop_back();
			state->ids = StableIds::For(work);
		}
		state->output = state->ids ? std::make_shared<ParquetOutput>(context, work, *state->ids->written(),
																	 StableIds::WithIds(table_types))
								   : std::make_shared<ParquetOutput>(context, work, *state->view, table_types);
		if (kind == WriteKind::kUpdate && work.work.row_local) state->origins = std::make_unique<RowOrigins>();
	}
	return state;
}

duckdb::unique_ptr<duckdb::LocalSinkState> LakeWrite::GetLocalSinkState(duckdb::ExecutionContext& context) const {
	auto state = duckdb::make_uniq<ThreadState>();
	if (!images.empty()) {
		duckdb::vector<duckdb::LogicalType> image_types;
		for (auto& image : images) image_types.push_back(image->return_type);
		state->executor = duckdb::make_uniq<duckdb::ExpressionExecutor>(context.client, images);
		state->image.Initialize(context.client, image_types);
	}
	if (returning) state->returned = duckdb::make_uniq<duckdb::ColumnDataCollection>(context.client, types);
	return state;
}

duckdb::SinkResultType LakeWrite::Sink(duckdb::ExecutionContext& context, duckdb::DataChunk& chunk,
									   duckdb::OperatorSinkInput& input) const {
	auto& global = input.global_state.Cast<WriteState>();
	auto& thread = input.local_state.Cast<ThreadState>();
	if (!global.work)
		return duckdb::SinkResultType::FINISHED;  // the table exists (IF NOT EXISTS), or has what would be written
	auto* rows = &chunk;
	if (thread.executor) {
		thread.image.Reset();
		thread.executor->Execute(chunk, thread.image);
		const auto columns = global.view->schema->fields.size();
		const bool has_id = kind == WriteKind::kUpdate && thread.image.ColumnCount() > columns;
		rows = has_id ? &FirstColumns(thread.image, columns, thread.table_rows) : &thread.image;
	}
	duckdb::SelectionVector fresh(STANDARD_VECTOR_SIZE);
	auto returned = chunk.size();
	if (removes_rows())
		returned = thread.positions.Add(chunk.data[file_column], chunk.data[position_column], chunk.size(), &fresh);
	if (writes_rows()) {
		rows = &global.rules->Apply(thread.rules, *rows);
		if (global.replacement) global.replacement->CheckNew(context.client, *rows);
		std::vector<ParquetOutput::Run> origins;
		if (global.origins) {
			origins = global.origins->PlacesOf(chunk.data[file_column], chunk.data[position_column], chunk.size());
		}
		auto* written = rows;
		duckdb::DataChunk with_ids;
		if (global.ids) {
			global.ids->Append(*rows,
							   StableIds::Origin {thread.image.data.back(), nullptr,
												  global.ids->ByName(chunk.data[file_column], chunk.size()),
												  chunk.data[position_column]},
							   with_ids);
			written = &with_ids;
		}
		global.output->Append(thread.output, *written, origins);
	}
	if (returning && returned < rows->size()) {  // DELETE ... USING met a row more than once
		duckdb::DataChunk once;
		once.InitializeEmpty(rows->GetTypes());
		once.Slice(*rows, fresh, returned);
		thread.returned->Append(once);
	} else if (returning) {
		thread.returned->Append(*rows);
	}
	thread.rows += chunk.size();
	return duckdb::SinkResultType::NEED_MORE_INPUT;
}

duckdb::SinkCombineResultType LakeWrite::Combine(duckdb::ExecutionContext&,
												 duckdb::OperatorSinkCombineInput& input) const {
	auto& global = input.global_state.Cast<WriteState>();
	auto& thread = input.local_state.Cast<ThreadState>();
	if (!global.work) return duckdb::SinkCombineResultType::FINISHED;
	if (global.output) global.output->FinishThread(thread.output);
	std::lock_guard guard(global.mutex);
	global.positions.Merge(std::move(thread.positions));
	global.rows += thread.rows;
	if (returning) global.result.returned->Combine(*thread.returned);
	return duckdb::SinkCombineResultType::FINISHED;
}

duckdb::SinkFinalizeType LakeWrite::Finalize(duckdb::Pipeline&, duckdb::Event&, duckdb::ClientContext& context,
											 duckdb::OperatorSinkFinalizeInput& input) const {
	Stage(context, input.global_state);
	return duckdb::SinkFinalizeType::READY;
}

void LakeWrite::Stage(duckdb::ClientContext& context, duckdb::GlobalSinkState& state) const {
	auto& global = state.Cast<WriteState>();
	if (!global.work) return;
	auto& work = *global.work;
	if (kind == WriteKind::kUpdate && global.positions.duplicate())
		RefuseDoubleMatch(context, work, *global.positions.duplicate());
	if (kind == WriteKind::kDelete)
		global.rows = global.positions.Cardinality();  // DELETE ... USING may meet a row several times
	const bool says_so = global.rows > 0 || global.replacement || !work.work.changes.set_transactions.empty();
	if (kind != WriteKind::kCreateTableAs && says_so) NameOperation(work, OperationName(kind));
	if (removes_rows()) StageDeletions(context, work, global.positions.by_file());
	if (global.origins) global.origins->Stage(work);
	if (global.ids) global.ids->Stage();
	if (global.replacement) {
		auto files = global.output->Finish();
		global.replacement->Stage(context, work, files);
		StageNewFiles(work, std::move(files));
	} else if (global.output) {
		StageOutput(context, work, std::move(global.output));
	}

	std::lock_guard guard(work.mutex);
	if (writes_rows() && kind != WriteKind::kUpdate) {
		AddMetric(work, "numOutputRows", global.rows);
	} else if (global.rows > 0) {
		AddMetric(work, "executionTimeMs", static_cast<uint64_t>(SystemClock().MonotonicMs() - global.started_ms));
		AddMetric(work, kind == WriteKind::kUpdate ? "numUpdatedRows" : "numDeletedRows", global.rows);
	}
}

void LakeWrite::StageOutput(duckdb::ClientContext&, TableWork& work, std::shared_ptr<ParquetOutput> output) const {
	StageNewFiles(work, output->Finish());
}

bool LakeWrite::Return(duckdb::GlobalSinkState& state, duckdb::DataChunk& chunk) const {
	auto& global = state.Cast<WriteState>();
	return global.result.Next(global.rows, chunk);
}

duckdb::SourceResultType LakeWrite::GetDataInternal(duckdb::ExecutionContext&, duckdb::DataChunk& chunk,
													duckdb::OperatorSourceInput&) const {
	return Return(*sink_state, chunk) ? duckdb::SourceResultType::HAVE_MORE_OUTPUT : duckdb::SourceResultType::FINISHED;
}

}  // namespace braid::engine
