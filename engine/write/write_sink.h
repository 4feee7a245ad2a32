// SPDX-License-Identifier: Apache-2.0
// LakeWrite: the one physical operator that changes a lake table (design.md, section 3, steps 6 to 9). It writes new
// rows to data files, collects the positions of rows that go, keeps rows for RETURNING, and stages all of it in the
// transaction when the last thread is done. Guarantees: a statement that fails stages nothing; a row is never changed
// twice by one UPDATE; every row written obeys the rules of the table (row_rules.h).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "duckdb/execution/physical_operator.hpp"
#include "duckdb/planner/expression.hpp"
#include "duckdb/planner/parsed_data/bound_create_table_info.hpp"
#include "engine/catalog/transaction.h"
#include "engine/write/insert_mode.h"

namespace braid::engine {

class ParquetOutput;

enum class WriteKind { kInsert, kDelete, kUpdate, kCreateTableAs };

class LakeWrite : public duckdb::PhysicalOperator {
public:
	LakeWrite(duckdb::PhysicalPlan& plan, duckdb::vector<duckdb::LogicalType> types, WriteKind kind,
			  duckdb::Catalog& catalog, std::shared_ptr<TableHandle> table, duckdb::idx_t estimated_cardinality);

	WriteKind kind;
	duckdb::Catalog& catalog;
	std::shared_ptr<TableHandle> table;
	bool returning = false;
	bool keeps_order = false;  // the rows come sorted: one thread writes them in that order
	// From a chunk of the child to rows in table order: new images of UPDATE, old ones of DELETE ... RETURNING. Empty:
	// the chunk is such rows. A table that keeps row ids has one more of UPDATE: the id that the old row's file says.
	duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> images;
	duckdb::idx_t file_column = 0;  // of the child's chunk: filename and file_row_number
	duckdb::idx_t position_column = 0;
	duckdb::unique_ptr<duckdb::BoundCreateTableInfo> create;  // kCreateTableAs
	std::optional<InsertMode> insert_mode;                    // kInsert: rows that go

	bool writes_rows() const { return kind != WriteKind::kDelete; }
	bool removes_rows() const { return kind == WriteKind::kDelete || kind == WriteKind::kUpdate; }

	std::string GetName() const override;
	bool IsSink() const override { return true; }
	bool ParallelSink() const override {
		return !keeps_order &&
			   !(returning && kind == WriteKind::kDelete);  // one thread knows which rows it has returned
	}
	bool SinkOrderDependent() const override { return keeps_order; }
	bool IsSource() const override { return true; }

	duckdb::unique_ptr<duckdb::GlobalSinkState> GetGlobalSinkState(duckdb::ClientContext& context) const override;
	duckdb::unique_ptr<duckdb::LocalSinkState> GetLocalSinkState(duckdb::ExecutionContext& context) const override;
	duckdb::SinkResultType Sink(duckdb::ExecutionContext& context, duckdb::DataChunk& chunk,
								duckdb::OperatorSinkInput& input) const override;
	duckdb::SinkCombineResultType Combine(duckdb::ExecutionContext& context,
										  duckdb::OperatorSinkCombineInput& input) const override;
	duckdb::SinkFinalizeType Finalize(duckdb::Pipeline& pipeline, duckdb::Event& event, duckdb::ClientContext& context,
									  duckdb::OperatorSinkFinalizeInput& input) const override;

protected:
	virtual void StageOutput(duckdb::ClientContext& context, TableWork& work,
							 std::shared_ptr<ParquetOutput> output) const;
	// After all rows: finishes the files and stages the changes.
	void Stage(duckdb::ClientContext& context, duckdb::GlobalSinkState& state) const;
	// The next rows of the statement's result: the number of rows changed, or those for RETURNING. False: they were the last.
	bool Return(duckdb::GlobalSinkState& state, duckdb::DataChunk& chunk) const;
	duckdb::SourceResultType GetDataInternal(duckdb::ExecutionContext& context, duckdb::DataChunk& chunk,
											 duckdb::OperatorSourceInput& input) const override;
};

}  // namespace braid::engine
