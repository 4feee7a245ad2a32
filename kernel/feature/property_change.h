// SPDX-License-Identifier: Apache-2.0
// Properties that a user sets and unsets: names and values checked, names in their own spelling. A name without "delta." means Delta's property
// of that name, if there is one.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernel/feature/protocol_change.h"

namespace braid {

using Properties = std::vector<std::pair<std::string, std::string>>;  // as the user wrote them

// Enters them into `configuration`; delta.feature.x = supported goes to `features`. Answers them as they were entered.
Result<Properties> SetProperties(const Properties& properties, Configuration& configuration, FeatureSet& features);
// Answers the names that were removed. kInvalidArgument for one that is not set, unless `if_exists`.
Result<std::vector<std::string>> UnsetProperties(const std::vector<std::string>& names, bool if_exists,
												 Configuration& configuration);

}  // namespace braid
