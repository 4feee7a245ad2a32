// SPDX-License-Identifier: Apache-2.0
// Registers Braid with one DuckDB instance.
#include "engine/catalog/storage_extension.h"

#include "duckdb/main/extension/extension_loader.hpp"

namespace braid::engine {

void RegisterBraid(duckdb::ExtensionLoader& loader) { loader.SetDescription("Delta Lake with row-level concurrency"); }

}  // namespace braid::engine
