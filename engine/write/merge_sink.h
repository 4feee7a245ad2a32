// SPDX-License-Identifier: Apache-2.0
// LakeMerge: the physical operator of MERGE INTO a lake table. Each row of the join goes to the first arm of its clause
// whose condition is TRUE. All arms share one output and one collection of positions, and are staged as one change when
// the last thread is done. Guarantees: a statement that fails stages nothing; a row of the table is changed by at most
// one row of the source, whichever arms they go to (a lone unconditional DELETE may meet a row several times); what an
// arm computes is computed for its own rows only.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "duckdb/common/enums/merge_action_type.hpp"
#include "duckdb/execution/physical_operator.hpp"
#include "duckdb/planner/expression.hpp"
#include "engine/catalog/transaction.h"

namespace braid::engine {

enum class MergeClause { kMatched, kNotMatched, kNotMatchedBySource };
inline constexpr size_t kMergeClauses = 3;

struct MergeArm {
	MergeClause clause = MergeClause::kMatched;
	duckdb::MergeActionType action = duckdb::MergeActionType::MERGE_DO_NOTHING;
	duckdb::unique_ptr<duckdb::Expression> condition;  // null: always
	// From a row of the join to a row in table order: the new one of UPDATE and INSERT, the old one of DELETE ...
	// RETURNING; the message of ERROR.
	duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> images;

	bool writes_rows() const {
		return action == duckdb::MergeActionType::MERGE_UPDATE || action == duckdb::MergeActionType::MERGE_INSERT;
	}
	bool removes_rows() const {
		return action == duckdb::MergeActionType::MERGE_UPDATE || action == duckdb::MergeActionType::MERGE_DELETE;
	}
};

class LakeMerge : public duckdb::PhysicalOperator {
public:
	LakeMerge(duckdb::PhysicalPlan& plan, duckdb::vector<duckdb::LogicalType> types, duckdb::Catalog& catalog,
			  std::shared_ptr<TableHandle> table, duckdb::idx_t estimated_cardinality);

	duckdb::Catalog& catalog;
	std::shared_ptr<TableHandle> table;
	std::vector<MergeArm> arms;                     // of one clause in the order in which they are tried
	std::map<std::string, std::string> parameters;  // for commitInfo
	SnapshotPtr evolved;  // the table with the columns that this statement adds; null: it adds none
	bool returning = false;
	duckdb::idx_t file_column = 0;  // of the child's chunk: filename and file_row_number; NULL without a target row
	duckdb::idx_t position_column = 0;
	duckdb::optional_idx source_marker;  // of the child's chunk: NULL without a source row; absent: there is always one

	// Spark: several source rows may delete one row, if deleting is all that WHEN MATCHED can do.
	bool MayMatchTwice() const;

	std::string GetName() const override { return "BRAID MERGE"; }
	bool IsSink() const override { return true; }
	bool ParallelSink() const override { return !returning || !MayMatchTwice(); }  // a row is returned once
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
	duckdb::SourceResultType GetDataInternal(duckdb::ExecutionContext& context, duckdb::DataChunk& chunk,
											 duckdb::OperatorSourceInput& input) const override;
};

}  // namespace braid::engine
