// SPDX-License-Identifier: Apache-2.0
// Registers Braid with one DuckDB instance: the storage type `braid`, its functions and its settings.
#pragma once

namespace duckdb {
class ExtensionLoader;
}

namespace braid::engine {

void RegisterBraid(duckdb::ExtensionLoader& loader);

}  // namespace braid::engine
