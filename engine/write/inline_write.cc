// SPDX-License-Identifier: Apache-2.0
// Drives the sink interface of LakeWrite from the operator interface. An operator that is not parallel makes its pipeline run on one
// thread, so there is one state for all rows.
#include "engine/write/inline_write.h"

#include "duckdb/execution/operator/scan/physical_column_data_scan.hpp"
#include "duckdb/execution/operator/scan/physical_expression_scan.hpp"
#include "duckdb/execution/operator/scan/physical_table_scan.hpp"
#include "duckdb/main/client_context.hpp"
#include "engine/write/parquet_output.h"

namespace braid::engine {

namespace {

constexpr duckdb::idx_t kFewRows = 10'000;

struct InlineState : duckdb::OperatorState {
	duckdb::unique_ptr<duckdb::GlobalSinkState> global;
	duckdb::unique_ptr<duckdb::LocalSinkState> local;
	duckdb::InterruptState interrupt;
	bool staged = false;
};

// By what is read, not by what is left of it: a filter over many rows needs every thread.
bool IsSmall(duckdb::ClientContext& context, const duckdb::PhysicalTableScan& scan) {
	if (!scan.function.cardinality) return false;
	auto rows = scan.function.cardinality(context, scan.bind_data.get());
	return rows && rows->has_estimated_cardinality && rows->estimated_cardinality <= kFewRows;
}

}  // namespace

bool ReadsFewRows(duckdb::ClientContext& context, const duckdb::PhysicalOperator& plan) {
	switch (plan.type) {
		case duckdb::PhysicalOperatorType::PROJECTION:
		case duckdb::PhysicalOperatorType::FILTER:
			return ReadsFewRows(context, plan.children[0].get());
		case duckdb::PhysicalOperatorType::EXPRESSION_SCAN:
			return plan.Cast<duckdb::PhysicalExpressionScan>().expressions.size() <= kFewRows &&
				   ReadsFewRows(context, plan.children[0].get());
		case duckdb::PhysicalOperatorType::DUMMY_SCAN:
			return true;
		case duckdb::PhysicalOperatorType::COLUMN_DATA_SCAN: {
			auto& rows = plan.Cast<duckdb::PhysicalColumnDataScan>().collection;
			return rows && rows->Count() <= kFewRows;
		}
		case duckdb::PhysicalOperatorType::TABLE_SCAN:
			return IsSmall(context, plan.Cast<duckdb::PhysicalTableScan>());
		default:
			return false;
	}
}

duckdb::unique_ptr<duckdb::OperatorState> InlineWrite::GetOperatorState(duckdb::ExecutionContext& context) const {
	auto state = duckdb::make_uniq<InlineState>();
	state->global = GetGlobalSinkState(context.client);
	state->local = GetLocalSinkState(context);
	return state;
}

duckdb::OperatorResultType InlineWrite::Execute(duckdb::ExecutionContext& context, duckdb::DataChunk& input,
												duckdb::DataChunk& chunk, duckdb::GlobalOperatorState&,
												duckdb::OperatorState& state) const {
	auto& own = state.Cast<InlineState>();
	duckdb::OperatorSinkInput sink {*own.global, *own.local, own.interrupt};
	Sink(context, input, sink);
	chunk.SetCardinality(0);
	return duckdb::OperatorResultType::NEED_MORE_INPUT;
}

duckdb::OperatorFinalizeResultType InlineWrite::FinalExecute(duckdb::ExecutionContext& context,
															 duckdb::DataChunk& chunk, duckdb::GlobalOperatorState&,
															 duckdb::OperatorState& state) const {
	auto& own = state.Cast<InlineState>();
	if (!own.staged) {
		duckdb::OperatorSinkCombineInput combine {*own.global, *own.local, own.interrupt};
		Combine(context, combine);
		Stage(context.client, *own.global);
		own.staged = true;
	}
	return Return(*own.global, chunk) ? duckdb::OperatorFinalizeResultType::HAVE_MORE_OUTPUT
									  : duckdb::OperatorFinalizeResultType::FINISHED;
}

// Nobody reads the files of an autocommit statement before it commits.
void InlineWrite::StageOutput(duckdb::ClientContext& context, TableWork& work,
							  std::shared_ptr<ParquetOutput> output) const {
	if (!context.transaction.IsAutoCommit()) return LakeWrite::StageOutput(context, work, std::move(output));
	work.late_files = [output = std::move(output)] { return output->Finish(); };
}

}  // namespace braid::engine
