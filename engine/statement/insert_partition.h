// SPDX-License-Identifier: Apache-2.0
// INSERT INTO | OVERWRITE t PARTITION (p = value, q) query: the query has the other columns and then the partition columns without a value. With
// OVERWRITE the rows of these values go; with braid_partition_overwrite_mode = 'dynamic' only those of the partitions that get rows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "duckdb/main/client_context.hpp"
#include "duckdb/parser/statement/insert_statement.hpp"
#include "engine/catalog/table_entry.h"

namespace braid::engine {

struct PartitionValue {
	std::string column;
	std::optional<std::string> value;  // SQL; nullopt: the query has it
};

// Throws if it is no table of a lake.
const LakeTableEntry& FindInsertTarget(duckdb::ClientContext& context, const duckdb::InsertStatement& insert);

duckdb::unique_ptr<duckdb::SQLStatement> IntoPartition(duckdb::unique_ptr<duckdb::SQLStatement> insert,
													   std::vector<PartitionValue> partition, bool overwrite);

}  // namespace braid::engine
