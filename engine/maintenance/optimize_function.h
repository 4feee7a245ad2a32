// SPDX-License-Identifier: Apache-2.0
// braid_optimize('table', 'operation', 'condition', [columns]): what OPTIMIZE and REORG TABLE .. APPLY (PURGE) are respelled to: the plan that
// rearranges the table's files (rearrange.h). Operation: OPTIMIZE, OPTIMIZE FULL or REORG; condition: over partition columns, '' for none; columns: of ZORDER BY.
// Operation AUTO COMPACTION is for auto_compaction.h: the list holds the keys of partitions, of which the crowded ones are compacted.
#pragma once

namespace duckdb {
class ExtensionLoader;
}

namespace braid::engine {

void RegisterOptimizeFunction(duckdb::ExtensionLoader& loader);

}  // namespace braid::engine
