// SPDX-License-Identifier: Apache-2.0
// Checkpoint of one version: a single classic file under a temporary name, made durable, given its final name unless somebody has written it,
// then _last_checkpoint (PROTOCOL: Checkpoints; Last Checkpoint File). Tables with delta.checkpointPolicy = v2 get the same file: the feature
// allows classic names, and every reader of it reads them.
#pragma once

#include "base/environment.h"
#include "kernel/snapshot/snapshot.h"

namespace braid {

// Is this a version at which delta.checkpointInterval asks for one?
bool CheckpointIsDue(const Snapshot& snapshot);
// kAlreadyExists: there is one.
Status WriteCheckpoint(const SnapshotSource& target, Clock& clock, Random& random, const Snapshot& snapshot);

}  // namespace braid
