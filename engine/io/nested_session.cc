// SPDX-License-Identifier: Apache-2.0
// No exception leaves a nested session: the kernel calls it.
#include "engine/io/nested_session.h"

#include "duckdb/common/exception.hpp"
#include "duckdb/main/prepared_statement.hpp"
#include "duckdb/main/stream_query_result.hpp"
#include "duckdb/parser/keyword_helper.hpp"
#include "engine/io/error_translation.h"

namespace braid::engine {

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

std::string SqlIdentifier(const std::string& name) { return duckdb::KeywordHelper::WriteQuoted(name, '"'); }

}  // namespace braid::engine
