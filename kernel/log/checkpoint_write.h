// SPDX-License-Identifier: Apache-2.0
// Checkpoint of one version: written under a temporary name, made durable, given its final name unless somebody has written one, then
// _last_checkpoint (PROTOCOL: Checkpoints; Last Checkpoint File). delta.checkpointPolicy says of which kind: `classic` is a single Parquet file;
// `v2` a JSON file of its own name that points to a sidecar with the files of the table (PROTOCOL: V2 Spec).
#pragma once

#include "base/environment.h"
#include "kernel/snapshot/snapshot.h"

namespace braid {

// Is this a version at which delta.checkpointInterval asks for one?
bool CheckpointIsDue(const Snapshot& snapshot);
// kAlreadyExists: there is one.
Status WriteCheckpoint(const SnapshotSource& target, Clock& clock, Random& random, const Snapshot& snapshot);

}  // namespace braid
