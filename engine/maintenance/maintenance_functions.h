// SPDX-License-Identifier: Apache-2.0
// The functions that RESTORE and its kin are respelled to (engine/statement/maintenance_spelling.h), each in a file of its own.
#pragma once

namespace duckdb {
class ExtensionLoader;
}

namespace braid::engine {

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
