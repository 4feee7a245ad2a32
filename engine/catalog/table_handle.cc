// SPDX-License-Identifier: Apache-2.0
// A handle remembers the newest snapshot only as a start: a directory that was dropped and made anew is noticed by the age of its commit file.
#include "engine/catalog/table_handle.h"

#include <utility>

#include "base/environment.h"
#include "kernel/log/log_path.h"

namespace braid::engine {

namespace {

// The modification time of the version's commit file; nullopt if it is gone (cleaned up, or another table now).
std::optional<int64_t> CommitTime(LogStore& store, int64_t version) {
	auto file = store.Stat(CommitPath(version));
	return file ? std::optional(file->modification_time_ms) : std::nullopt;
}

}  // namespace

TableHandle::TableHandle(std::string root, std::unique_ptr<LogStore> store)
	: root_(std::move(root)), store_(std::move(store)), lease_(std::make_shared<TableLease>(root_, SystemRandom())) {}

std::unique_ptr<TableLease::Pin> TableHandle::Pin(std::optional<int64_t> version) {
	if (!version) {
		std::lock_guard lock(mutex_);
		version = newest_ ? newest_->version : 0;
	}
	return lease_->Begin(*version, SystemClock().NowMs());
}

Result<SnapshotPtr> TableHandle::Latest(ParquetGateway& parquet) {
	SnapshotPtr start;
	std::optional<int64_t> seen;
	{
		std::lock_guard lock(mutex_);
		start = newest_;
		seen = newest_commit_ms_;
	}
	SnapshotSource source {*store_, parquet};
	bool same = start && seen && CommitTime(*store_, start->version) == seen;
	BRAID_TRY(SnapshotPtr latest, same ? RefreshSnapshot(source, start) : LoadSnapshot(source));
	if (latest != start) Publish(latest);
	return latest;
}

Result<SnapshotPtr> TableHandle::At(ParquetGateway& parquet, int64_t version) {
	SnapshotPtr known;
	{
		std::lock_guard lock(mutex_);
		known = newest_;
	}
	if (known && known->version == version) {
		BRAID_TRY(SnapshotPtr latest, Latest(parquet));
		if (latest->version == version) return latest;
	}
	return LoadSnapshot(SnapshotSource {*store_, parquet}, version);
}

Result<SnapshotPtr> TableHandle::AtTimestamp(ParquetGateway& parquet, int64_t timestamp_ms) {
	return LoadSnapshotAt(SnapshotSource {*store_, parquet}, timestamp_ms);
}

void TableHandle::Publish(SnapshotPtr snapshot) {
	auto time = CommitTime(*store_, snapshot->version);
	std::lock_guard lock(mutex_);
	if (newest_ && newest_commit_ms_ && newest_->version > snapshot->version &&
		newest_->metadata.id == snapshot->metadata.id)
		return;
	newest_ = std::move(snapshot);
	newest_commit_ms_ = time;
}

}  // namespace braid::engine
