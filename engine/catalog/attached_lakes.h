// SPDX-License-Identifier: Apache-2.0
// Which lakes one DuckDB has attached. A transaction is protected by what it reads through the attachment that it writes to, so no table may be
// reachable through two of them, and a path that lies in an attached lake is read through that lake.
#pragma once

#include <memory>
#include <string>

#include "duckdb/main/client_context.hpp"
#include "engine/catalog/catalog.h"

namespace braid::engine {

// Both take directories as AbsoluteDirectory gives them.
// Throws if `directory` is, lies in, or holds a lake that is attached already.
void RefuseOverlap(duckdb::ClientContext& context, const std::string& directory);

// The attached lake that shows the table in `directory`, or null.
duckdb::optional_ptr<LakeCatalog> LakeOfTable(duckdb::ClientContext& context, const std::string& directory);

}  // namespace braid::engine
