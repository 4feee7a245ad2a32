// SPDX-License-Identifier: Apache-2.0
#include "engine/statement/maintenance_spelling.h"

#include "engine/statement/column_spelling.h"
#include "engine/statement/property_list.h"
#include "engine/statement/time_travel_spelling.h"

namespace braid::engine {

std::optional<Respelling> RespellRestore(TokenCursor statement) {
	statement.Expect({"RESTORE"});
	(void)statement.Take({"TABLE"});
	const auto table = statement.TableName();
	(void)statement.Take({"TO"});
	const auto time = TakeTimeOption(statement);
	if (!time) statement.Fail("VERSION AS OF or TIMESTAMP AS OF");
	if (!statement.AtEnd()) statement.Fail("the end of the statement");
	return Respelling {"SELECT * FROM braid_restore(" + SqlString(table) + ", " + *time + ")"};
}

std::optional<Respelling> RespellConvert(TokenCursor statement) {
	statement.Expect({"CONVERT", "TO", "DELTA"});
	std::string name;
	const bool is_path = statement.PeekKind(TokenKind::kString) || statement.Take({"PARQUET", "."});
	if (statement.PeekKind(TokenKind::kString)) {
		name = statement.String();
	} else {
		name = is_path ? TakePath(statement).back() : statement.TableName();
	}
	const bool statistics = !statement.Take({"NO", "STATISTICS"});
	std::vector<std::optional<std::string>> columns;
	if (statement.Take({"PARTITIONED", "BY"})) {
		statement.Expect({"("});
		do {
			const auto column = TakeColumn(statement);
			columns.insert(columns.end(), {column.path.back(), column.type});
		} while (statement.Take({","}));
		statement.Expect({")"});
	}
	if (!statement.AtEnd()) statement.Fail("NO STATISTICS, PARTITIONED BY or the end of the statement");
	return Respelling {"SELECT * FROM braid_convert(" + SqlString(name) + ", " + (is_path ? "true" : "false") + ", " +
					   (statistics ? "true" : "false") + ", " + SqlList(columns) + "::VARCHAR[])"};
}

std::optional<Respelling> RespellFsck(TokenCursor statement) {
	statement.Expect({"FSCK", "REPAIR", "TABLE"});
	const auto table = statement.TableName();
	const bool dry_run = statement.Take({"DRY", "RUN"});
	if (!statement.AtEnd()) statement.Fail("DRY RUN or the end of the statement");
	return Respelling {"SELECT * FROM braid_fsck(" + SqlString(table) + ", " + (dry_run ? "true" : "false") + ")"};
}

std::optional<Respelling> RespellCheckpoint(TokenCursor statement) {
	statement.Expect({"CHECKPOINT"});
	if (statement.AtEnd()) return std::nullopt;
	const auto table = statement.TableName();
	if (!statement.AtEnd()) return std::nullopt;
	return Respelling {"SELECT * FROM braid_checkpoint(" + SqlString(table) + ")"};
}

std::optional<Respelling> RespellGenerate(TokenCursor statement) {
	statement.Expect({"GENERATE"});
	const auto mode = TakePath(statement).back();
	statement.Expect({"FOR", "TABLE"});
	const auto table = statement.TableName();
	if (!statement.AtEnd()) statement.Fail("the end of the statement");
	return Respelling {"SELECT * FROM braid_generate(" + SqlString(table) + ", " + SqlString(mode) + ")"};
}

std::optional<Respelling> RespellClone(TokenCursor statement) {
	std::string mode = "CREATE";
	(void)statement.Take({"CREATE"});
	if (statement.Take({"OR", "REPLACE"})) mode = "OR REPLACE";
	if (statement.Take({"REPLACE"})) mode = "REPLACE";
	if (!statement.Take({"TABLE"})) return std::nullopt;
	if (mode == "CREATE" && statement.Take({"IF", "NOT", "EXISTS"})) mode = "IF NOT EXISTS";
	const auto table = statement.TableName();
	(void)statement.Take({"USING", "DELTA"});
	const bool deep = !statement.Take({"SHALLOW"});
	if (deep) (void)statement.Take({"DEEP"});
	if (!statement.Take({"CLONE"})) return std::nullopt;
	const auto source = statement.TableName();
	const auto time = TakeTimeOption(statement);
	std::vector<std::optional<std::string>> properties;
	std::string location;
	for (;;) {
		if (statement.Take({"TBLPROPERTIES"})) {
			for (auto& [key, value] : TakeProperties(statement)) properties.insert(properties.end(), {key, value});
		} else if (statement.Take({"LOCATION"})) {
			location = ", location => " + SqlString(statement.String());
		} else {
			break;
		}
	}
	if (!statement.AtEnd())
		statement.Fail("VERSION AS OF, TIMESTAMP AS OF, TBLPROPERTIES, LOCATION or the end of the statement");
	return Respelling {"SELECT * FROM braid_clone(" + SqlString(table) + ", " + SqlString(source) + ", " +
					   SqlString(deep ? "DEEP" : mode) + ", " + SqlList(properties) + "::VARCHAR[]" +
					   (time ? ", " + *time : "") + location + ")"};
}

}  // namespace braid::engine
