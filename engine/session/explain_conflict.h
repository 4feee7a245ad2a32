// SPDX-License-Identifier: Apache-2.0
// FROM braid_explain_conflict('t', 'DELETE FROM t WHERE ...' [, version => n]): a dry run. The statement is executed as if it had read version n (by
// default the one that the transaction sees); each row is a clash with a commit since then, with the columns of braid_last_conflict(). No row: it would
// commit. Nothing of it stays.
#pragma once

namespace duckdb {
class ExtensionLoader;
}

namespace braid::engine {

void RegisterExplainConflict(duckdb::ExtensionLoader& loader);

}  // namespace braid::engine
