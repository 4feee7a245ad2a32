// SPDX-License-Identifier: Apache-2.0
// NestedSession: a connection of our own to the database that we run in, for queries from inside a bind, a running statement or a commit.
// ClientContext::Query on the running context would deadlock (trap 12), and a commit has no transaction (trap 5). It sees no uncommitted
// data and, unless it acts for him, no session settings of the caller; an interrupt of the caller reaches it between two chunks.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "base/result.h"
#include "duckdb/main/connection.hpp"
#include "duckdb/main/query_result.hpp"

namespace braid::engine {

class NestedSession {
public:
	explicit NestedSession(duckdb::DatabaseInstance& db) : connection_(db) {}

	duckdb::Connection& connection() { return connection_; }
	duckdb::ClientContext& context() { return *connection_.context; }

	// From now on settings, search path and temporary objects are those of `caller`; nothing is shown of what the session does.
	void ActFor(duckdb::ClientContext& caller);

	// Chunks in order, not all in memory at once. `doing` says in errors what the query is for.
	Status Stream(const std::string& sql, const std::string& doing,
				  const std::function<Status(duckdb::DataChunk& chunk)>& sink);
	Status Run(const std::string& sql, const std::string& doing);
	// One statement, to its end; what it says is not looked at. An interrupt of the caller reaches it between two tasks.
	duckdb::ErrorData Execute(duckdb::ClientContext& caller, duckdb::unique_ptr<duckdb::SQLStatement> statement);
	// Names and types of what a query would return.
	Result<duckdb::LogicalType> Describe(const std::string& sql, const std::string& doing);  // a STRUCT

private:
	duckdb::Connection connection_;
};

std::string SqlText(const std::string& text);                 // 'it''s'
std::string SqlTextList(std::span<const std::string> texts);  // ['a', 'b']
std::string SqlIdentifier(const std::string& name);           // "a ""b"""

}  // namespace braid::engine
