// SPDX-License-Identifier: Apache-2.0
// The entry point that DuckDB calls on LOAD braid: registers everything Braid adds to this database instance.
#include "duckdb.hpp"
#include "duckdb/main/extension/extension_loader.hpp"
#include "engine/catalog/storage_extension.h"

extern "C" {
DUCKDB_CPP_EXTENSION_ENTRY(braid, loader) { braid::engine::RegisterBraid(loader); }
}
