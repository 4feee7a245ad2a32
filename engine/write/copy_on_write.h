// SPDX-License-Identifier: Apache-2.0
// DELETE and UPDATE where deletion vectors may not be written: every touched file is replaced by new files that hold
// its other live rows. Partition values stay; conflicts are judged per file (StagedChanges::replaced_files).
#pragma once

#include "duckdb/main/client_context.hpp"
#include "engine/catalog/transaction.h"
#include "engine/write/position_collector.h"

namespace braid::engine {

// `positions` by path as in the log: active files of the snapshot or new files of this transaction.
void RewriteWithout(duckdb::ClientContext& context, TableWork& work, const PositionsByFile& positions);

}  // namespace braid::engine
