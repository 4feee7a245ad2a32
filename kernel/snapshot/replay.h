// SPDX-License-Identifier: Apache-2.0
// Replay: turns actions in log order into a Snapshot (PROTOCOL: Action Reconciliation), from nothing or on top of an older snapshot.
// Guarantees: the snapshot has one protocol and one metadata, both understood; what contradicts the protocol is refused with its version.
#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "kernel/action/action_reader.h"
#include "kernel/snapshot/file_index_builder.h"
#include "kernel/snapshot/snapshot.h"

namespace braid {

// The commit file that a snapshot ends with; sizes and times as in Snapshot.
struct LastCommit {
	int64_t size = -1;
	int64_t modification_time = -1;
};

class Replay : public ActionSink {
public:
	explicit Replay(std::string table);
	explicit Replay(const Snapshot& base);

	// Before the actions of a checkpoint (of a version), of a compacted range (its last version) or of a commit.
	void BeginCheckpoint(int64_t version);
	void BeginCommits(int64_t last_version, bool compacted);

	Status OnAdd(const AddFileView& add) override;
	Status OnRemove(const RemoveFileView& remove) override;
	Status OnAction(Action&& action) override;

	// Whether the metadata replayed so far asks for in-commit timestamps, and the one of the last commit, if it had one.
	bool InCommitTimestampsEnabled() const;
	std::optional<int64_t> in_commit_timestamp;

	// `now`: tombstones that came from a checkpoint and were expired then are left out. The replay is used up.
	Result<SnapshotPtr> Finish(const LastCommit& last, int64_t now);

private:
	enum class Source { kCheckpoint, kCompacted, kCommit };

	std::unexpected<Error> Corrupt(const std::string& what) const;
	std::string Where() const;
	std::unexpected<Error> AddedTwice() const;
	Status CheckState();
	Status Derive();
	void KeepTombstones(int64_t now);
	// Refuses a compacted file that has two actions for one key.
	Status CheckReconciled(std::string_view path, const DvDescriptor* deletion_vector);

	std::shared_ptr<Snapshot> snapshot_;
	FileIndexBuilder files_;
	std::optional<Error> failure_;  // noticed where there was nobody to tell
	Source source_ = Source::kCommit;
	bool has_protocol_ = false, has_metadata_ = false;  // at all
	bool protocol_in_commit_ = false, metadata_in_commit_ = false;
	bool metadata_changed_ = false, protocol_changed_ = false;
	TombstoneBatch removes_;                // new ones, in order
	size_t checkpoint_removes_ = 0;         // the first ones came from a checkpoint
	std::unordered_set<size_t> compacted_;  // hashes of the keys of a compacted file
};

}  // namespace braid
