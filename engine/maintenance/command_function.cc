// SPDX-License-Identifier: Apache-2.0
#include "engine/maintenance/command_function.h"

#include "duckdb/common/exception/binder_exception.hpp"
#include "duckdb/main/extension/extension_loader.hpp"
#include "duckdb/planner/binder.hpp"

namespace braid::engine {

namespace {

struct FunctionInfo final : duckdb::TableFunctionInfo {
	CommandFunction function;
};

struct BindData final : duckdb::TableFunctionData {
	Command command;

	duckdb::unique_ptr<duckdb::FunctionData> Copy() const override { return duckdb::make_uniq<BindData>(*this); }
	bool Equals(const duckdb::FunctionData& other) const override { return this == &other; }
};

struct State final : duckdb::GlobalTableFunctionState {
	bool ran = false;
	AnswerRows rows;
	size_t next = 0;
};

duckdb::unique_ptr<duckdb::FunctionData> Bind(duckdb::ClientContext& context, duckdb::TableFunctionBindInput& input,
											  duckdb::vector<duckdb::LogicalType>& types,
											  duckdb::vector<duckdb::string>& names) {
	const auto& function = input.table_function.function_info->Cast<FunctionInfo>().function;
	for (const auto& value : input.inputs) {
		if (value.IsNull()) throw duckdb::BinderException("%s: an argument is NULL", function.name);
	}
	if (input.binder) input.binder->SetAlwaysRequireRebind();
	for (const auto& [name, type] : function.columns) {
		names.push_back(name);
		types.push_back(type);
	}
	auto data = duckdb::make_uniq<BindData>();
	data->command = function.bind(context, input);
	return data;
}

duckdb::unique_ptr<duckdb::GlobalTableFunctionState> Start(duckdb::ClientContext&, duckdb::TableFunctionInitInput&) {
	return duckdb::make_uniq<State>();
}

void Run(duckdb::ClientContext& context, duckdb::TableFunctionInput& input, duckdb::DataChunk& output) {
	auto& state = input.global_state->Cast<State>();
	if (!state.ran) state.rows = input.bind_data->Cast<BindData>().command(context);
	state.ran = true;
	duckdb::idx_t count = 0;
	for (; count < STANDARD_VECTOR_SIZE && state.next < state.rows.size(); count++, state.next++) {
		const auto& row = state.rows[state.next];
		for (duckdb::idx_t i = 0; i < row.size(); i++) output.SetValue(i, count, row[i]);
	}
	output.SetCardinality(count);
}

}  // namespace

void RegisterCommand(duckdb::ExtensionLoader& loader, CommandFunction function) {
	duckdb::TableFunction table_function(function.name, function.arguments, Run, Bind, Start);
	for (const auto& [name, type] : function.options) table_function.named_parameters[name] = type;
	table_function.bind_replace = function.replace;
	auto info = duckdb::make_shared_ptr<FunctionInfo>();
	info->function = std::move(function);
	table_function.function_info = std::move(info);
	loader.RegisterFunction(table_function);
}

}  // namespace braid::engine
