// SPDX-License-Identifier: Apache-2.0
// One thread, so that the order is the source's.
#include "engine/inspect/row_function.h"

#include <algorithm>

#include "duckdb/common/exception.hpp"
#include "duckdb/common/exception/binder_exception.hpp"
#include "duckdb/function/table_function.hpp"
#include "duckdb/main/extension/extension_loader.hpp"

namespace braid::engine {

namespace {

constexpr duckdb::idx_t kFirstChunk = 16;

struct FunctionInfo final : duckdb::TableFunctionInfo {
	RowFunction function;
};

struct BindData final : duckdb::TableFunctionData {
	duckdb::shared_ptr<FunctionInfo> info;
	std::string table;

	duckdb::unique_ptr<duckdb::FunctionData> Copy() const override { return duckdb::make_uniq<BindData>(*this); }
	bool Equals(const duckdb::FunctionData& other) const override {
		const auto& data = other.Cast<BindData>();
		return info == data.info && table == data.table;
	}
};

struct State final : duckdb::GlobalTableFunctionState {
	std::unique_ptr<RowSource> source;
	duckdb::vector<duckdb::column_t> columns;
	std::vector<bool> wanted;
	std::vector<duckdb::Value> row;
	duckdb::idx_t chunk_size = kFirstChunk;
};

duckdb::unique_ptr<duckdb::FunctionData> Bind(duckdb::ClientContext&, duckdb::TableFunctionBindInput& input,
											  duckdb::vector<duckdb::LogicalType>& types,
											  duckdb::vector<duckdb::string>& names) {
	auto data = duckdb::make_uniq<BindData>();
	data->info = duckdb::shared_ptr_cast<duckdb::TableFunctionInfo, FunctionInfo>(input.table_function.function_info);
	const RowFunction& function = data->info->function;
	if (input.inputs[0].IsNull()) throw duckdb::BinderException("%s: the table is NULL", function.name);
	data->table = duckdb::StringValue::Get(input.inputs[0]);
	for (const auto& [name, type] : function.columns) {
		names.push_back(name);
		types.push_back(type);
	}
	return data;
}

duckdb::unique_ptr<duckdb::GlobalTableFunctionState> Start(duckdb::ClientContext& context,
														   duckdb::TableFunctionInitInput& input) {
	const auto& data = input.bind_data->Cast<BindData>();
	const RowFunction& function = data.info->function;
	auto state = duckdb::make_uniq<State>();
	state->source = function.open(context, data.table);
	state->columns = input.column_ids;
	state->wanted.resize(function.columns.size());
	for (duckdb::column_t column : state->columns) {
		if (column < state->wanted.size()) state->wanted[column] = true;
	}
	return state;
}

void Produce(duckdb::ClientContext& context, duckdb::TableFunctionInput& input, duckdb::DataChunk& output) {
	auto& state = input.global_state->Cast<State>();
	duckdb::idx_t count = 0;
	while (count < state.chunk_size) {
		if (context.interrupted) throw duckdb::InterruptException();
		state.row.assign(state.wanted.size(), duckdb::Value());
		if (!state.source->Next(state.wanted, state.row)) break;
		for (duckdb::idx_t i = 0; i < state.columns.size(); i++) {
			if (state.columns[i] < state.row.size()) output.SetValue(i, count, state.row[state.columns[i]]);
		}
		count++;
	}
	output.SetCardinality(count);
	state.chunk_size = std::min<duckdb::idx_t>(state.chunk_size * 2, STANDARD_VECTOR_SIZE);
}

}  // namespace

void RegisterRowFunction(duckdb::ExtensionLoader& loader, RowFunction function) {
	duckdb::TableFunction table_function(function.name, {duckdb::LogicalType::VARCHAR}, Produce, Bind, Start);
	table_function.projection_pushdown = true;
	auto info = duckdb::make_shared_ptr<FunctionInfo>();
	info->function = std::move(function);
	table_function.function_info = std::move(info);
	loader.RegisterFunction(table_function);
}

duckdb::LogicalType TextMap() {
	return duckdb::LogicalType::MAP(duckdb::LogicalType::VARCHAR, duckdb::LogicalType::VARCHAR);
}

duckdb::Value InstantValue(int64_t ms) {
	return duckdb::Value::TIMESTAMPTZ(duckdb::timestamp_tz_t(duckdb::Timestamp::FromEpochMs(ms).value));
}

}  // namespace braid::engine
