// SPDX-License-Identifier: Apache-2.0
// A DuckDB value as JSON in the spelling of Delta's statistics: fields that are NULL are left out, points in time are ISO 8601, decimals exact.
#pragma once

#include <string>

#include "duckdb/common/types/value.hpp"

namespace braid::engine {

void AppendJsonValue(const duckdb::Value& value, std::string& out);

}  // namespace braid::engine
