// SPDX-License-Identifier: Apache-2.0
#include "kernel/log/checkpoint_write.h"

#include <algorithm>
#include <ranges>
#include <set>

#include "base/json.h"
#include "kernel/action/action_codec.h"
#include "kernel/feature/feature_support.h"
#include "kernel/feature/property_table.h"
#include "kernel/log/log_listing.h"
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
		BRAID_TRY(ProduceOthers(sink));
		return ProduceFiles(sink);
	}

	// All but the files.
	Status ProduceOthers(const ParquetGateway::Emit& sink) {
		const auto emit = Counted(sink);
		BRAID_TRY(emit(snapshot_.protocol));
		BRAID_TRY(emit(snapshot_.metadata));
		const int64_t oldest_transaction = Cutoff(snapshot_, "delta.setTransactionRetentionDuration", now_ms_);
		for (const auto& [app_id, transaction] : snapshot_.set_transactions) {
			if (transaction.last_updated && *transaction.last_updated < oldest_transaction) continue;
			BRAID_TRY(emit(transaction));
		}
		for (const auto& [name, domain] : snapshot_.domains) BRAID_TRY(emit(domain));
		return {};
	}

	Status ProduceFiles(const ParquetGateway::Emit& sink) {
		const auto emit = Counted(sink);
		for (const LiveFile* file : snapshot_.files->Files()) {
			BRAID_TRY(AddFile add, ToAddFile(*file));
			add.data_change = false;
			BRAID_TRY(emit(add));
		}
		return Tombstones(emit);
	}

	int64_t rows() const { return rows_; }

private:
	ParquetGateway::Emit Counted(const ParquetGateway::Emit& sink) {
		return [this, &sink](const Action& action) {
			rows_++;
			return sink(action);
		};
	}

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

// Whether anybody has written a whole one, of whatever kind: readers need not bear two.
static bool IsThere(LogStore& store, const Snapshot& snapshot) {
	const auto log = ListLog(store, snapshot.table, snapshot.version);
	return log &&
		   std::ranges::find(log->checkpoints, snapshot.version, &CheckpointFiles::version) != log->checkpoints.end();
}

namespace {

// Writes a Parquet file and gives it its name; the bytes that it has.
Result<int64_t> WriteFile(const SnapshotSource& target, Random& random, const std::string& path,
						  ParquetGateway::FileKind kind,
						  const std::function<Status(const ParquetGateway::Emit& emit)>& produce) {
	const std::string temporary = TemporaryLogPath(random);
	const auto write = [&]() -> Result<int64_t> {
		BRAID_TRY(const int64_t bytes, target.parquet.WriteCheckpoint(target.store.Location(temporary), kind, produce));
		BRAID_TRY(target.store.MakeDurable(std::span(&temporary, 1)));
		BRAID_TRY(target.store.MoveIfAbsent(temporary, path));
		return bytes;
	};
	Result<int64_t> bytes = write();
	if (!bytes) (void)target.store.Delete(temporary);
	return bytes;
}

// Counts what is written: rows of the checkpoint and its bytes.
struct Written {
	int64_t rows = 0, bytes = 0;
};

Result<Written> WriteClassic(const SnapshotSource& target, Random& random, const Snapshot& snapshot,
							 CheckpointRows& rows) {
	BRAID_TRY(const int64_t bytes,
			  WriteFile(target, random, CheckpointPath(snapshot.version), ParquetGateway::FileKind::kClassic,
						[&](const ParquetGateway::Emit& emit) { return rows.Produce(emit); }));
	return Written {rows.rows(), bytes};
}

// The line of a checkpoint that points to its sidecar (PROTOCOL: Sidecar File Information).
std::string SidecarLine(const std::string& name, int64_t bytes, int64_t modification_time) {
	std::string line = "{\"sidecar\":";
	JsonObjectWriter json(line);
	json.String("path", name);
	json.Integer("sizeInBytes", bytes);
	json.Integer("modificationTime", modification_time);
	json.Close();
	return line + "}\n";
}

// First the sidecar, which nothing names yet, then the file that names it.
Result<Written> WriteV2(const SnapshotSource& target, Clock& clock, Random& random, const Snapshot& snapshot,
						CheckpointRows& rows) {
	LogStore& store = target.store;
	std::string text = "{\"checkpointMetadata\":{\"version\":" + std::to_string(snapshot.version) + "}}\n";
	BRAID_TRY(rows.ProduceOthers([&](const Action& action) -> Status {
		AppendActionLine(action, text);
		return {};
	}));
	const std::string name = NewUuid(random) + ".parquet";
	const std::string sidecar = SidecarPath(name);
	BRAID_TRY(const int64_t bytes,
			  WriteFile(target, random, sidecar, ParquetGateway::FileKind::kSidecar,
						[&](const ParquetGateway::Emit& emit) { return rows.ProduceFiles(emit); }));
	BRAID_TRY(store.MakeDurable(std::span(&sidecar, 1)));
	const auto stored = store.Stat(sidecar);
	text += SidecarLine(name, bytes, stored ? stored->modification_time_ms : clock.NowMs());
	BRAID_TRY(store.PutIfAbsent(V2CheckpointPath(snapshot.version, NewUuid(random)), text));
	return Written {rows.rows() + 2, bytes + static_cast<int64_t>(text.size())};
}

}  // namespace

Status WriteCheckpoint(const SnapshotSource& target, Clock& clock, Random& random, const Snapshot& snapshot) {
	if (IsThere(target.store, snapshot)) {
		return Fail(ErrorKind::kAlreadyExists, "table " + snapshot.table + " has a checkpoint of version " +
												   std::to_string(snapshot.version) + " already");
	}
	const bool v2 = PropertyValue(snapshot.metadata.configuration, "delta.checkpointPolicy") == "v2" &&
					HasFeature(snapshot.protocol, "v2Checkpoint");
	CheckpointRows rows(snapshot, clock.NowMs());
	BRAID_TRY(const Written written,
			  v2 ? WriteV2(target, clock, random, snapshot, rows) : WriteClassic(target, random, snapshot, rows));
	return PointTo(target.store, snapshot, written.rows, written.bytes);
}

}  // namespace braid
