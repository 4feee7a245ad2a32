// SPDX-License-Identifier: Apache-2.0
// No exception leaves a nested session: the kernel calls it.
#include "engine/io/nested_session.h"

#include "duckdb/catalog/catalog_search_path.hpp"
#include "duckdb/common/exception.hpp"
#include "duckdb/main/client_data.hpp"
#include "duckdb/main/pending_query_result.hpp"
#include "duckdb/main/prepared_statement.hpp"
#include "duckdb/main/stream_query_result.hpp"
#include "duckdb/parser/keyword_helper.hpp"
#include "engine/io/error_translation.h"

namespace braid::engine {

void NestedSession::ActFor(duckdb::ClientContext& caller) {
	auto& config = context().config;
	config = caller.config;
	config.enable_profiler = false;
	config.enable_progress_bar = false;
	config.query_verification_enabled = false;
	config.get_result_collector = nullptr;
	auto& mine = duckdb::ClientData::Get(context());
	auto& his = duckdb::ClientData::Get(caller);
	mine.temporary_objects = his.temporary_objects;
	auto paths = his.catalog_search_path->GetSetPaths();
	if (!paths.empty()) mine.catalog_search_path->Set(std::move(paths), duckdb::CatalogSetPathType::SET_DIRECTLY);
}

Status NestedSession::Stream(const std::string& sql, const std::string& doing,
							 const std::function<Status(duckdb::DataChunk& chunk)>& sink) {
	try {
		auto result = connection_.SendQuery(sql);
		if (result->HasError()) return std::unexpected(ToError(result->GetErrorObject(), doing));
		while (true) {
			auto chunk = result->Fetch();
			if (result->HasError()) return std::unexpected(ToError(result->GetErrorObject(), doing));
			if (!chunk || chunk->size() == 0) return {};
			BRAID_TRY(sink(*chunk));
		}
	} catch (const std::exception& failure) {
		return std::unexpected(ToError(duckdb::ErrorData(failure), doing));
	}
}

Status NestedSession::Run(const std::string& sql, const std::string& doing) {
	return Stream(sql, doing, [](duckdb::DataChunk&) -> Status { return {}; });
}

duckdb::ErrorData NestedSession::Execute(duckdb::ClientContext& caller,
										 duckdb::unique_ptr<duckdb::SQLStatement> statement) {
	auto pending = connection_.PendingQuery(std::move(statement), false);
	while (!pending->HasError()) {
		if (caller.interrupted) connection_.Interrupt();
		auto state = pending->ExecuteTask();
		if (duckdb::PendingQueryResult::IsResultReady(state) ||
			state == duckdb::PendingExecutionResult::EXECUTION_ERROR)
			break;
		if (state != duckdb::PendingExecutionResult::RESULT_NOT_READY) pending->WaitForTask();
	}
	if (pending->HasError()) return pending->GetErrorObject();
	auto result = pending->Execute();
	return result->HasError() ? result->GetErrorObject() : duckdb::ErrorData();
}

Result<duckdb::LogicalType> NestedSession::Describe(const std::string& sql, const std::string& doing) {
	try {
		auto prepared = connection_.Prepare(sql);
		if (prepared->HasError()) return std::unexpected(ToError(prepared->error, doing));
		duckdb::child_list_t<duckdb::LogicalType> columns;
		const auto& names = prepared->GetNames();
		for (size_t i = 0; i < names.size(); ++i) columns.emplace_back(names[i], prepared->GetTypes()[i]);
		return duckdb::LogicalType::STRUCT(std::move(columns));
	} catch (const std::exception& failure) {
		return std::unexpected(ToError(duckdb::ErrorData(failure), doing));
	}
}

std::string SqlText(const std::string& text) { return duckdb::KeywordHelper::WriteQuoted(text, '\''); }

std::string SqlTextList(std::span<const std::string> texts) {
	std::string list;
	for (auto& text : texts) list += (list.empty() ? "" : ", ") + SqlText(text);
	return "[" + list + "]";
}

std::string SqlIdentifier(const std::string& name) { return duckdb::KeywordHelper::WriteQuoted(name, '"'); }

}  // namespace braid::engine
