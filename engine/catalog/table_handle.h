// SPDX-License-Identifier: Apache-2.0
// TableHandle: one Delta table of an attached lake: its log store and the newest snapshot that this process has seen.
// Shared by all connections; the cached snapshot is only a starting point for RefreshSnapshot, never an answer by itself.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "kernel/snapshot/snapshot.h"
#include "kernel/storage/log_store.h"
#include "kernel/storage/table_lease.h"

namespace braid::engine {

class TableHandle {
public:
	TableHandle(std::string root, std::unique_ptr<LogStore> store);

	const std::string& root() const { return root_; }  // absolute directory, no trailing separator
	LogStore& store() { return *store_; }

	// Keeps files from VACUUM for as long as it lives; to be had before the version is looked up. Without a version: for Latest().
	std::unique_ptr<TableLease::Pin> Pin(std::optional<int64_t> version = std::nullopt);
	// What the names of staged files carry.
	std::string lease_token() { return lease_->token(); }

	// The newest version on storage.
	Result<SnapshotPtr> Latest(ParquetGateway& parquet);
	Result<SnapshotPtr> At(ParquetGateway& parquet, int64_t version);
	Result<SnapshotPtr> AtTimestamp(ParquetGateway& parquet, int64_t timestamp_ms);
	// What a commit of ours produced; later Latest() calls start from it.
	void Publish(SnapshotPtr snapshot);

	// The number under which DuckDB's listings know the table; every entry made of it has the same (duckdb_columns is joined by it).
	std::atomic<uint64_t> catalog_oid {0};

private:
	std::string root_;
	std::unique_ptr<LogStore> store_;
	std::shared_ptr<TableLease> lease_;
	std::mutex mutex_;
	SnapshotPtr newest_;
	std::optional<int64_t> newest_commit_ms_;  // of its commit file: a table made anew has another
};

}  // namespace braid::engine
