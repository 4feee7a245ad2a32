// SPDX-License-Identifier: Apache-2.0
// The session's transaction is always rolled back; what it staged has left it before.
#include "engine/repair/statement_rerun.h"

#include "duckdb/common/error_data.hpp"
#include "duckdb/transaction/meta_transaction.hpp"
#include "engine/io/error_translation.h"
#include "engine/io/nested_session.h"

namespace braid::engine {

namespace {

using Statements = duckdb::vector<duckdb::unique_ptr<duckdb::SQLStatement>>;

bool IsWholeStatement(const Statements& statements) {
	if (statements.size() != 1 || !statements[0]->named_param_map.empty()) return false;
	switch (statements[0]->type) {
		case duckdb::StatementType::INSERT_STATEMENT:
		case duckdb::StatementType::DELETE_STATEMENT:
		case duckdb::StatementType::UPDATE_STATEMENT:
		case duckdb::StatementType::MERGE_INTO_STATEMENT:
		case duckdb::StatementType::RELATION_STATEMENT:  // parsed from text: engine/statement/merge_by_name.h
			return true;
		default:
			return false;
	}
}

// Names that meant something when the statement was first executed.
bool IsAboutNames(const duckdb::ErrorData& error) {
	return error.Type() == duckdb::ExceptionType::CATALOG || error.Type() == duckdb::ExceptionType::BINDER ||
		   error.Type() == duckdb::ExceptionType::PARSER || error.Type() == duckdb::ExceptionType::SYNTAX;
}

Error AsErrorOf(const duckdb::ErrorData& error) {
	auto translated = ToError(error, "The statement, executed again on the newest rows, fails");
	if (IsAboutNames(error)) translated.kind = ErrorKind::kNotFound;
	if (error.Type() == duckdb::ExceptionType::CONSTRAINT) translated.kind = ErrorKind::kConstraintViolation;
	if (error.Type() == duckdb::ExceptionType::INVALID_INPUT || error.Type() == duckdb::ExceptionType::CONVERSION)
		translated.kind = ErrorKind::kInvalidArgument;
	return translated;
}

}  // namespace

Result<std::unique_ptr<TableWork>> ExecuteAgain(duckdb::ClientContext& caller, duckdb::AttachedDatabase& lake,
												const std::shared_ptr<const RepeatableStatement>& statement,
												const std::vector<PinnedTable>& pinned) {
	try {
		NestedSession nested(*caller.db);
		nested.ActFor(caller);
		auto& session = nested.connection();
		auto statements = session.ExtractStatements(statement->text);
		if (!IsWholeStatement(statements)) {
			return Fail(ErrorKind::kNotFound,
						"This is not one INSERT, DELETE, UPDATE or MERGE without parameters: " + statement->text);
		}
		session.BeginTransaction();
		duckdb::MetaTransaction::Get(nested.context()).start_timestamp = statement->started;
		auto& transaction = LakeTransaction::Get(nested.context(), lake.GetCatalog());
		transaction.ExecuteAgain(statement);
		for (auto& table : pinned) transaction.Pin(table.table, table.view, table.only);
		auto error = nested.Execute(caller, std::move(statements[0]));
		if (error.HasError()) {
			session.Rollback();
			return std::unexpected(AsErrorOf(error));
		}
		auto staged = transaction.Release();
		session.Rollback();
		return staged;
	} catch (const std::exception& exception) {
		return std::unexpected(AsErrorOf(duckdb::ErrorData(exception)));
	}
}

}  // namespace braid::engine
