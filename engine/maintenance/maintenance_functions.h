// SPDX-License-Identifier: Apache-2.0
// The functions that statements of maintenance are respelled to (engine/statement/{optimize,vacuum,maintenance}_spelling.h), each in a file of its own.
#pragma once

namespace duckdb {
class ExtensionLoader;
}

namespace braid::engine {

// braid_optimize('table', 'operation', 'condition', [columns]): the plan that rearranges the table's files (rearrange.h). Operation: OPTIMIZE, OPTIMIZE
// FULL or REORG; condition: over partition columns, '' for none; columns: of ZORDER BY. Operation AUTO COMPACTION is for auto_compaction.h: the list holds
// the keys of partitions, of which the crowded ones are compacted.
void RegisterOptimize(duckdb::ExtensionLoader& loader);
// braid_vacuum('table', 'FULL' | 'LITE', hours, dry_run). Hours: of RETAIN, NULL for the table's own retention. A dry run answers a row for each file
// that would go; else one row: the table's path, the number of files deleted and their bytes.
void RegisterVacuum(duckdb::ExtensionLoader& loader);
// braid_restore('table', version => n | timestamp => t)
void RegisterRestore(duckdb::ExtensionLoader& loader);
// braid_clone('table', 'source', 'CREATE', ['property', 'value', ...], version => n | timestamp => t, location => 'path'); also 'IF NOT EXISTS',
// 'OR REPLACE', 'REPLACE'
void RegisterClone(duckdb::ExtensionLoader& loader);
// braid_convert('path', is_path, with_statistics, ['partition column', 'type', ...]); is_path = false: a name, whose folder it is
void RegisterConvert(duckdb::ExtensionLoader& loader);
// braid_fsck('table', dry_run)
void RegisterFsck(duckdb::ExtensionLoader& loader);
// braid_checkpoint('table')
void RegisterCheckpoint(duckdb::ExtensionLoader& loader);
// braid_generate('table', 'symlink_format_manifest')
void RegisterGenerate(duckdb::ExtensionLoader& loader);

}  // namespace braid::engine
