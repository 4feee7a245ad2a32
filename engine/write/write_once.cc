// SPDX-License-Identifier: Apache-2.0
#include "engine/write/write_once.h"

#include <algorithm>

#include "base/environment.h"
#include "engine/session/session_record.h"
#include "engine/settings.h"

namespace braid::engine {

bool IsWrittenAlready(duckdb::ClientContext& context, TableWork& work, const char* operation) {
	auto wanted = ApplicationTransactionOf(context);
	if (!wanted) return false;
	std::lock_guard guard(work.mutex);
	auto& staged = work.work.changes.set_transactions;
	auto ours = std::ranges::find(staged, wanted->app_id, &SetTransaction::app_id);
	if (ours == staged.end()) {
		if (work.work.base) {
			auto known = work.work.base->set_transactions.find(wanted->app_id);
			if (known != work.work.base->set_transactions.end() && known->second.version >= wanted->version) {
				SessionRecord::Get(context).Set(CommitRecord {.table = work.table->root(),
															  .operation = operation,
															  .skipped = true,
															  .version = work.work.base->version,
															  .txn_id = {}});
				return true;
			}
		}
		ours = staged.insert(staged.end(), SetTransaction {wanted->app_id, wanted->version, {}});
	}
	// Statements of one transaction are one write, also if the version was raised between them.
	ours->version = std::max(ours->version, wanted->version);
	ours->last_updated = SystemClock().NowMs();
	return false;
}

}  // namespace braid::engine
