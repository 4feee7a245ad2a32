// SPDX-License-Identifier: Apache-2.0
// How the columns of a data file become those of the table: matched by physical name at every level of nesting (trap 4: never by field id, lists
// and maps have none), missing ones are NULL, narrower types are widened. The layout that a file's writer chose inside lists and maps does not
// matter, and a point in time keeps its instant whether the file stores it as INT96, with or without UTC flag.
#pragma once

#include "duckdb/common/multi_file/multi_file_data.hpp"
#include "kernel/snapshot/snapshot.h"

namespace braid::engine {

duckdb::vector<duckdb::MultiFileColumnDefinition> TableColumns(const Snapshot& snapshot);
// Brings the columns that a reader found in its file into the form that matching expects.
void NormalizeFileColumns(duckdb::vector<duckdb::MultiFileColumnDefinition>& file_columns,
                          const duckdb::vector<duckdb::MultiFileColumnDefinition>& table_columns);

}  // namespace braid::engine
