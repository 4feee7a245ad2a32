// SPDX-License-Identifier: Apache-2.0
// CREATE SCHEMA, DROP SCHEMA and DROP TABLE on the local file system. They act at once and cannot be rolled back (a
// directory has no versions), so drops and renames are refused inside BEGIN ... COMMIT. DROP TABLE removes the data first and
// `_delta_log` last, so that a table cut in half still is a table.
#pragma once

#include <string>

#include "duckdb/main/client_context.hpp"

namespace braid::engine {

void CreateSchema(duckdb::ClientContext& context, const std::string& directory);
// Throws if the directory holds tables and `cascade` is false.
void DropSchema(duckdb::ClientContext& context, const std::string& directory, bool cascade);
// `root`: the table's directory.
void DropTable(duckdb::ClientContext& context, const std::string& root);
// ALTER TABLE ... RENAME TO: the directory is renamed; nothing may be at `new_root`.
void RenameTable(duckdb::ClientContext& context, const std::string& root, const std::string& new_root);

}  // namespace braid::engine
