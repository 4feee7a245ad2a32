// SPDX-License-Identifier: Apache-2.0
// InlineWrite: LakeWrite for few rows. It runs inside the pipeline of its source, on one thread, instead of as a sink with a
// pipeline of its own behind it, and in autocommit mode the file is written when the transaction commits, which the statement's own
// thread does: a task that another thread takes up costs more than few rows, and the waiting thread spins until it is done. What is
// written does not differ.
#pragma once

#include "engine/write/write_sink.h"

namespace braid::engine {

// Whether a plan reads so few rows, in one straight pipeline, that further threads would not help to write them.
bool ReadsFewRows(duckdb::ClientContext& context, const duckdb::PhysicalOperator& plan);

class InlineWrite final : public LakeWrite {
public:
	using LakeWrite::LakeWrite;

	bool IsSink() const override { return false; }
	bool IsSource() const override { return false; }
	bool RequiresFinalExecute() const override { return true; }

	duckdb::unique_ptr<duckdb::OperatorState> GetOperatorState(duckdb::ExecutionContext& context) const override;
	duckdb::OperatorResultType Execute(duckdb::ExecutionContext& context, duckdb::DataChunk& input,
									   duckdb::DataChunk& chunk, duckdb::GlobalOperatorState& unused,
									   duckdb::OperatorState& state) const override;
	duckdb::OperatorFinalizeResultType FinalExecute(duckdb::ExecutionContext& context, duckdb::DataChunk& chunk,
													duckdb::GlobalOperatorState& unused,
													duckdb::OperatorState& state) const override;

protected:
	void StageOutput(duckdb::ClientContext& context, TableWork& work,
					 std::shared_ptr<ParquetOutput> output) const override;
};

}  // namespace braid::engine
