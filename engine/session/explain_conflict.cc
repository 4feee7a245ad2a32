// SPDX-License-Identifier: Apache-2.0
// The statement runs in a session of its own (engine/repair/statement_rerun.h); the files that it has written are deleted at once.
#include "engine/session/explain_conflict.h"

#include "duckdb/common/exception/binder_exception.hpp"
#include "duckdb/function/table_function.hpp"
#include "duckdb/main/attached_database.hpp"
#include "duckdb/main/extension/extension_loader.hpp"
#include "duckdb/transaction/meta_transaction.hpp"
#include "engine/catalog/table_commit.h"
#include "engine/io/duckdb_parquet_gateway.h"
#include "engine/io/error_translation.h"
#include "engine/repair/statement_rerun.h"
#include "engine/session/session_record.h"
#include "engine/statement/named_table.h"

namespace braid::engine {

namespace {

constexpr auto kName = "braid_explain_conflict";

struct Question final : duckdb::TableFunctionData {
	std::string table, statement;
	std::optional<int64_t> version;
};

struct Answer final : duckdb::GlobalTableFunctionState {
	std::vector<ConflictReport> clashes;
	size_t next = 0;
};

struct Discarded {
	TableWork& work;
	~Discarded() { DiscardFiles(work, {}); }
};

std::vector<ConflictReport> FindClashes(duckdb::ClientContext& context, const Question& question) {
	auto table = FindNamedTable(context, question.table, kName);
	if (!table.lake) {
		throw duckdb::BinderException("%s: attach the directory of %s, so that a statement can change it", kName,
									  question.table);
	}
	auto view = table.view;
	DuckdbParquetGateway parquet(*context.db);
	const auto pin = question.version ? table.table->Pin(*question.version) : nullptr;
	if (question.version) view = Unwrap(table.table->At(parquet, *question.version));
	auto statement = std::make_shared<RepeatableStatement>();
	statement->text = question.statement;
	statement->started = duckdb::MetaTransaction::Get(context).start_timestamp;
	auto staged = Unwrap(ExecuteAgain(context, table.lake->GetAttached(), std::move(statement),
									  {{table.table, std::move(view), nullptr}}));
	if (!staged) return {};
	const Discarded files {*staged};
	if (staged->table->root() != table.table->root()) {
		throw duckdb::InvalidInputException("%s: the statement changes table %s, not %s", kName, staged->table->root(),
											question.table);
	}
	CommitTools tools(context, *staged);
	tools.Complete(staged->work.reads);
	return Unwrap(Rehearse(tools.Context(), staged->work));
}

duckdb::unique_ptr<duckdb::FunctionData> Bind(duckdb::ClientContext&, duckdb::TableFunctionBindInput& input,
											  duckdb::vector<duckdb::LogicalType>& types,
											  duckdb::vector<std::string>& names) {
	auto question = duckdb::make_uniq<Question>();
	if (input.inputs[0].IsNull() || input.inputs[1].IsNull())
		throw duckdb::BinderException("%s: table and statement cannot be NULL", kName);
	question->table = duckdb::StringValue::Get(input.inputs[0]);
	question->statement = duckdb::StringValue::Get(input.inputs[1]);
	auto version = input.named_parameters.find("version");
	if (version != input.named_parameters.end() && !version->second.IsNull())
		question->version = version->second.GetValue<int64_t>();
	for (auto& column : ConflictColumns()) {
		types.push_back(column.type);
		names.emplace_back(column.name);
	}
	return question;
}

duckdb::unique_ptr<duckdb::GlobalTableFunctionState> Start(duckdb::ClientContext& context,
														   duckdb::TableFunctionInitInput& input) {
	auto answer = duckdb::make_uniq<Answer>();
	answer->clashes = FindClashes(context, input.bind_data->Cast<Question>());
	return answer;
}

void Produce(duckdb::ClientContext&, duckdb::TableFunctionInput& input, duckdb::DataChunk& output) {
	auto& answer = input.global_state->Cast<Answer>();
	duckdb::idx_t count = 0;
	for (; count < STANDARD_VECTOR_SIZE && answer.next < answer.clashes.size(); count++, answer.next++) {
		duckdb::idx_t index = 0;
		for (auto& column : ConflictColumns()) output.SetValue(index++, count, column.of(answer.clashes[answer.next]));
	}
	output.SetCardinality(count);
}

}  // namespace

void RegisterExplainConflict(duckdb::ExtensionLoader& loader) {
	duckdb::TableFunction function(kName, {duckdb::LogicalType::VARCHAR, duckdb::LogicalType::VARCHAR}, Produce, Bind,
								   Start);
	function.named_parameters["version"] = duckdb::LogicalType::BIGINT;
	loader.RegisterFunction(function);
}

}  // namespace braid::engine
