// SPDX-License-Identifier: Apache-2.0
#include "kernel/log/checkpoint_write.h"

#include <ranges>
#include <set>

#include "kernel/feature/property_table.h"
#include "kernel/log/log_path.h"

namespace braid {
namespace {

// Milliseconds before which something is forgotten; never, if the property holds no interval.
int64_t Cutoff(const Snapshot& snapshot, std::string_view property, int64_t now_ms) {
	const auto age = ParseIntervalMs(PropertyValue(snapshot.metadata.configuration, property));
	return age ? now_ms - *age : INT64_MIN;
}

class CheckpointRows {
public:
	CheckpointRows(const Snapshot& snapshot, int64_t now_ms) : snapshot_(snapshot), now_ms_(now_ms) {}

	Status Produce(const ParquetGateway::Emit& sink) {
		const ParquetGateway::Emit emit = [&](const Action& action) {
			rows_++;
			return sink(action);
		};
		BRAID_TRY(emit(snapshot_.protocol));
		BRAID_TRY(emit(snapshot_.metadata));
		const int64_t oldest_transaction = Cutoff(snapshot_, "delta.setTransactionRetentionDuration", now_ms_);
		for (const auto& [app_id, transaction] : snapshot_.set_transactions) {
			if (transaction.last_updated && *transaction.last_updated < oldest_transaction) continue;
			BRAID_TRY(emit(transaction));
		}
		for (const auto& [name, domain] : snapshot_.domains) BRAID_TRY(emit(domain));
		for (const LiveFile* file : snapshot_.files->Files()) {
			BRAID_TRY(AddFile add, ToAddFile(*file));
			add.data_change = false;
			BRAID_TRY(emit(add));
		}
		return Tombstones(emit);
	}

	int64_t rows() const { return rows_; }

private:
	// Removes stay for readers of older snapshots and for VACUUM until the retention is over, unless the same logical file came back.
	Status Tombstones(const ParquetGateway::Emit& emit) {
		const int64_t oldest = Cutoff(snapshot_, "delta.deletedFileRetentionDuration", now_ms_);
		std::set<std::pair<std::string, std::string>> seen;
		for (const auto& batch : std::views::reverse(snapshot_.tombstones)) {
			for (const auto& tombstone : std::views::reverse(*batch)) {
				if (tombstone->deletion_timestamp.value_or(0) < oldest) continue;
				const std::string vector = tombstone->deletion_vector ? UniqueId(*tombstone->deletion_vector) : "";
				if (!seen.emplace(DecodePath(tombstone->path), vector).second) continue;
				const LiveFile* live = snapshot_.files->Find(tombstone->path);
				if (live && (live->deletion_vector ? UniqueId(*live->deletion_vector) : "") == vector) continue;
				RemoveFile remove = *tombstone;
				remove.stats.clear();
				remove.tags.clear();
				remove.data_change = false;
				BRAID_TRY(emit(std::move(remove)));
			}
		}
		return {};
	}

	const Snapshot& snapshot_;
	const int64_t now_ms_;
	int64_t rows_ = 0;
};

}  // namespace

bool CheckpointIsDue(const Snapshot& snapshot) {
	const int64_t interval = PropertyInteger(snapshot.metadata.configuration, "delta.checkpointInterval");
	return interval > 0 && snapshot.version > 0 && snapshot.version % interval == 0;
}

static Status PointTo(LogStore& store, const Snapshot& snapshot, int64_t rows, int64_t bytes) {
	return store.Put(kLastCheckpointPath, "{\"version\":" + std::to_string(snapshot.version) + ",\"size\":" +
											  std::to_string(rows) + ",\"sizeInBytes\":" + std::to_string(bytes) +
											  ",\"numOfAddFiles\":" + std::to_string(snapshot.files->size()) + "}");
}

Status WriteCheckpoint(const SnapshotSource& target, Clock& clock, Random& random, const Snapshot& snapshot) {
	LogStore& store = target.store;
	const std::string path = CheckpointPath(snapshot.version);
	if (store.Stat(path)) return Fail(ErrorKind::kAlreadyExists, store.Location(path) + " exists already");
	ParquetGateway::WriteOptions options;
	options.stats_as_json = PropertyEnabled(snapshot.metadata.configuration, "delta.checkpoint.writeStatsAsJson");
	options.stats_as_struct = PropertyEnabled(snapshot.metadata.configuration, "delta.checkpoint.writeStatsAsStruct");
	CheckpointRows rows(snapshot, clock.NowMs());
	const std::string temporary = TemporaryLogPath(random);
	const auto write = [&]() -> Result<int64_t> {
		BRAID_TRY(const int64_t bytes,
				  target.parquet.WriteCheckpoint(store.Location(temporary), snapshot.metadata, options,
												 [&](const ParquetGateway::Emit& emit) { return rows.Produce(emit); }));
		BRAID_TRY(store.MakeDurable(std::span(&temporary, 1)));
		BRAID_TRY(store.MoveIfAbsent(temporary, path));
		return bytes;
	};
	const Result<int64_t> bytes = write();
	if (!bytes) {
		(void)store.Delete(temporary);
		return std::unexpected(bytes.error());
	}
	return PointTo(store, snapshot, rows.rows(), *bytes);
}

}  // namespace braid
