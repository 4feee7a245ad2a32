// SPDX-License-Identifier: Apache-2.0
// What else in a table's metadata names a column: constraints, generated columns, partitioning, clustering, the list of columns with statistics.
#pragma once

#include "kernel/alter/table_draft.h"

namespace braid {

// Refuses if a constraint or a generated column mentions the column; `what` completes "cannot be ...". Conditions are searched for the word.
Status RefuseIfNeeded(const TableDraft& draft, const ColumnPath& column, const std::string& what);
// Refuses to drop a partition or clustering column, or a struct that holds one.
Status RefuseIfLayout(const TableDraft& draft, const ColumnPath& column);
// delta.dataSkippingStatsColumns with a column renamed; with `to` empty it is taken out.
void RenameInStatsColumns(TableDraft& draft, const ColumnPath& from, const ColumnPath& to);

}  // namespace braid
