// SPDX-License-Identifier: Apache-2.0
// The columns that a table is clustered by: the metadata domain delta.clustering, which holds physical names (PROTOCOL: Clustered Table).
#pragma once

#include "kernel/alter/table_draft.h"
#include "kernel/feature/protocol_change.h"

namespace braid {

// Logical paths; empty if the table is not clustered.
Result<std::vector<ColumnPath>> ClusteringColumns(const TableDraft& draft);
Result<std::vector<ColumnPath>> ClusteringColumns(const Snapshot& table);
// CLUSTER BY (columns), or NONE with no columns. Refuses partitioned tables, unknown columns, and types without statistics.
Status ClusterBy(TableDraft& draft, std::vector<ColumnPath> columns);

}  // namespace braid
