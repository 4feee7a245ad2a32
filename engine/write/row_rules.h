// SPDX-License-Identifier: Apache-2.0
// RowRules: what a table demands of every row that is written to it: NOT NULL at every level, CHECK constraints and invariants (PROTOCOL: CHECK
// Constraints, Column Invariants), values of generated columns (PROTOCOL: Generated Columns). One vectorised pass. A condition that is NULL
// counts as violated, as the protocol says. The first bad row is shown with the rule that it breaks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "duckdb/common/types/data_chunk.hpp"
#include "duckdb/execution/expression_executor.hpp"
#include "duckdb/main/client_context.hpp"
#include "kernel/snapshot/snapshot.h"

namespace braid::engine {

class RowRules {
public:
	// Throws if the table has a rule that this build does not understand. Needs an active transaction.
	RowRules(duckdb::ClientContext& context, SnapshotPtr view);

	// What one thread needs.
	struct Local {
		duckdb::unique_ptr<duckdb::ExpressionExecutor> checks, generated;
		duckdb::DataChunk verdicts, values, completed;
	};

	// The rows as they are to be written: a generated column that is NULL is computed. Throws a ConstraintException at the first row that
	// breaks a rule. `rows` in the order of the schema; the answer may be `rows` itself and is valid until the next call.
	duckdb::DataChunk& Apply(Local& local, duckdb::DataChunk& rows) const;

	// The conditions alone, without NOT NULL.
	struct Condition {
		std::string role;  // "CHECK constraint positive (x > 0)"
		duckdb::unique_ptr<duckdb::Expression> expression;
	};
	const std::vector<Condition>& conditions() const { return conditions_; }

private:
	struct Generated {
		size_t column;
		duckdb::unique_ptr<duckdb::Expression> expression;
	};

	duckdb::DataChunk& Complete(Local& local, duckdb::DataChunk& rows) const;
	void Check(Local& local, duckdb::DataChunk& rows) const;
	void AddConstraints();
	void AddInvariants(const DataType& type, const std::string& path);
	void AddGenerated();
	void AddCondition(const std::string& role, const std::string& text);

	duckdb::ClientContext& context_;
	SnapshotPtr view_;
	std::string table_;
	std::vector<Condition> conditions_;
	std::vector<Generated> generated_;
};

}  // namespace braid::engine
