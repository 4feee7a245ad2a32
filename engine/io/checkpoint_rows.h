// SPDX-License-Identifier: Apache-2.0
// How the rows that a CheckpointScan stands on become actions (PROTOCOL: Checkpoint Schema).
#pragma once

#include "base/result.h"
#include "engine/io/checkpoint_scan.h"
#include "kernel/storage/parquet_gateway.h"

namespace braid::engine {

// Whether one of the adds has no statistics as JSON text.
bool LacksStats(CheckpointScan& scan);
Status EmitAdds(CheckpointScan& scan, CheckpointSink& sink);
Status EmitOthers(CheckpointScan& scan, CheckpointSink& sink);

}  // namespace braid::engine
