// SPDX-License-Identifier: Apache-2.0
// Columns of data files that a table's schema does not show: materialised row ids and row commit versions (PROTOCOL: Row Tracking). They stand behind
// the columns of the schema, are BIGINT, and NULL in files that do not have them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "duckdb/planner/operator/logical_get.hpp"
#include "kernel/snapshot/snapshot.h"

namespace braid::engine {

struct RowIdColumns {
	std::string id, version;
};
// Nothing: the table does not keep row ids, or has no names for them.
std::optional<RowIdColumns> RowIdColumnsOf(const Snapshot& view);

// The same table with these columns as well.
SnapshotPtr WithHiddenColumns(const Snapshot& view, const std::vector<std::string>& names);

// Makes a bound scan of a table deliver such a column; answers its index.
duckdb::column_t AddHiddenColumn(duckdb::LogicalGet& get, const std::string& name);

}  // namespace braid::engine
