// SPDX-License-Identifier: Apache-2.0
// Which statements can be executed again when their commit meets a conflict, and how much of one: found out while a statement is planned, asked
// for when it begins to change its table. Prepared statements and those with parameters, RETURNING, temporary tables or rows of the client's own
// memory (data frames, Arrow) are not: they, or their answer, cannot be had again.
#pragma once

#include <memory>
#include <string>

#include "duckdb/common/types/timestamp.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/main/client_context_state.hpp"
#include "duckdb/main/config.hpp"

namespace braid::engine {

struct RepeatableStatement {
	std::string text;
	duckdb::timestamp_t started {0};  // what now() has said
	bool changes_rows = false;        // DELETE, UPDATE, MERGE or an INSERT that replaces rows
	// Its effect is the sum of its effects on the rows of its table: DELETE, UPDATE and MERGE with nothing but WHEN MATCHED, if they read the
	// table once, and else only tables of the same lake, as they were for the whole transaction.
	bool row_local = false;
};

// The statement that a connection is executing.
class StatementUnderway : public duckdb::ClientContextState {
public:
	static StatementUnderway& Get(duckdb::ClientContext& context) {
		return *context.registered_state->GetOrCreate<StatementUnderway>("braid_statement_underway");
	}

	void Planned(RepeatableStatement statement);
	// Null: it cannot be executed again, or the session's settings do not ask for it.
	std::shared_ptr<const RepeatableStatement> Repeatable(duckdb::ClientContext& context) const;

	void QueryBegin(duckdb::ClientContext&) override { planned_ = nullptr; }

private:
	std::shared_ptr<RepeatableStatement> planned_;
};

void RegisterRepeatableStatements(duckdb::DBConfig& config);

}  // namespace braid::engine
