// SPDX-License-Identifier: Apache-2.0
#include "engine/maintenance/auto_compaction.h"

#include <set>
#include <vector>

#include "duckdb/logging/logger.hpp"
#include "engine/io/nested_session.h"
#include "engine/settings.h"
#include "kernel/maintenance/auto_compaction.h"
#include "kernel/snapshot/partition_key.h"
#include "kernel/storage/file_lock.h"

namespace braid::engine {

namespace {

constexpr auto kLockFile = "/_braid/auto_compaction.lock";

// Where the commit has added or removed rows.
std::set<std::string> TouchedPartitions(const Transaction& work, const Snapshot& table) {
	std::set<std::string> partitions;
	for (auto& file : work.changes.new_files) partitions.insert(PartitionKey(file.add.partition_values, table));
	const auto add = [&](const std::string& path) {
		auto* file = work.base ? work.base->files->Find(path) : nullptr;
		if (file) partitions.insert(PartitionKey(file->partition_values, table));
	};
	for (auto& [path, rows] : work.changes.deleted_rows) add(path);
	for (auto& path : work.changes.replaced_files) add(path);
	return partitions;
}

void Warn(duckdb::ClientContext& context, const Snapshot& table, const std::string& reason) {
	try {
		auto& logger = duckdb::Logger::Get(context);
		if (!logger.ShouldLog(duckdb::DefaultLogType::NAME, duckdb::LogLevel::LOG_WARNING)) return;
		logger.WriteLog(duckdb::DefaultLogType::NAME, duckdb::LogLevel::LOG_WARNING,
						"braid: table " + table.table + " was not compacted after version " +
							std::to_string(table.version) + ": " + reason);
	} catch (const std::exception&) {  // the log may be a file on a full disk
	}
}

std::string Statement(const TableWork& work, const std::set<std::string>& partitions) {
	const std::vector<std::string> keys(partitions.begin(), partitions.end());
	return "SELECT * FROM braid_optimize(" + SqlText(work.table->root()) + ", " + SqlText(kAutoCompaction) + ", '', " +
		   SqlTextList(keys) + "::VARCHAR[])";
}

void Compact(duckdb::ClientContext& context, const TableWork& work, const Snapshot& committed) {
	const auto partitions = TouchedPartitions(work.work, committed);
	if (CrowdingFiles(committed, partitions, AutoCompactMinFiles(context)).empty()) return;
	auto lock = FileLock::Try(work.table->root() + kLockFile);
	if (!lock) return Warn(context, committed, lock.error().message);
	if (!*lock) return;
	NestedSession session(*context.db);
	session.ActFor(context);
	auto statements = session.connection().ExtractStatements(Statement(work, partitions));
	const auto error = session.Execute(context, std::move(statements[0]));
	if (error.HasError()) Warn(context, committed, error.RawMessage());
}

}  // namespace

void CompactAfter(duckdb::ClientContext& context, const TableWork& work, const Snapshot& committed) noexcept {
	if (!work.work.changes.data_change || !CompactsItself(committed.metadata.configuration)) return;
	try {
		Compact(context, work, committed);
	} catch (const std::exception& exception) {
		Warn(context, committed, duckdb::ErrorData(exception).RawMessage());
	}
	context.ClearInterrupt();  // it was for the compaction
}

}  // namespace braid::engine
