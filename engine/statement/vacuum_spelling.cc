// SPDX-License-Identifier: Apache-2.0
#include "engine/statement/vacuum_spelling.h"

#include "duckdb/parser/parser.hpp"
#include "duckdb/planner/binder.hpp"
#include "engine/statement/late_binding.h"
#include "engine/statement/named_table.h"

namespace braid::engine {

namespace {

struct Modifiers {
	std::string kind, hours;
	bool dry_run = false;

	bool none() const { return kind.empty() && hours.empty() && !dry_run; }
};

std::string Hours(TokenCursor& statement) {
	const bool negative = statement.Take({"-"});
	if (!statement.PeekKind(TokenKind::kNumber)) statement.Fail("a number of hours");
	auto hours = (negative ? "-" : "") + std::string(statement.TextOf(statement.place()));
	statement.Skip();
	if (!statement.Take({"HOURS"})) statement.Expect({"HOUR"});
	return hours;
}

// In any order, each once.
Modifiers ReadModifiers(TokenCursor& statement) {
	Modifiers modifiers;
	while (!statement.AtEnd()) {
		if (statement.Peek({"USING", "INVENTORY"})) {
			statement.Fail(
				"no USING INVENTORY, which is not supported: VACUUM lists the directory itself, or LITE reads the log");
		}
		if (modifiers.kind.empty() && statement.Take({"FULL"})) {
			modifiers.kind = "FULL";
		} else if (modifiers.kind.empty() && statement.Take({"LITE"})) {
			modifiers.kind = "LITE";
		} else if (modifiers.hours.empty() && statement.Take({"RETAIN"})) {
			modifiers.hours = Hours(statement);
		} else if (!modifiers.dry_run && statement.Take({"DRY", "RUN"})) {
			modifiers.dry_run = true;
		} else {
			statement.Fail("FULL or LITE, RETAIN n HOURS, DRY RUN, each at most once, or the end of the statement");
		}
	}
	return modifiers;
}

std::string Call(const std::string& table, const Modifiers& modifiers) {
	return "SELECT * FROM braid_vacuum(" + SqlString(table) + ", " +
		   SqlString(modifiers.kind.empty() ? "FULL" : modifiers.kind) + ", " +
		   (modifiers.hours.empty() ? "NULL" : modifiers.hours) + "::DOUBLE, " +
		   (modifiers.dry_run ? "true" : "false") + ")";
}

// What VACUUM means where the name alone does not tell.
duckdb::BoundStatement BindVacuum(duckdb::Binder& binder, duckdb::SQLStatement& native, const std::string& table) {
	if (!IsLakeTable(binder.context, table)) return binder.Bind(native);
	duckdb::Parser parser;
	parser.ParseQuery(Call(table, {}));
	return binder.Bind(*parser.statements[0]);
}

}  // namespace

std::optional<Respelling> RespellVacuum(TokenCursor statement) {
	statement.Expect({"VACUUM"});
	if (statement.AtEnd() || statement.PeekKind(TokenKind::kSymbol)) return std::nullopt;
	for (auto word : {"ANALYZE", "ANALYSE", "FULL", "FREEZE", "VERBOSE"}) {
		if (statement.Peek({word})) return std::nullopt;  // DuckDB's own options stand before the name
	}
	const bool is_path = statement.PeekKind(TokenKind::kString);
	const auto table = statement.TableName();
	if (statement.Peek({"("})) return std::nullopt;
	const auto modifiers = ReadModifiers(statement);
	if (!modifiers.none() || is_path || table.find('/') != std::string::npos)
		return Respelling {Call(table, modifiers)};
	Respelling respelling {"VACUUM " + table};
	respelling.replace = [table](duckdb::unique_ptr<duckdb::SQLStatement> native) {
		return BindLater(std::move(native), [table](duckdb::Binder& binder, duckdb::SQLStatement& copy) {
			return BindVacuum(binder, copy, table);
		});
	};
	return respelling;
}

}  // namespace braid::engine
