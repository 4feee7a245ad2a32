// SPDX-License-Identifier: Apache-2.0
// schemaString of metaData <-> StructType (PROTOCOL: Schema Serialization Format).
// Refuses by name: unknown types, decimals above 38 digits, malformed JSON, duplicate columns (case-insensitive).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "kernel/schema/type.h"

namespace braid {

Result<DataTypePtr> ParseSchema(std::string_view schema_json);
std::string WriteSchema(const StructType& schema);

}  // namespace braid
