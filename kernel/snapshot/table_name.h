// SPDX-License-Identifier: Apache-2.0
// How messages name a table: its root as the store spells it, without a trailing separator.
#pragma once

#include <string>

#include "kernel/storage/log_store.h"

namespace braid {

inline std::string TableName(const LogStore& store) {
	std::string name = store.Location("");
	while (name.size() > 1 && name.ends_with('/')) name.pop_back();
	return name;
}

}  // namespace braid
