// SPDX-License-Identifier: Apache-2.0
// Commit that survives lost races at row level (docs/concurrency.md): write vectors, put-if-absent of the next version; lost: read each winner once,
// judge its net effect, rebase or fail; unknown: look for our own txnId. The only caller of put-if-absent on a commit file.
// Guarantees: on error nothing of this transaction is visible and its files are deleted (kept with kOutcomeUnknown); on success everything is,
// and was durable before the commit named it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/environment.h"
#include "kernel/storage/row_probe.h"
#include "kernel/txn/conflict_report.h"
#include "kernel/txn/isolation.h"
#include "kernel/txn/repairer.h"
#include "kernel/txn/transaction.h"

namespace braid {

struct CommitOptions {
	ConcurrencyMode mode = ConcurrencyMode::kSound;
	CompatOptions compat;                      // strict only
	bool durable = true;                       // false: no fsync (braid_durability = 'none')
	int64_t conflict_time_budget_ms = 10'000;  // row tests of one commit, all attempts
	int64_t commit_timeout_ms = 600'000;
	int explain_rows = 5;
	int64_t statement_retries =
		0;  // so often a transaction that fails with a conflict is executed again as a whole, if it can be
	std::string engine_info = "Braid";
	std::string lease_token;  // goes into the names of the files that the commit writes (kernel/storage/table_lease.h)
};

struct CommitContext {
	LogStore& store;
	ParquetGateway& parquet;
	RowProbe& probe;
	Clock& clock;
	Random& random;
	CommitOptions options;
	std::function<bool()> interrupted;  // may be empty
	Repairer* repairer = nullptr;  // without one nothing is executed again: mode max repairs only rows that are gone
	std::function<Result<int64_t>()>
		oldest_pin;  // of the leases on the table, which no clean-up of the log may pass; may be empty
};

struct CommitOutcome {
	int64_t version = -1;
	SnapshotPtr snapshot;  // of that version
	std::string txn_id;
	int attempts = 1;    // put-if-absent calls
	int winners = 0;     // commits of others that came between the first version read and ours
	int64_t reruns = 0;  // times that the whole transaction was executed again
	int64_t rows_repaired = 0;
	int64_t rows_rebased = 0;  // deleted rows whose vector was united with a winner's
};

// What Commit would meet now, told winner by winner; nothing is written. Empty: it would succeed.
Result<std::vector<ConflictReport>> Rehearse(const CommitContext& context, const Transaction& transaction);

// An empty transaction commits nothing and answers the base version. Post-commit work (checksum, checkpoint) never fails the commit.
Result<CommitOutcome> Commit(const CommitContext& context, const Transaction& transaction);

}  // namespace braid
