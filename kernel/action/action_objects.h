// SPDX-License-Identifier: Apache-2.0
// The rare actions (everything but add and remove) from a parsed JSON object, checked field by field.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "kernel/action/actions.h"
#include "kernel/storage/parquet_gateway.h"
#include "simdjson.h"

namespace braid {

// Whether the name is one of those that the two functions below read.
bool IsKnownObject(std::string_view name);
// kCorrupt: the message names action and field.
Result<Action> ReadAction(std::string_view name, simdjson::dom::object object);
Result<SidecarFile> ReadSidecar(simdjson::dom::object object);

}  // namespace braid
