// SPDX-License-Identifier: Apache-2.0
// A thread that is stopped early (the join has found out that nothing can match) never gets to FinalExecute, and the set
// stays incomplete.
#include "engine/write/key_capture.h"

#include "duckdb/execution/expression_executor.hpp"
#include "duckdb/execution/physical_plan_generator.hpp"

namespace braid::engine {

namespace {

using duckdb::DataChunk;

struct CaptureState : duckdb::OperatorState {
	std::unique_ptr<duckdb::ExpressionExecutor> executor;
	DataChunk keys;
	KeySet::Share share;
};

}  // namespace

KeyCapture::KeyCapture(duckdb::PhysicalPlan& plan, duckdb::vector<duckdb::LogicalType> result_types,
					   duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> keys, std::shared_ptr<KeySet> set,
					   bool whole_source, duckdb::idx_t estimate)
	: PhysicalOperator(plan, duckdb::PhysicalOperatorType::EXTENSION, std::move(result_types), estimate),
	  keys_(std::move(keys)),
	  set_(std::move(set)),
	  whole_source_(whole_source) {}

duckdb::unique_ptr<duckdb::OperatorState> KeyCapture::GetOperatorState(duckdb::ExecutionContext& context) const {
	auto state = duckdb::make_uniq<CaptureState>();
	if (!set_) return state;
	state->executor = std::make_unique<duckdb::ExpressionExecutor>(context.client, keys_);
	duckdb::vector<duckdb::LogicalType> key_types;
	for (auto& key : keys_) key_types.push_back(key->return_type);
	state->keys.Initialize(context.client, key_types);
	state->share = set_->Open();
	return state;
}

duckdb::OperatorResultType KeyCapture::Execute(duckdb::ExecutionContext&, DataChunk& input, DataChunk& chunk,
											   duckdb::GlobalOperatorState&, duckdb::OperatorState& state_p) const {
	auto& state = state_p.Cast<CaptureState>();
	rows_ += input.size();
	if (set_) {
		state.keys.Reset();
		state.executor->Execute(input, state.keys);
		set_->Add(state.share, state.keys);
	}
	chunk.Reference(input);
	return duckdb::OperatorResultType::NEED_MORE_INPUT;
}

duckdb::OperatorFinalizeResultType KeyCapture::FinalExecute(duckdb::ExecutionContext&, DataChunk&,
															duckdb::GlobalOperatorState&,
															duckdb::OperatorState& state_p) const {
	if (set_) set_->Close(state_p.Cast<CaptureState>().share);
	return duckdb::OperatorFinalizeResultType::FINISHED;
}

LogicalKeyCapture::LogicalKeyCapture(duckdb::unique_ptr<duckdb::LogicalOperator> child,
									 duckdb::vector<duckdb::unique_ptr<duckdb::Expression>> keys,
									 std::shared_ptr<KeySet> key_set, bool is_whole_source)
	: LogicalExtensionOperator(std::move(keys)), set(std::move(key_set)), whole_source(is_whole_source) {
	has_estimated_cardinality = child->has_estimated_cardinality;
	estimated_cardinality = child->estimated_cardinality;
	children.push_back(std::move(child));
}

duckdb::PhysicalOperator& LogicalKeyCapture::CreatePlan(duckdb::ClientContext&,
														duckdb::PhysicalPlanGenerator& planner) {
	auto& child = planner.CreatePlan(*children[0]);
	auto& capture = planner.Make<KeyCapture>(types, std::move(expressions), set, whole_source, estimated_cardinality);
	capture.children.push_back(child);
	return capture;
}

const KeyCapture* FindSourceCapture(const duckdb::PhysicalOperator& plan) {
	auto* capture = dynamic_cast<const KeyCapture*>(&plan);
	if (capture && capture->whole_source()) return capture;
	for (auto& child : plan.children) {
		if (auto* found = FindSourceCapture(child.get())) return found;
	}
	return nullptr;
}

}  // namespace braid::engine
