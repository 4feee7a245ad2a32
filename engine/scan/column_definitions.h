// SPDX-License-Identifier: Apache-2.0
// How the columns of a data file become those of the table: matched by physical name at every level of nesting (trap 4: never by field id, lists
// and maps have none), missing ones are NULL, narrower types are widened. The names that a file's writer chose inside lists and maps do not matter
// (trap 32).
#pragma once

#include "duckdb/common/multi_file/multi_file_data.hpp"
#include "kernel/snapshot/snapshot.h"

namespace braid::engine {

duckdb::vector<duckdb::MultiFileColumnDefinition> TableColumns(const Snapshot& snapshot);
// Gives what is inside lists and maps of a file the names that matching expects.
void NormalizeFileColumns(duckdb::vector<duckdb::MultiFileColumnDefinition>& file_columns,
						  const duckdb::vector<duckdb::MultiFileColumnDefinition>& table_columns);

}  // namespace braid::engine
