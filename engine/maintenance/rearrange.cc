// SPDX-License-Identifier: Apache-2.0
// Threads share the output and nothing else; Finalize stages, on one thread, after all of them.
#include "engine/maintenance/rearrange.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <span>

#include "base/environment.h"
#include "duckdb/common/vector_operations/unary_executor.hpp"
#include "duckdb/execution/physical_plan_generator.hpp"
#include "duckdb/function/scalar_function.hpp"
#include "duckdb/planner/expression/bound_function_expression.hpp"
#include "engine/io/error_translation.h"
#include "engine/write/parquet_output.h"
#include "engine/write/row_origins.h"
#include "engine/write/stable_ids.h"
#include "engine/write/staging.h"
#include "kernel/txn/row_map.h"

namespace braid::engine {

namespace {

using duckdb::LogicalType;
using duckdb::Value;

LogicalType FileFigures() {
	return LogicalType::STRUCT({{"min", LogicalType::BIGINT},
								{"max", LogicalType::BIGINT},
								{"avg", LogicalType::DOUBLE},
								{"totalFiles", LogicalType::BIGINT},
								{"totalSize", LogicalType::BIGINT}});
}

Value FileFigures(std::vector<int64_t> sizes) {
	if (sizes.empty()) sizes.push_back(0);
	const auto total = std::accumulate(sizes.begin(), sizes.end(), int64_t {0});
	const auto files = static_cast<int64_t>(total == 0 ? 0 : sizes.size());
	const auto average = files == 0 ? 0.0 : static_cast<double>(total) / static_cast<double>(files);
	return Value::STRUCT(FileFigures(), {Value::BIGINT(*std::ranges::min_element(sizes)),
										 Value::BIGINT(*std::ranges::max_element(sizes)), Value::DOUBLE(average),
										 Value::BIGINT(files), Value::BIGINT(total)});
}

LogicalType Metrics() {
	return LogicalType::STRUCT({{"numFilesAdded", LogicalType::BIGINT},
								{"numFilesRemoved", LogicalType::BIGINT},
								{"filesAdded", FileFigures()},
								{"filesRemoved", FileFigures()},
								{"partitionsOptimized", LogicalType::BIGINT},
								{"numBins", LogicalType::BIGINT},
								{"totalConsideredFiles", LogicalType::BIGINT},
								{"totalFilesSkipped", LogicalType::BIGINT},
								{"numRowsMoved", LogicalType::BIGINT},
								{"numDeletionVectorsRemoved", LogicalType::BIGINT},
								{"numDeletedRowsPurged", LogicalType::BIGINT},
								{"executionTimeMs", LogicalType::BIGINT}});
}

// Of the new files, in ascending order (properties.md 6.4).
void DescribeSizes(const std::vector<int64_t>& sizes, std::map<std::string, std::string>& metrics) {
	const auto at = [&](size_t percent) {
		return std::to_string(sizes.empty() ? 0 : sizes[(sizes.size() - 1) * percent / 100]);
	};
	metrics["minFileSize"] = at(0);
	metrics["p25FileSize"] = at(25);
	metrics["p50FileSize"] = at(50);
	metrics["p75FileSize"] = at(75);
	metrics["maxFileSize"] = at(100);
}

struct Moved : duckdb::GlobalSinkState {
	TableWork* work = nullptr;
	int64_t started_ms = SystemClock().MonotonicMs();
	std::unique_ptr<RowMapWriter> map;
	std::unique_ptr<StableIds> ids;  // null: the table does not keep them
	std::vector<StableIds::FileIds> source_ids;
	std::unique_ptr<ParquetOutput> output;

	std::mutex mutex;            // guards what follows
	std::vector<uint64_t> rows;  // by source
	std::vector<int64_t> added;  // sizes
	uint64_t partitions = 0;
};

struct Mover : duckdb::LocalSinkState {
	ParquetOutput::Local output;
	std::vector<uint64_t> rows;  // by source
};

class Rearrange : public duckdb::PhysicalOperator {
public:
	Rearrange(duckdb::PhysicalPlan& plan, std::shared_ptr<const RearrangeSpec> spec_p)
		: PhysicalOperator(plan, duckdb::PhysicalOperatorType::EXTENSION, RearrangeTypes(), 1),
		  spec(std::move(spec_p)) {}

	std::shared_ptr<const RearrangeSpec> spec;

	std::string GetName() const override { return "BRAID " + spec->operation; }
	bool IsSink() const override { return !children.empty(); }
	// Sorted rows come to each thread in stretches of a row group's length.
	bool ParallelSink() const override { return true; }
	bool SinkOrderDependent() const override { return false; }
	duckdb::OperatorPartitionInfo RequiredPartitionInfo() const override {
		return duckdb::OperatorPartitionInfo::BatchIndex();
	}
	bool IsSource() const override { return true; }

	duckdb::unique_ptr<duckdb::GlobalSinkState> GetGlobalSinkState(duckdb::ClientContext& context) const override {
		auto state = duckdb::make_uniq<Moved>();
		auto lake = spec->lake;
		state->work = &LakeTransaction::Get(context, *lake).Modify(context, spec->table);
		auto types = children[0].get().types;
		types.resize(types.size() - 2);
		state->map = CreateMap(context, *state->work);
		state->ids = StableIds::For(*state->work);
		for (auto& source : spec->sources) {
			auto* file = spec->view->files->Find(source.path);
			state->source_ids.push_back({file->base_row_id, file->default_row_commit_version});
		}
		auto& written = state->ids ? *state->ids->written() : *spec->view;
		state->output = std::make_unique<ParquetOutput>(context, *state->work, written, types);
		state->output->GiveWay();
		state->output->SendOriginsTo(
			[map = state->map.get()](auto& file, auto runs) { Unwrap(map->Append(file, runs)); });
		state->rows.resize(spec->sources.size());
		return state;
	}

	duckdb::unique_ptr<duckdb::LocalSinkState> GetLocalSinkState(duckdb::ExecutionContext&) const override {
		auto state = duckdb::make_uniq<Mover>();
		state->rows.resize(spec->sources.size());
		return state;
	}

	duckdb::SinkResultType Sink(duckdb::ExecutionContext&, duckdb::DataChunk& chunk,
								duckdb::OperatorSinkInput& input) const override {
		auto& thread = input.local_state.Cast<Mover>();
		auto& global = input.global_state.Cast<Moved>();
		duckdb::UnifiedVectorFormat sources;
		chunk.data[chunk.ColumnCount() - 2].ToUnifiedFormat(chunk.size(), sources);
		const auto source_of = [&](duckdb::idx_t row) -> size_t {
			return duckdb::UnifiedVectorFormat::GetData<uint64_t>(sources)[sources.sel->get_index(row)];
		};
		const auto runs = PlacesOf(chunk.data[chunk.ColumnCount() - 1], chunk.size(), source_of);
		for (auto& run : runs) thread.rows[run.source] += run.count;
		duckdb::DataChunk with_ids;
		auto* moved = &chunk;
		if (global.ids) {
			global.ids->Complete(
				chunk, [&](duckdb::idx_t row) { return global.source_ids[source_of(row)]; }, with_ids);
			moved = &with_ids;
		}
		auto types = chunk.GetTypes();
		types.resize(types.size() - 2);
		duckdb::idx_t first = 0;
		for (auto run = runs.begin(); run != runs.end();) {
			const auto bin = BinOf(*run);
			const auto from = run;
			duckdb::idx_t count = 0;
			for (; run != runs.end() && BinOf(*run) == bin; ++run) count += run->count;
			duckdb::DataChunk rows;
			rows.InitializeEmpty(types);
			for (size_t i = 0; i < types.size(); i++) rows.data[i].Slice(moved->data[i], first, first + count);
			rows.SetCardinality(count);
			global.output->AppendGroup(thread.output, std::to_string(bin), rows, std::span(from, run));
			first += count;
		}
		return duckdb::SinkResultType::NEED_MORE_INPUT;
	}

	// A batch is a row group that is read, or a stretch of sorted rows.
	duckdb::SinkNextBatchType NextBatch(duckdb::ExecutionContext&,
										duckdb::OperatorSinkNextBatchInput& input) const override {
		input.global_state.Cast<Moved>().output->EndStretch(input.local_state.Cast<Mover>().output);
		return duckdb::SinkNextBatchType::READY;
	}

	duckdb::SinkCombineResultType Combine(duckdb::ExecutionContext&,
										  duckdb::OperatorSinkCombineInput& input) const override {
		auto& global = input.global_state.Cast<Moved>();
		auto& thread = input.local_state.Cast<Mover>();
		global.output->FinishThread(thread.output);
		std::lock_guard guard(global.mutex);
		for (size_t i = 0; i < global.rows.size(); i++) global.rows[i] += thread.rows[i];
		return duckdb::SinkCombineResultType::FINISHED;
	}

	duckdb::SinkFinalizeType Finalize(duckdb::Pipeline&, duckdb::Event&, duckdb::ClientContext&,
									  duckdb::OperatorSinkFinalizeInput& input) const override {
		auto& global = input.global_state.Cast<Moved>();
		CheckComplete(global);
		if (global.ids) global.ids->Stage();
		auto files = global.output->Finish();
		Unwrap(global.map->Finish());
		std::set<PartitionValues> partitions;
		for (auto& file : files) {
			if (spec->clusters) file.add.clustering_provider = kClusteringProvider;
			global.added.push_back(file.add.size);
			partitions.insert(file.add.partition_values);
		}
		std::ranges::sort(global.added);
		global.partitions = spec->view->metadata.partition_columns.empty() ? 0 : partitions.size();
		NameOperation(*global.work, spec->operation);
		StageNewFiles(*global.work, std::move(files));
		std::lock_guard guard(global.work->mutex);
		auto& work = global.work->work;
		for (auto& source : spec->sources) work.changes.replaced_files.push_back(source.path);
		work.changes.row_map = global.map->path();
		work.changes.data_change = false;
		work.operation_parameters = spec->operation_parameters;
		DescribeSizes(global.added, work.operation_metrics);
		return duckdb::SinkFinalizeType::READY;
	}

protected:
	duckdb::SourceResultType GetDataInternal(duckdb::ExecutionContext&, duckdb::DataChunk& chunk,
											 duckdb::OperatorSourceInput& input) const override;
	duckdb::unique_ptr<duckdb::GlobalSourceState> GetGlobalSourceState(duckdb::ClientContext&) const override {
		return duckdb::make_uniq<Answer>();
	}

private:
	struct Answer : duckdb::GlobalSourceState {
		bool given = false;
	};

	std::unique_ptr<RowMapWriter> CreateMap(duckdb::ClientContext& context, TableWork& work) const;
	size_t BinOf(const ParquetOutput::Run& run) const { return spec->sources[run.source].bin; }
	void CheckComplete(const Moved& moved) const;
};

std::unique_ptr<RowMapWriter> Rearrange::CreateMap(duckdb::ClientContext& context, TableWork& work) const {
	std::vector<MappedFile> sources;
	for (auto& source : spec->sources) {
		auto rows = source.live_rows ? *source.live_rows + static_cast<uint64_t>(source.deleted_rows)
									 : CountPhysicalRows(context, work, source.path);
		sources.push_back({source.path, rows});
	}
	auto path = NewRowMapPath(SystemRandom());
	{
		std::lock_guard guard(work.mutex);
		work.created_files.push_back(path);
	}
	return Unwrap(RowMapWriter::Create(work.table->store(), std::move(path), sources));
}

void Rearrange::CheckComplete(const Moved& moved) const {
	for (size_t i = 0; i < spec->sources.size(); i++) {
		auto& source = spec->sources[i];
		if (!source.live_rows || *source.live_rows == moved.rows[i]) continue;
		throw duckdb::IOException("%s of table %s: the log says that file %s has %llu rows, but %llu were read",
								  spec->operation, spec->table->root(), source.path, *source.live_rows, moved.rows[i]);
	}
}

duckdb::SourceResultType Rearrange::GetDataInternal(duckdb::ExecutionContext&, duckdb::DataChunk& chunk,
													duckdb::OperatorSourceInput& input) const {
	auto& answer = input.global_state.Cast<Answer>();
	if (answer.given) return duckdb::SourceResultType::FINISHED;
	answer.given = true;
	std::vector<int64_t> added, removed;
	int64_t vectors = 0, purged = 0, rows = 0, partitions = 0, elapsed = 0;
	if (sink_state) {
		auto& moved = sink_state->Cast<Moved>();
		added = moved.added;
		partitions = static_cast<int64_t>(moved.partitions);
		elapsed = SystemClock().MonotonicMs() - moved.started_ms;
		for (auto count : moved.rows) rows += static_cast<int64_t>(count);
	}
	for (auto& source : spec->sources) {
		removed.push_back(source.size);
		vectors += source.deleted_rows > 0;
		purged += source.deleted_rows;
	}
	const auto count = [](size_t n) { return Value::BIGINT(static_cast<int64_t>(n)); };
	chunk.SetValue(0, 0, Value(spec->table->root()));
	chunk.SetValue(
		1, 0,
		Value::STRUCT(Metrics(), {count(added.size()), count(removed.size()), FileFigures(added), FileFigures(removed),
								  Value::BIGINT(partitions), count(spec->bins), count(spec->considered),
								  count(spec->considered - removed.size()), Value::BIGINT(rows), Value::BIGINT(vectors),
								  Value::BIGINT(purged), Value::BIGINT(elapsed)}));
	chunk.SetCardinality(1);
	return duckdb::SourceResultType::HAVE_MORE_OUTPUT;
}

struct SourceNumbers : duckdb::FunctionData {
	std::shared_ptr<const RearrangeSpec> spec;
	duckdb::unique_ptr<FunctionData> Copy() const override { return duckdb::make_uniq<SourceNumbers>(*this); }
	bool Equals(const FunctionData& other) const override { return spec == other.Cast<SourceNumbers>().spec; }
};

// A vector of the scan has one name for all rows.
void NumberSources(duckdb::DataChunk& names, duckdb::ExpressionState& state, duckdb::Vector& result) {
	auto& data = state.expr.Cast<duckdb::BoundFunctionExpression>().bind_info->Cast<SourceNumbers>();
	duckdb::UnaryExecutor::Execute<duckdb::string_t, uint64_t>(
		names.data[0], result, names.size(),
		[&](duckdb::string_t name) { return data.spec->source_by_name.at(name.GetString()); });
}

}  // namespace

duckdb::unique_ptr<duckdb::Expression> SourceNumber(std::shared_ptr<const RearrangeSpec> spec,
													duckdb::unique_ptr<duckdb::Expression> name) {
	auto data = duckdb::make_uniq<SourceNumbers>();
	data->spec = std::move(spec);
	duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> arguments;
	arguments.push_back(std::move(name));
	duckdb::ScalarFunction function("braid_source_number", {LogicalType::VARCHAR}, LogicalType::UBIGINT, NumberSources);
	return duckdb::make_uniq<duckdb::BoundFunctionExpression>(LogicalType::UBIGINT, std::move(function),
															  std::move(arguments), std::move(data));
}

duckdb::vector<LogicalType> RearrangeTypes() { return {LogicalType::VARCHAR, Metrics()}; }
duckdb::vector<std::string> RearrangeNames() { return {"path", "metrics"}; }

LogicalRearrange::LogicalRearrange(duckdb::idx_t table_index_p, std::shared_ptr<const RearrangeSpec> spec_p)
	: table_index(table_index_p), spec(std::move(spec_p)) {}

duckdb::vector<duckdb::ColumnBinding> LogicalRearrange::GetColumnBindings() {
	return {duckdb::ColumnBinding(table_index, 0), duckdb::ColumnBinding(table_index, 1)};
}

duckdb::PhysicalOperator& LogicalRearrange::CreatePlan(duckdb::ClientContext&, duckdb::PhysicalPlanGenerator& planner) {
	auto& moved = planner.Make<Rearrange>(spec);
	if (!children.empty()) moved.children.push_back(planner.CreatePlan(*children[0]));
	return moved;
}

}  // namespace braid::engine
