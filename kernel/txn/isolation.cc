// SPDX-License-Identifier: Apache-2.0
#include "kernel/txn/isolation.h"

#include <algorithm>

#include "kernel/feature/property_table.h"

namespace braid {

std::string_view ToString(IsolationLevel level) {
	return level == IsolationLevel::kSerializable ? "Serializable" : "WriteSerializable";
}

IsolationLevel LevelOf(const Metadata& metadata) {
	const std::string value = PropertyValue(metadata.configuration, "delta.isolationLevel");
	return value == ToString(IsolationLevel::kSerializable) ? IsolationLevel::kSerializable
															: IsolationLevel::kWriteSerializable;
}

IsolationLevel Stricter(IsolationLevel a, IsolationLevel b) { return std::max(a, b); }

}  // namespace braid
