// SPDX-License-Identifier: Apache-2.0
// Protocol and metadata of a table that is being made: the smallest protocol that its properties and types need
// (properties.md 6.2). Defaults of Braid: deletion vectors on, delta.isolationLevel written out (design.md, decision
// 11).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernel/snapshot/snapshot.h"

namespace braid::engine {

struct TableDescription {
	std::string location;
	std::string description;  // "" if none
	StructType schema;        // logical; column mapping is added here if a property asks for it
	std::vector<std::string> partition_columns;
	std::vector<std::pair<std::string, std::string>> properties;  // as the user wrote them
};

// The table before its first commit: version -1, or that of `replaced`, whose id and features it keeps; no files.
Result<SnapshotPtr> DescribeNewTable(const TableDescription& description, const SnapshotPtr& replaced);

}  // namespace braid::engine
