// SPDX-License-Identifier: Apache-2.0
// ParquetGateway: how the kernel reads and writes checkpoints without knowing a Parquet library (PROTOCOL: Checkpoints).
// The gateway turns rows into actions; statistics come as the JSON text of `stats`, or, where only stats_parsed is present, as JSON text of
// that struct. Which files make up a checkpoint is decided by kernel/log.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kernel/action/actions.h"

namespace braid {

// An add of a checkpoint as views that live only during the call. Maps are JSON text of an object ("{}" if empty).
struct AddFileView {
	std::string_view path, partition_values_json, stats, tags_json;
	// If set, path and stats live as long as this owner, which may be kept instead of a copy. Many adds share one.
	const std::shared_ptr<const void>* text_owner = nullptr;
	int64_t size = 0, modification_time = 0;
	bool data_change = false;
	const DvDescriptor* deletion_vector = nullptr;
	std::optional<int64_t> base_row_id, default_row_commit_version;
	std::optional<std::string_view> clustering_provider;
};

struct SidecarFile {
	std::string path;  // file name below _delta_log/_sidecars
	int64_t size_in_bytes = 0;
	int64_t modification_time = 0;
};

// Receives a checkpoint's rows; an error stops the reading and is handed on.
class CheckpointSink {
public:
	virtual ~CheckpointSink() = default;
	virtual Status OnAdd(const AddFileView& add) = 0;
	virtual Status OnAction(Action&& action) = 0;  // every kind but AddFile
	virtual Status OnSidecar(SidecarFile&& sidecar) = 0;
};

class ParquetGateway {
public:
	virtual ~ParquetGateway() = default;
	// `locations`: absolute paths or URLs (LogStore::Location) of files that have the same columns. Parts and sidecars of one checkpoint
	// need not, so the kernel asks for them one by one.
	// Errors: kCorrupt (not Parquet, truncated), kNotFound, kIo; the message names the file.
	virtual Status ReadCheckpoint(std::span<const std::string> locations, CheckpointSink& sink) = 0;
	// A checkpoint file at a location that does not exist yet: a classic one, or a sidecar, which has adds and removes only. `produce` is called
	// once and emits every row. Answers the file's bytes. Statistics are written as text: as a struct (delta.checkpoint.writeStatsAsStruct) no
	// reader needs them, and without the text (writeStatsAsJson = false) they would be lost.
	enum class FileKind { kClassic, kSidecar };
	using Emit = std::function<Status(const Action& action)>;
	virtual Result<int64_t> WriteCheckpoint(const std::string& location, FileKind kind,
											const std::function<Status(const Emit& emit)>& produce) = 0;
};

}  // namespace braid
