// SPDX-License-Identifier: Apache-2.0
// Each function is a list of columns with the value that a record has there; it answers one row or none.
#include "engine/session/session_record.h"

#include <span>
#include <vector>

#include "duckdb/function/table_function.hpp"
#include "duckdb/main/extension/extension_loader.hpp"

namespace braid::engine {

namespace {

using duckdb::LogicalType;
using duckdb::Value;

std::span<const RecordColumn<CommitRecord>> ColumnsOf(const CommitRecord*) {
	static const std::vector<RecordColumn<CommitRecord>> columns = {
		{"table", LogicalType::VARCHAR, [](const CommitRecord& r) { return Value(r.table); }},
		{"operation", LogicalType::VARCHAR, [](const CommitRecord& r) { return Value(r.operation); }},
		{"outcome", LogicalType::VARCHAR,
		 [](const CommitRecord& r) { return Value(r.skipped ? "skipped" : "committed"); }},
		{"version", LogicalType::BIGINT, [](const CommitRecord& r) { return Value::BIGINT(r.version); }},
		{"attempts", LogicalType::BIGINT, [](const CommitRecord& r) { return Value::BIGINT(r.attempts); }},
		{"winners", LogicalType::BIGINT, [](const CommitRecord& r) { return Value::BIGINT(r.winners); }},
		{"rows_rebased", LogicalType::BIGINT, [](const CommitRecord& r) { return Value::BIGINT(r.rows_rebased); }},
		{"rows_repaired", LogicalType::BIGINT, [](const CommitRecord& r) { return Value::BIGINT(r.rows_repaired); }},
		{"statement_retries", LogicalType::BIGINT,
		 [](const CommitRecord& r) { return Value::BIGINT(r.statement_retries); }},
		{"txn_id", LogicalType::VARCHAR,
		 [](const CommitRecord& r) { return r.txn_id.empty() ? Value(LogicalType::VARCHAR) : Value(r.txn_id); }},
	};
	return columns;
}

Value TextOrNull(const std::string& text) { return text.empty() ? Value(LogicalType::VARCHAR) : Value(text); }

Value TextList(const std::vector<std::string>& texts) {
	return Value::LIST(LogicalType::VARCHAR, duckdb::vector<Value>(texts.begin(), texts.end()));
}

std::span<const RecordColumn<ConflictReport>> ColumnsOf(const ConflictReport*) { return ConflictColumns(); }

std::shared_ptr<const CommitRecord> Latest(SessionRecord& session, const CommitRecord*) {
	auto commit = session.last_commit();
	return commit ? std::make_shared<const CommitRecord>(std::move(*commit)) : nullptr;
}
std::shared_ptr<const ConflictReport> Latest(SessionRecord& session, const ConflictReport*) {
	return session.last_conflict();
}

// The record as it was when the query started: the query's own commit would replace it.
template <class Record>
struct OneRow : duckdb::GlobalTableFunctionState {
	std::shared_ptr<const Record> record;
};

template <class Record>
void Register(duckdb::ExtensionLoader& loader, const char* name) {
	constexpr const Record* kWhich = nullptr;
	duckdb::TableFunction function(name, {}, nullptr);
	function.bind = [](duckdb::ClientContext&, duckdb::TableFunctionBindInput&, duckdb::vector<LogicalType>& types,
					   duckdb::vector<std::string>& names) {
		for (const auto& column : ColumnsOf(kWhich)) {
			types.push_back(column.type);
			names.emplace_back(column.name);
		}
		return duckdb::make_uniq_base<duckdb::FunctionData, duckdb::TableFunctionData>();
	};
	function.init_global = [](duckdb::ClientContext& context, duckdb::TableFunctionInitInput&) {
		auto state = duckdb::make_uniq<OneRow<Record>>();
		state->record = Latest(SessionRecord::Get(context), kWhich);
		return duckdb::unique_ptr<duckdb::GlobalTableFunctionState>(std::move(state));
	};
	function.function = [](duckdb::ClientContext&, duckdb::TableFunctionInput& input, duckdb::DataChunk& output) {
		auto& state = input.global_state->Cast<OneRow<Record>>();
		if (!state.record) return;
		duckdb::idx_t index = 0;
		for (const auto& column : ColumnsOf(kWhich)) output.SetValue(index++, 0, column.of(*state.record));
		output.SetCardinality(1);
		state.record = nullptr;
	};
	loader.RegisterFunction(function);
}

}  // namespace

std::span<const RecordColumn<ConflictReport>> ConflictColumns() {
	using Report = ConflictReport;
	static const std::vector<RecordColumn<Report>> columns = {
		{"class", LogicalType::VARCHAR, [](const Report& r) { return Value(ErrorClassName(r.conflict_class)); }},
		{"sub_condition", LogicalType::VARCHAR, [](const Report& r) { return TextOrNull(r.sub_condition); }},
		{"sqlstate", LogicalType::VARCHAR, [](const Report&) { return Value(std::string(kConflictSqlState)); }},
		{"table", LogicalType::VARCHAR, [](const Report& r) { return Value(r.table); }},
		{"operation", LogicalType::VARCHAR, [](const Report& r) { return Value(r.operation); }},
		{"predicate", LogicalType::VARCHAR, [](const Report& r) { return TextOrNull(r.predicate); }},
		{"read_version", LogicalType::BIGINT, [](const Report& r) { return Value::BIGINT(r.read_version); }},
		{"winner_version", LogicalType::BIGINT, [](const Report& r) { return Value::BIGINT(r.winner_version); }},
		{"winner_operation", LogicalType::VARCHAR, [](const Report& r) { return TextOrNull(r.winner_operation); }},
		{"winner_txn_id", LogicalType::VARCHAR, [](const Report& r) { return TextOrNull(r.winner_txn_id); }},
		{"winner_engine", LogicalType::VARCHAR, [](const Report& r) { return TextOrNull(r.winner_engine); }},
		{"winner_timestamp", LogicalType::TIMESTAMP_TZ,
		 [](const Report& r) {
			 if (!r.winner_timestamp) return Value(LogicalType::TIMESTAMP_TZ);
			 return Value::TIMESTAMPTZ(duckdb::timestamp_tz_t(*r.winner_timestamp * 1000));
		 }},
		{"file", LogicalType::VARCHAR, [](const Report& r) { return TextOrNull(r.file); }},
		{"partition", LogicalType::VARCHAR, [](const Report& r) { return TextOrNull(r.partition); }},
		{"rows", LogicalType::LIST(LogicalType::VARCHAR), [](const Report& r) { return TextList(r.rows); }},
		{"old_rows", LogicalType::LIST(LogicalType::VARCHAR), [](const Report& r) { return TextList(r.old_rows); }},
		{"new_rows", LogicalType::LIST(LogicalType::VARCHAR), [](const Report& r) { return TextList(r.new_rows); }},
		{"matched_predicate", LogicalType::VARCHAR, [](const Report& r) { return TextOrNull(r.matched_predicate); }},
		{"rule", LogicalType::VARCHAR, [](const Report& r) { return Value(r.rule); }},
		{"retry_would_help", LogicalType::BOOLEAN, [](const Report& r) { return Value::BOOLEAN(r.retry_would_help); }},
	};
	return columns;
}

void SessionRecord::Set(CommitRecord commit) {
	std::lock_guard lock(mutex_);
	last_commit_ = std::move(commit);
}

void SessionRecord::Set(std::shared_ptr<const ConflictReport> conflict) {
	std::lock_guard lock(mutex_);
	last_conflict_ = std::move(conflict);
}

std::optional<CommitRecord> SessionRecord::last_commit() {
	std::lock_guard lock(mutex_);
	return last_commit_;
}

std::shared_ptr<const ConflictReport> SessionRecord::last_conflict() {
	std::lock_guard lock(mutex_);
	return last_conflict_;
}

void RegisterSessionRecord(duckdb::ExtensionLoader& loader) {
	Register<CommitRecord>(loader, "braid_last_commit");
	Register<ConflictReport>(loader, "braid_last_conflict");
}

}  // namespace braid::engine
