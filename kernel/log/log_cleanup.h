// SPDX-License-Identifier: Apache-2.0
// What becomes of old logs (delta.logRetentionDuration, delta.enableExpiredLogCleanup; PROTOCOL: Metadata Cleanup): commits, checkpoints, compacted
// commits and checksums of versions that have expired go, as soon as a checkpoint makes them unnecessary. Guarantees: every version that is left can
// be put together, by whoever finds the log at any moment; the times of versions that are left do not change.
#pragma once

#include <cstdint>
#include <optional>

#include "kernel/log/log_listing.h"
#include "kernel/snapshot/snapshot.h"

namespace braid {

// The start of the day (UTC) that the retention ends in: versions are dropped day by day.
int64_t LogCutoff(const Snapshot& snapshot, int64_t now_ms);

// The checkpoint from which on everything is kept, -1 if nothing may go. `listing` with times; `oldest_pin`: no version from there on may go.
int64_t FirstVersionToKeep(const LogListing& listing, int64_t cutoff_ms, int64_t oldest_pin);

// Deletes what belongs to versions before `version`, of which there is a checkpoint.
Status DeleteLogBefore(LogStore& store, int64_t version);

// All of it, sidecars that no checkpoint names any more included. To be called when a checkpoint has just been written.
Status CleanLog(const SnapshotSource& source, const Snapshot& snapshot, int64_t now_ms, int64_t oldest_pin);

}  // namespace braid
