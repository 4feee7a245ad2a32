// SPDX-License-Identifier: Apache-2.0
#include "kernel/snapshot/replay.h"

#include <algorithm>

#include "kernel/feature/feature_support.h"
#include "kernel/feature/property_table.h"
#include "kernel/feature/timestamp_enablement.h"
#include "kernel/log/log_path.h"
#include "kernel/schema/schema_json.h"
#include "kernel/snapshot/domains.h"

namespace braid {

namespace {

constexpr size_t kManyTombstones = 4096;

std::string KeyOf(std::string_view path, const DvDescriptor* dv) {
	std::string key = DecodePath(path);
	if (dv != nullptr) {
		key += '\n';
		key += dv->storage_type + dv->path_or_inline_dv;
		if (dv->offset) key += "@" + std::to_string(*dv->offset);
	}
	return key;
}

// A table whose metaData has no schemaString has no columns.
Result<DataTypePtr> SchemaOf(const Metadata& metadata) {
	if (!metadata.schema_string.empty()) return ParseSchema(metadata.schema_string);
	auto empty = std::make_shared<DataType>();
	empty->kind = TypeKind::kStruct;
	return empty;
}

}  // namespace

Replay::Replay(std::string table) : snapshot_(std::make_shared<Snapshot>()) { snapshot_->table = std::move(table); }

Replay::Replay(const Snapshot& base)
	: snapshot_(std::make_shared<Snapshot>(base)), files_(*base.files), has_protocol_(true), has_metadata_(true) {
	snapshot_->in_commit_timestamp.reset();
}

std::string Replay::Where() const {
	return "table " + snapshot_->table + ", version " + std::to_string(snapshot_->version);
}

std::unexpected<Error> Replay::Corrupt(const std::string& what) const {
	const char* file = source_ == Source::kCheckpoint ? " (checkpoint)" : "";
	return Fail(ErrorKind::kCorrupt, Where() + file + ": " + what);
}

std::unexpected<Error> Replay::AddedTwice() const {
	return Corrupt("file " + std::string(files_.added_twice()) + " is added twice");
}

void Replay::BeginCheckpoint(int64_t version) {
	BeginCommits(version, false);
	source_ = Source::kCheckpoint;
	snapshot_->checkpoint_version = version;
}

void Replay::BeginCommits(int64_t last_version, bool compacted) {
	if (!failure_ && !files_.Settle()) failure_ = AddedTwice().error();
	checkpoint_removes_ = source_ == Source::kCheckpoint ? removes_.size() : checkpoint_removes_;
	source_ = compacted ? Source::kCompacted : Source::kCommit;
	snapshot_->version = last_version;
	protocol_in_commit_ = metadata_in_commit_ = false;
	in_commit_timestamp.reset();
	compacted_.clear();
	files_.BeginCommit();
}

// PROTOCOL: Log Compaction Files: their actions are reconciled. Some writers did not; the commits themselves are right then.
Status Replay::CheckReconciled(std::string_view path, const DvDescriptor* deletion_vector) {
	if (source_ != Source::kCompacted) return {};
	if (compacted_.insert(std::hash<std::string>()(KeyOf(path, deletion_vector))).second) return {};
	return Corrupt("the compacted commits have two actions for file " + std::string(path));
}

Status Replay::OnAdd(const AddFileView& add) {
	if (!files_.Add(add)) return AddedTwice();
	return CheckReconciled(add.path, add.deletion_vector);
}

Status Replay::OnRemove(const RemoveFileView& view) {
	if (!files_.Settle()) return AddedTwice();
	files_.Remove(view.path, view.deletion_vector);
	BRAID_TRY(CheckReconciled(view.path, view.deletion_vector));
	RemoveFileView tombstone = view;
	tombstone.stats = {};  // checkpoints omit them on removes
	tombstone.tags_json = {};
	Result<RemoveFile> remove = ToRemoveFile(tombstone);
	if (!remove) return Corrupt("remove of " + std::string(view.path) + ": " + remove.error().message);
	removes_.push_back(std::make_shared<RemoveFile>(*std::move(remove)));
	return {};
}

Status Replay::OnAction(Action&& action) {
	if (auto* protocol = std::get_if<Protocol>(&action)) {
		if (std::exchange(protocol_in_commit_, true)) return Corrupt("two protocol actions");
		snapshot_->protocol = std::move(*protocol);
		has_protocol_ = protocol_changed_ = true;
	} else if (auto* metadata = std::get_if<Metadata>(&action)) {
		if (std::exchange(metadata_in_commit_, true)) return Corrupt("two metaData actions");
		snapshot_->metadata = std::move(*metadata);
		has_metadata_ = metadata_changed_ = true;
	} else if (auto* transaction = std::get_if<SetTransaction>(&action)) {
		snapshot_->set_transactions.insert_or_assign(transaction->app_id, std::move(*transaction));
	} else if (auto* domain = std::get_if<DomainMetadata>(&action)) {
		ApplyDomain(snapshot_->domains, std::move(*domain));
	} else if (auto* info = std::get_if<CommitInfo>(&action)) {
		if (source_ == Source::kCommit) in_commit_timestamp = info->in_commit_timestamp;
	} else if (auto* remove = std::get_if<RemoveFile>(&action)) {
		if (!files_.Settle()) return AddedTwice();
		files_.Remove(remove->path, remove->deletion_vector ? &*remove->deletion_vector : nullptr);
		removes_.push_back(std::make_shared<RemoveFile>(std::move(*remove)));
	}
	return {};
}

bool Replay::InCommitTimestampsEnabled() const { return HasCommitTimestamps(snapshot_->metadata.configuration); }

// Expired ones are dropped if they came from a checkpoint or are many. Batches grow like the digits of a binary counter, so that a
// commit copies few pointers and none for long.
void Replay::KeepTombstones(int64_t now) {
	const int64_t oldest =
		now - PropertyInteger(snapshot_->metadata.configuration, "delta.deletedFileRetentionDuration");
	const auto expired = [&](const auto& remove) { return remove->deletion_timestamp.value_or(0) < oldest; };
	const auto checkpoint_end = removes_.begin() + static_cast<std::ptrdiff_t>(checkpoint_removes_);
	removes_.erase(std::remove_if(removes_.begin(), checkpoint_end, expired), checkpoint_end);
	auto& batches = snapshot_->tombstones;
	while (!batches.empty() && !removes_.empty() && batches.back()->size() <= removes_.size() * 2) {
		removes_.insert(removes_.begin(), batches.back()->begin(), batches.back()->end());
		batches.pop_back();
	}
	if (removes_.size() > kManyTombstones) std::erase_if(removes_, expired);
	if (!removes_.empty()) batches.push_back(std::make_shared<TombstoneBatch>(std::move(removes_)));
}

Status Replay::CheckState() {
	if (!has_protocol_) return Corrupt("the log has no protocol action");
	if (!has_metadata_) return Corrupt("the log has no metaData action");
	if (protocol_changed_) {
		BRAID_TRY(CheckProtocol(snapshot_->protocol, TableOperation::kRead,
								snapshot_->table + " at version " + std::to_string(snapshot_->version)));
	}
	return {};
}

Status Replay::Derive() {
	Snapshot& snapshot = *snapshot_;
	if (!metadata_changed_) return {};
	if (snapshot.metadata.format.provider != "parquet") {
		return Fail(ErrorKind::kUnsupported, Where() + ": data files of format \"" + snapshot.metadata.format.provider +
												 "\" cannot be read, only parquet");
	}
	Result<DataTypePtr> schema = SchemaOf(snapshot.metadata);
	if (!schema) return Fail(schema.error().kind, Where() + ": " + schema.error().message);
	snapshot.schema = *std::move(schema);
	const Result<ColumnMappingMode> mode =
		ParseColumnMappingMode(PropertyValue(snapshot.metadata.configuration, "delta.columnMapping.mode"));
	if (!mode) return Fail(mode.error().kind, Where() + ": " + mode.error().message);
	snapshot.column_mapping = *mode;
	if (const Status mapped = CheckColumnMapping(*snapshot.schema, *mode); !mapped)
		return Corrupt(mapped.error().message);
	for (const std::string& column : snapshot.metadata.partition_columns) {
		const bool known = std::any_of(snapshot.schema->fields.begin(), snapshot.schema->fields.end(),
									   [&](const Field& field) { return field.name == column; });
		if (!known) return Corrupt("partition column \"" + column + "\" is not in the schema");
	}
	return {};
}

Result<SnapshotPtr> Replay::Finish(const LastCommit& last, int64_t now) {
	if (!failure_ && !files_.Settle()) failure_ = AddedTwice().error();
	if (failure_) return std::unexpected(*std::move(failure_));
	BRAID_TRY(CheckState());
	BRAID_TRY(Derive());
	if (source_ == Source::kCheckpoint) checkpoint_removes_ = removes_.size();
	KeepTombstones(now);
	snapshot_->files = files_.Finish();
	snapshot_->commit_size = last.size;
	snapshot_->commit_modification_time = last.modification_time;
	snapshot_->in_commit_timestamp = in_commit_timestamp;
	snapshot_->timestamp = InCommitTimestampsEnabled() && in_commit_timestamp ? *in_commit_timestamp : now;
	return std::move(snapshot_);
}

}  // namespace braid
