// SPDX-License-Identifier: Apache-2.0
// ALTER TABLE ... DROP FEATURE: a feature that nothing of the table uses any more leaves the protocol. No data file is rewritten: what uses the
// feature is named, with the way to end that. Of a feature that readers need to know, the versions before are free too, as long as they can be
// read, or their log is cut off once it is old enough (TRUNCATE HISTORY; delta.dropFeatureTruncateHistory.retentionDuration).
#pragma once

#include <string>

#include "kernel/alter/table_draft.h"
#include "kernel/storage/log_store.h"

namespace braid {

// A function of the draft alone; `draft.before` is the newest version.
Status DropFeature(TableDraft& draft, const std::string& feature, bool truncate_history);

// What the log of the versions before says: the newest commit that uses the feature, -1 if none does.
Result<int64_t> LastUse(LogStore& log, const Snapshot& table, const std::string& feature);
// kUnsupported: a version before uses the feature, and its log may not be cut off yet (or was not asked to be). True: there is log to be cut off.
Result<bool> CheckHistory(LogStore& log, const Snapshot& table, const std::string& feature, bool truncate_history,
						  int64_t now_ms);

}  // namespace braid
