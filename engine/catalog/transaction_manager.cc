// SPDX-License-Identifier: Apache-2.0
// Whatever a commit answers, the entry is erased and files that no commit names are removed.
#include "engine/catalog/transaction_manager.h"

#include <filesystem>
#include <ranges>
#include <set>

#include "duckdb/main/client_context.hpp"
#include "engine/catalog/table_commit.h"
#include "engine/io/error_translation.h"
#include "engine/maintenance/auto_compaction.h"

namespace braid::engine {

namespace {

// A table that never came to be leaves no directory: an empty one would pass for a schema.
void RemoveEmptyDirectories(const std::filesystem::path& directory) {
	std::error_code error;
	std::vector<std::filesystem::path> children;
	for (auto& entry : std::filesystem::directory_iterator(directory, error)) {
		if (entry.is_directory(error)) children.push_back(entry.path());
	}
	for (auto& child : children) RemoveEmptyDirectories(child);
	std::filesystem::remove(directory, error);  // fails if anything is left, and shall
}

void Discard(LakeTransaction& transaction) {
	for (auto* work : transaction.Tables()) {
		DiscardFiles(*work, {});
		if (!work->work.base && work->view) RemoveEmptyDirectories(work->table->root());
	}
}

}  // namespace

std::unique_ptr<LakeTransaction> LakeTransactionManager::Take(duckdb::Transaction& transaction) {
	std::lock_guard guard(mutex_);
	auto entry = transactions_.find(transaction);
	if (entry == transactions_.end()) return nullptr;
	auto taken = std::move(entry->second);
	transactions_.erase(entry);
	return taken;
}

duckdb::Transaction& LakeTransactionManager::StartTransaction(duckdb::ClientContext& context) {
	auto started = std::make_unique<LakeTransaction>(*this, context);
	auto& transaction = *started;
	std::lock_guard guard(mutex_);
	transactions_[transaction] = std::move(started);
	return transaction;
}

duckdb::ErrorData LakeTransactionManager::CommitTransaction(duckdb::ClientContext& context,
															duckdb::Transaction& transaction) {
	auto taken = Take(transaction);
	if (!taken) return {};
	duckdb::ErrorData error;
	CommitFiles files;
	SnapshotPtr committed;
	auto* changed = taken->modified();
	if (changed && (changed->late_files || !changed->work.changes.empty())) {
		try {
			auto outcome = CommitTable(context, db, *taken, *changed, files);
			if (outcome) {
				committed = *outcome;
				context.ClearInterrupt();  // it came too late: DuckDB would report a failure of what is committed
			} else {
				error = ToErrorData(outcome.error());
			}
		} catch (std::exception& exception) {
			// An INTERNAL error would take the whole database down (trap 5).
			error = duckdb::ErrorData(duckdb::ExceptionType::IO, duckdb::ErrorData(exception).RawMessage());
		}
	}
	if (error.HasError()) {
		if (!files.unknown) Discard(*taken);
	} else {
		for (auto* work : taken->Tables())
			DiscardFiles(*work, work == changed ? files.committed : std::set<std::string>());
		if (committed) CompactAfter(context, *changed, *committed);
	}
	return error;
}

void LakeTransactionManager::RollbackTransaction(duckdb::Transaction& transaction) {
	auto taken = Take(transaction);
	if (taken) Discard(*taken);
}

void LakeTransactionManager::Checkpoint(duckdb::ClientContext&, bool) {
	throw duckdb::NotImplementedException(
		"CHECKPOINT of a lake is not supported: name one of its tables, CHECKPOINT lake.t; commits write checkpoints "
		"every "
		"delta.checkpointInterval versions");
}

}  // namespace braid::engine
