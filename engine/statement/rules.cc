// SPDX-License-Identifier: Apache-2.0
#include "engine/statement/rules.h"

#include "engine/statement/alter_spelling.h"
#include "engine/statement/assignments.h"
#include "engine/statement/create_table_spelling.h"
#include "engine/statement/insert_spelling.h"
#include "engine/statement/inspect_spelling.h"
#include "engine/statement/maintenance_spelling.h"
#include "engine/statement/merge_spelling.h"
#include "engine/statement/optimize_spelling.h"
#include "engine/statement/vacuum_spelling.h"

namespace braid::engine {

std::span<const StatementRule> StatementRules() {
	static const StatementRule rules[] = {
		{"CREATE", {"CLONE"}, RespellClone},
		{"REPLACE TABLE", {"CLONE"}, RespellClone},
		{"CREATE",
		 {"TBLPROPERTIES", "DELTA", "WITH", "COMMENT", "CLUSTER", "LOCATION", "IDENTITY"},
		 RespellCreateTable},
		{"ALTER TABLE", {"TABLE"}, RespellAlterTable},
		{"INSERT", {"OVERWRITE", "REPLACE", "TABLE", "PARTITION"}, RespellInsert},
		{"REPLACE TABLE", {"TABLE"}, RespellReplaceTable},
		{"UPDATE", {"SET"}, RespellUpdate},
		{"MERGE", {"MERGE"}, RespellMerge},
		{"DESCRIBE HISTORY", {"HISTORY"}, RespellDescribe},
		{"DESC HISTORY", {"HISTORY"}, RespellDescribe},
		{"DESCRIBE DETAIL", {"DETAIL"}, RespellDescribe},
		{"DESC DETAIL", {"DETAIL"}, RespellDescribe},
		{"SHOW TBLPROPERTIES", {"TBLPROPERTIES"}, RespellShowProperties},
		{"EXPLAIN CONFLICT", {"CONFLICT"}, RespellExplainConflict},
		{"OPTIMIZE", {"OPTIMIZE"}, RespellOptimize},
		{"REORG TABLE", {"APPLY"}, RespellReorg},
		{"RESTORE", {"RESTORE"}, RespellRestore},
		{"CONVERT TO DELTA", {"DELTA"}, RespellConvert},
		{"FSCK REPAIR TABLE", {"REPAIR"}, RespellFsck},
		{"CHECKPOINT", {"CHECKPOINT"}, RespellCheckpoint},
		{"GENERATE", {"GENERATE"}, RespellGenerate},
		{"VACUUM", {"VACUUM"}, RespellVacuum},
		{"WITH", {"MERGE"}, RespellMerge},
	};
	return rules;
}

}  // namespace braid::engine
