// SPDX-License-Identifier: Apache-2.0
// Snapshot: one version of a table, immutable once built and shared (PROTOCOL: Action Reconciliation).
// Loading lists the log, reads the newest usable checkpoint and replays the commits after it. A log with a gap, without protocol or metadata,
// with an unreadable commit or a reader feature that we lack is refused with table, version and file named; nothing is guessed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/action/actions.h"
#include "kernel/schema/column_mapping.h"
#include "kernel/schema/type.h"
#include "kernel/snapshot/file_index.h"
#include "kernel/storage/log_store.h"
#include "kernel/storage/parquet_gateway.h"

namespace braid {

using TombstoneBatch = std::vector<std::shared_ptr<const RemoveFile>>;

struct Snapshot {
	std::string table;  // how to name the table in messages (its location)
	int64_t version = -1;
	int64_t timestamp = 0;  // ms; the in-commit timestamp if enabled, else the commit file's modification time
	std::optional<int64_t> in_commit_timestamp;  // of this version's commit, if it carries one
	int64_t commit_size =
		-1;  // bytes of this version's commit file, -1 if there is none: a table made anew under the same
	int64_t commit_modification_time = -1;  // path is noticed by these two when refreshing; -1: not known
	Protocol protocol;
	Metadata metadata;
	DataTypePtr schema;  // parsed metadata.schema_string
	ColumnMappingMode column_mapping = ColumnMappingMode::kNone;
	std::shared_ptr<const FileIndex> files;
	std::map<std::string, SetTransaction> set_transactions;
	std::map<std::string, DomainMetadata> domains;  // live ones only
	// Removes seen during replay, for checkpoints; batches in log order. The file of one may be active again, and one file may have several.
	std::vector<std::shared_ptr<const TombstoneBatch>> tombstones;
	int64_t checkpoint_version = -1;  // newest checkpoint that this was built from, -1 if none
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;

struct SnapshotSource {
	LogStore& store;
	ParquetGateway& parquet;
};

// The newest version, or exactly `version`. kNotFound: not a Delta table, or no such version (the message says which versions exist).
Result<SnapshotPtr> LoadSnapshot(const SnapshotSource& source, std::optional<int64_t> version = std::nullopt);
// The newest version whose timestamp is not after `timestamp_ms`; kNotFound before the first one.
Result<SnapshotPtr> LoadSnapshotAt(const SnapshotSource& source, int64_t timestamp_ms);
// `base` or a newer version; costs one failed open if nothing changed.
Result<SnapshotPtr> RefreshSnapshot(const SnapshotSource& source, const SnapshotPtr& base);
// The version after `base`, given its commit's bytes (used by the committer, which has read or written them).
Result<SnapshotPtr> ApplyCommit(const SnapshotPtr& base, std::string_view commit_bytes, int64_t modification_time_ms);

// A table property with its default from the property table (kernel/feature/property_table.h).
std::string PropertyOf(const Metadata& metadata, const std::string& key);

}  // namespace braid
