// SPDX-License-Identifier: Apache-2.0
#include "engine/maintenance/vacuum_lock.h"

#include <filesystem>
#include <mutex>
#include <vector>

#include "base/environment.h"
#include "duckdb/common/exception.hpp"
#include "duckdb/common/exception/transaction_exception.hpp"
#include "duckdb/main/client_context_state.hpp"
#include "engine/settings.h"
#include "kernel/storage/log_store.h"
#include "kernel/storage/table_lease.h"

namespace braid::engine {

namespace {

constexpr int64_t kPauseMs = 1;

// The locks of a query. A query outside of BEGIN commits before it ends; one inside of BEGIN leaves its pin to the transaction. A statement that is only
// prepared ends no query, but a transaction.
class HeldLocks : public duckdb::ClientContextState {
public:
	static HeldLocks& Get(duckdb::ClientContext& context) {
		return *context.registered_state->GetOrCreate<HeldLocks>("braid_vacuum_locks");
	}
	void Add(FileLock lock) {
		std::lock_guard guard(mutex_);
		locks_.push_back(std::move(lock));
	}
	void QueryEnd() override { Release(); }
	void TransactionCommit(duckdb::MetaTransaction&, duckdb::ClientContext&) override { Release(); }
	void TransactionRollback(duckdb::MetaTransaction&, duckdb::ClientContext&) override { Release(); }

private:
	void Release() {
		std::lock_guard guard(mutex_);
		locks_.clear();
	}

	std::mutex mutex_;
	std::vector<FileLock> locks_;
};

// Nothing: no lock can be had there. `in_the_way` ends the message.
std::optional<FileLock> Await(duckdb::ClientContext& context, const std::string& root, FileLock::Kind kind,
							  const std::string& statement, const std::string& in_the_way) {
	const auto patience_ms = CommitOptionsOf(context).commit_timeout_ms;
	const auto deadline_ms = SystemClock().MonotonicMs() + patience_ms;
	for (;;) {
		auto lock = FileLock::Try(VacuumLockPath(root), kind);
		if (!lock) return std::nullopt;
		if (*lock) return std::move(*lock);
		if (context.interrupted) throw duckdb::InterruptException();
		if (SystemClock().MonotonicMs() >= deadline_ms) {
			throw duckdb::TransactionException(
				"%s of table %s has waited %lld ms (braid_commit_timeout_ms) for %s on this machine. Nothing was "
				"changed; run it again when that is over",
				statement, root, patience_ms, in_the_way);
		}
		SystemClock().SleepMs(kPauseMs);
	}
}

}  // namespace

void HoldOffVacuum(duckdb::ClientContext& context, const std::string& root, const std::string& statement) {
	if (!std::filesystem::exists(root + "/" + std::string(kLogDirectory))) return;
	auto lock = Await(context, root, FileLock::Kind::kShared, statement, "a VACUUM that is under way");
	if (lock) HeldLocks::Get(context).Add(*std::move(lock));
}

std::optional<FileLock> LockForVacuum(duckdb::ClientContext& context, const std::string& root) {
	return Await(context, root, FileLock::Kind::kExclusive, "VACUUM",
				 "another VACUUM, or for a RESTORE or CLONE that brings files back,");
}

}  // namespace braid::engine
