// SPDX-License-Identifier: Apache-2.0
// A table function of its own beside those of command_function.h: it shows its progress, may get NULL for hours, and a dry run answers other columns, any
// number of rows, and binds without writing to the lake.
#include "engine/maintenance/maintenance_functions.h"

#include "duckdb/common/exception/binder_exception.hpp"
#include "duckdb/common/exception/transaction_exception.hpp"
#include "duckdb/function/table_function.hpp"
#include "duckdb/main/extension/extension_loader.hpp"
#include "engine/maintenance/vacuum.h"
#include "engine/statement/named_table.h"

namespace braid::engine {

namespace {

using duckdb::LogicalType;
using duckdb::Value;

struct VacuumData : duckdb::FunctionData {
	std::shared_ptr<TableHandle> table;
	VacuumRequest request;
	bool dry_run = false;

	duckdb::unique_ptr<FunctionData> Copy() const override { return duckdb::make_uniq<VacuumData>(*this); }
	bool Equals(const FunctionData& other) const override { return this == &other; }
};

struct VacuumState : duckdb::GlobalTableFunctionState {
	std::unique_ptr<Vacuum> vacuum;
	bool ran = false;
	size_t next = 0;  // row of a dry run
};

void RefuseInTransaction(duckdb::ClientContext& context, const std::string& table) {
	if (context.transaction.IsAutoCommit()) return;
	throw duckdb::TransactionException(
		"VACUUM of table %s deletes files at once and cannot be rolled back: run it outside of BEGIN ... COMMIT",
		table);
}

duckdb::unique_ptr<duckdb::FunctionData> Bind(duckdb::ClientContext& context, duckdb::TableFunctionBindInput& input,
											  duckdb::vector<LogicalType>& types, duckdb::vector<std::string>& names) {
	for (size_t i : {0, 1, 3}) {
		if (input.inputs[i].IsNull()) throw duckdb::BinderException("braid_vacuum: an argument is NULL");
	}
	auto data = duckdb::make_uniq<VacuumData>();
	const auto name = duckdb::StringValue::Get(input.inputs[0]);
	const auto kind = duckdb::StringValue::Get(input.inputs[1]);
	if (kind != "FULL" && kind != "LITE")
		throw duckdb::BinderException("braid_vacuum: the kind is FULL or LITE, not %s", kind);
	data->request.lite = kind == "LITE";
	if (!input.inputs[2].IsNull()) data->request.hours = duckdb::DoubleValue::Get(input.inputs[2]);
	data->dry_run = duckdb::BooleanValue::Get(input.inputs[3]);
	if (data->dry_run) {
		data->table = FindNamedTable(context, name, "VACUUM").table;
		types = {LogicalType::VARCHAR, LogicalType::BIGINT, LogicalType::VARCHAR};
		names = {"path", "bytes", "reason"};
		return data;
	}
	data->table =
		FindTableToChange(context, input, name, "VACUUM", duckdb::DatabaseModificationType::UPDATE_DATA).table;
	RefuseInTransaction(context, data->table->root());
	types = {LogicalType::VARCHAR, LogicalType::BIGINT, LogicalType::BIGINT};
	names = {"path", "numDeletedFiles", "numDeletedBytes"};
	return data;
}

duckdb::unique_ptr<duckdb::GlobalTableFunctionState> Start(duckdb::ClientContext& context,
														   duckdb::TableFunctionInitInput& input) {
	auto& data = input.bind_data->Cast<VacuumData>();
	auto state = duckdb::make_uniq<VacuumState>();
	state->vacuum = std::make_unique<Vacuum>(context, data.table, data.request);
	return state;
}

void Answer(const VacuumData& data, VacuumState& state, duckdb::DataChunk& chunk) {
	auto& vacuum = *state.vacuum;
	vacuum.Run();
	chunk.SetValue(0, 0, Value(data.table->root()));
	chunk.SetValue(1, 0, Value::BIGINT(vacuum.deleted_files()));
	chunk.SetValue(2, 0, Value::BIGINT(vacuum.deleted_bytes()));
	chunk.SetCardinality(1);
}

void AnswerDryRun(const VacuumData& data, VacuumState& state, duckdb::DataChunk& chunk) {
	auto& vacuum = *state.vacuum;
	auto& plan = vacuum.plan();
	duckdb::idx_t count = 0;
	for (; count < STANDARD_VECTOR_SIZE && state.next < plan.size(); count++, state.next++) {
		auto& deletion = plan[state.next];
		chunk.SetValue(0, count, Value(data.table->root() + "/" + deletion.path));
		chunk.SetValue(1, count, Value::BIGINT(deletion.size));
		chunk.SetValue(2, count, Value(std::string(ToString(deletion.reason))));
	}
	chunk.SetCardinality(count);
}

void Run(duckdb::ClientContext&, duckdb::TableFunctionInput& input, duckdb::DataChunk& chunk) {
	auto& data = input.bind_data->Cast<VacuumData>();
	auto& state = input.global_state->Cast<VacuumState>();
	const bool first = !std::exchange(state.ran, true);
	if (!data.dry_run) {
		if (first) Answer(data, state, chunk);
		return;
	}
	if (first) state.vacuum->Plan();
	AnswerDryRun(data, state, chunk);
}

double Progress(duckdb::ClientContext&, const duckdb::FunctionData*, const duckdb::GlobalTableFunctionState* state) {
	return state ? state->Cast<VacuumState>().vacuum->progress() : 0;
}

}  // namespace

void RegisterVacuum(duckdb::ExtensionLoader& loader) {
	duckdb::TableFunction function(
		"braid_vacuum", {LogicalType::VARCHAR, LogicalType::VARCHAR, LogicalType::DOUBLE, LogicalType::BOOLEAN}, Run,
		Bind, Start);
	function.table_scan_progress = Progress;
	loader.RegisterFunction(function);
}

}  // namespace braid::engine
