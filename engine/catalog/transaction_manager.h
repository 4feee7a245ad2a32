// SPDX-License-Identifier: Apache-2.0
// LakeTransactionManager: the transactions of one attached lake; COMMIT hands the changed table to the kernel's
// committer. Guarantees: one DuckDB transaction, in autocommit or between BEGIN and COMMIT, is one Delta commit; one
// that fails or is rolled back leaves no file behind (except with an unknown outcome) and no entry here: DuckDB does
// not call RollbackTransaction after a failed commit (trap 6).
#pragma once

#include <memory>
#include <mutex>

#include "duckdb/common/reference_map.hpp"
#include "duckdb/transaction/transaction_manager.hpp"
#include "engine/catalog/transaction.h"

namespace braid::engine {

class LakeTransactionManager : public duckdb::TransactionManager {
public:
	explicit LakeTransactionManager(duckdb::AttachedDatabase& database) : TransactionManager(database) {}

	duckdb::Transaction& StartTransaction(duckdb::ClientContext& context) override;
	duckdb::ErrorData CommitTransaction(duckdb::ClientContext& context, duckdb::Transaction& transaction) override;
	void RollbackTransaction(duckdb::Transaction& transaction) override;
	// Checkpoints of a Delta log are written by commits, every delta.checkpointInterval versions.
	void Checkpoint(duckdb::ClientContext& context, bool force) override;

private:
	std::unique_ptr<LakeTransaction> Take(duckdb::Transaction& transaction);

	std::mutex mutex_;
	duckdb::reference_map_t<duckdb::Transaction, std::unique_ptr<LakeTransaction>> transactions_;
};

}  // namespace braid::engine
