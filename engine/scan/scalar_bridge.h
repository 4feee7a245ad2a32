// SPDX-License-Identifier: Apache-2.0
// The kernel's Scalar and DuckDB's Value, both ways, without loss.
#pragma once

#include <optional>

#include "duckdb/common/types/value.hpp"
#include "kernel/predicate/scalar.h"

namespace braid::engine {

// nullopt for a type that Delta has no primitive for.
std::optional<Scalar> ToScalar(const duckdb::Value& value);
// `type` is the column's: integers widen to it. NULL becomes a NULL of that type. nullopt if the type cannot hold the value.
std::optional<duckdb::Value> TryToValue(const Scalar& scalar, const duckdb::LogicalType& type);
// As TryToValue; throws.
duckdb::Value ToValue(const Scalar& scalar, const duckdb::LogicalType& type);

}  // namespace braid::engine
