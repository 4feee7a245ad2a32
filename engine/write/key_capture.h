// SPDX-License-Identifier: Apache-2.0
// KeyCapture: a pass-through operator below a join with the target of a statement: the rows go on untouched, their join
// keys go into a KeySet. Guarantees: the set is complete only if every row that the join may have seen was captured.
#pragma once

#include <atomic>
#include <memory>

#include "duckdb/execution/physical_operator.hpp"
#include "duckdb/planner/operator/logical_extension_operator.hpp"
#include "engine/scan/key_set.h"

namespace braid::engine {

class KeyCapture : public duckdb::PhysicalOperator {
public:
	KeyCapture(duckdb::PhysicalPlan& plan, duckdb::vector<duckdb::LogicalType> types,
			   duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> keys, std::shared_ptr<KeySet> set,
			   bool whole_source, duckdb::idx_t estimated_cardinality);

	bool whole_source() const { return whole_source_; }
	uint64_t rows() const { return rows_; }

	std::string GetName() const override { return "BRAID KEYS"; }
	bool ParallelOperator() const override { return true; }
	bool RequiresFinalExecute() const override { return true; }
	duckdb::unique_ptr<duckdb::OperatorState> GetOperatorState(duckdb::ExecutionContext& context) const override;
	duckdb::OperatorResultType Execute(duckdb::ExecutionContext& context, duckdb::DataChunk& input,
									   duckdb::DataChunk& chunk, duckdb::GlobalOperatorState& global,
									   duckdb::OperatorState& state) const override;
	duckdb::OperatorFinalizeResultType FinalExecute(duckdb::ExecutionContext& context, duckdb::DataChunk& chunk,
													duckdb::GlobalOperatorState& global,
													duckdb::OperatorState& state) const override;

private:
	duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> keys_;
	std::shared_ptr<KeySet> set_;  // null: only counts
	bool whole_source_;            // what passes is the source of a MERGE, row by row
	mutable std::atomic<uint64_t> rows_ = 0;
};

// `expressions` are the keys.
struct LogicalKeyCapture : duckdb::LogicalExtensionOperator {
	LogicalKeyCapture(duckdb::unique_ptr<duckdb::LogicalOperator> child,
					  duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> keys, std::shared_ptr<KeySet> set,
					  bool whole_source);

	duckdb::string GetName() const override { return "BRAID_KEYS"; }
	duckdb::vector<duckdb::ColumnBinding> GetColumnBindings() override { return children[0]->GetColumnBindings(); }
	duckdb::PhysicalOperator& CreatePlan(duckdb::ClientContext& context,
										 duckdb::PhysicalPlanGenerator& planner) override;

	std::shared_ptr<KeySet> set;
	bool whole_source;

protected:
	void ResolveTypes() override { types = children[0]->types; }
};

// The operator below `plan` that sees the whole source of a MERGE; null if there is none.
const KeyCapture* FindSourceCapture(const duckdb::PhysicalOperator& plan);

}  // namespace braid::engine
