// SPDX-License-Identifier: Apache-2.0
#include "kernel/feature/timestamp_enablement.h"

#include "kernel/feature/property_table.h"

namespace braid {

bool HasCommitTimestamps(const Configuration& configuration) {
	return PropertyEnabled(configuration, "delta.enableInCommitTimestamps");
}

void KeepTimestampEnablement(const Configuration& now, Configuration& next) {
	const bool stay = HasCommitTimestamps(now) && HasCommitTimestamps(next);
	for (const char* key : {"delta.inCommitTimestampEnablementVersion", "delta.inCommitTimestampEnablementTimestamp"}) {
		next.erase(key);
		const auto known = now.find(key);
		if (stay && known != now.end()) next[key] = known->second;
	}
}

}  // namespace braid
