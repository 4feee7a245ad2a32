// SPDX-License-Identifier: Apache-2.0
// Whatever a commit answers, the entry is erased and files that no commit names are removed.
#include "engine/catalog/transaction_manager.h"

#include <filesystem>
#include <ranges>
#include <set>

#include "base/environment.h"
#include "base/json.h"
#include "duckdb/main/client_context.hpp"
#include "engine/io/duckdb_parquet_gateway.h"
#include "engine/io/duckdb_row_probe.h"
#include "engine/io/error_translation.h"
#include "engine/scan/read_registration.h"
#include "engine/session/session_record.h"
#include "engine/settings.h"
#include "engine/write/identity_values.h"
#include "engine/write/staging.h"
#include "kernel/log/log_path.h"
#include "kernel/storage/local_log_store.h"
#include "kernel/txn/committer.h"

namespace braid::engine {

namespace {

// Removes the files that statements have written and the commit does not name, and directories that were made for them and are empty.
void DiscardFiles(TableWork& work, const std::set<std::string>& kept) {
	std::error_code not_empty;
	for (auto& file : work.created_files | std::views::reverse) {
		if (file.ends_with('/')) {
			std::filesystem::remove(work.table->root() + "/" + file, not_empty);
		} else if (!kept.contains(file)) {
			(void)work.table->store().Delete(file);
		}
	}
	work.created_files.clear();
}

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

std::set<std::string> CommittedFiles(const TableWork& work) {
	std::set<std::string> files;
	for (auto& file : work.work.changes.new_files) files.insert(DecodePath(file.add.path));
	return files;
}

// properties.md 6.4. Operations that make a table have brought their parameters.
void DescribeOperation(TableWork& table) {
	auto& work = table.work;
	if (!work.operation_parameters.empty()) return;
	if (work.operation == "TRANSACTION") {
		std::string statements = "[";
		for (auto& name : table.operations) statements += (statements.size() > 1 ? "," : "") + JsonString(name);
		work.operation_parameters["statements"] = JsonString(statements + "]");
	}
	std::string predicates = "[";
	for (auto& read : work.reads.reads) {
		predicates += (predicates.size() > 1 ? "," : "") + JsonString("(" + ToString(read.bound) + ")");
	}
	predicates += "]";
	if (work.operation == "WRITE") {
		work.operation_parameters["mode"] = JsonString("Append");
		std::string columns = "[";
		auto& metadata = work.changes.metadata ? *work.changes.metadata : work.base->metadata;
		for (auto& name : metadata.partition_columns) columns += (columns.size() > 1 ? "," : "") + JsonString(name);
		work.operation_parameters["partitionBy"] = JsonString(columns + "]");
	} else {
		work.operation_parameters["predicate"] = JsonString(predicates);
	}
}

// No transaction is active in `context` here (trap 5): gateway and probe bring connections of their own.
Status CommitTable(duckdb::ClientContext& context, TableWork& work, bool& keep_files) {
	if (auto write = std::exchange(work.late_files, nullptr)) StageNewFiles(work, write());
	if (work.work.changes.empty()) return {};
	StageIdentityMarks(work);
	auto options = CommitOptionsOf(context);
	LocalLogStore store(work.table->root(), options.durable);
	DuckdbParquetGateway parquet(*context.db);
	DuckdbRowProbe probe(context, work.table, work.view);
	if (options.mode != ConcurrencyMode::kStrict) FinishReads(work.work.reads);
	DescribeOperation(work);
	auto interrupted = [&context] { return context.interrupted.load(); };
	CommitContext commit {store, parquet, probe, SystemClock(), SystemRandom(), options, interrupted};
	work.work.user_metadata = UserMetadataOf(context);
	auto outcome = Commit(commit, work.work);
	if (!outcome) {
		if (outcome.error().conflict) SessionRecord::Get(context).Set(outcome.error().conflict);
		keep_files = outcome.error().kind == ErrorKind::kOutcomeUnknown;
		return std::unexpected(outcome.error());
	}
	if (outcome->snapshot) work.table->Publish(outcome->snapshot);
	SessionRecord::Get(context).Set(CommitRecord {.table = work.table->root(),
												  .operation = work.work.operation,
												  .version = outcome->version,
												  .attempts = outcome->attempts,
												  .winners = outcome->winners,
												  .rows_rebased = outcome->rows_rebased,
												  .txn_id = outcome->txn_id});
	return {};
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
	bool keep_files = false;
	std::set<std::string> committed;
	auto* changed = taken->modified();
	if (changed && (changed->late_files || !changed->work.changes.empty())) {
		try {
			auto status = CommitTable(context, *changed, keep_files);
			if (status) {
				committed = CommittedFiles(*changed);
				context.ClearInterrupt();  // it came too late: DuckDB would report a failure of what is committed
			} else {
				error = ToErrorData(status.error());
			}
		} catch (std::exception& exception) {
			// An INTERNAL error would take the whole database down (trap 5).
			error = duckdb::ErrorData(duckdb::ExceptionType::IO, duckdb::ErrorData(exception).RawMessage());
		}
	}
	if (error.HasError()) {
		if (!keep_files) Discard(*taken);
	} else {
		for (auto* work : taken->Tables()) DiscardFiles(*work, work == changed ? committed : std::set<std::string>());
	}
	return error;
}

void LakeTransactionManager::RollbackTransaction(duckdb::Transaction& transaction) {
	auto taken = Take(transaction);
	if (taken) Discard(*taken);
}

void LakeTransactionManager::Checkpoint(duckdb::ClientContext&, bool) {
	throw duckdb::NotImplementedException(
		"CHECKPOINT of a lake is not supported: commits write checkpoints every delta.checkpointInterval versions");
}

}  // namespace braid::engine
