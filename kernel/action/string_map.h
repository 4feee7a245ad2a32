// SPDX-License-Identifier: Apache-2.0
// The flat maps of file actions (partitionValues, tags): JSON object text <-> map. null is kept as nullopt; a number or boolean
// that a careless writer left unquoted is taken by its text.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "kernel/action/actions.h"

namespace braid {

// "" is an empty map. kCorrupt: not an object of scalars.
Result<PartitionValues> ParseStringMap(std::string_view json);
void AppendStringMap(const PartitionValues& map, std::string& out);

}  // namespace braid
