// SPDX-License-Identifier: Apache-2.0
// Reading a checkpoint: classic, multi-part, or v2 in Parquet or JSON, with its sidecar files (PROTOCOL: Checkpoints, V2 Spec).
// Removes arrive as actions, adds as views. Any error means that this checkpoint cannot be used; what was handed out so far is void.
#pragma once

#include "base/result.h"
#include "kernel/action/action_reader.h"
#include "kernel/log/log_listing.h"

namespace braid {

// Only which sidecars it has.
Result<std::vector<SidecarFile>> ReadSidecarList(LogStore& store, ParquetGateway& parquet, const std::string& table,
												 const CheckpointFiles& checkpoint);

Status ReadCheckpoint(LogStore& store, ParquetGateway& parquet, const std::string& table,
					  const CheckpointFiles& checkpoint, ActionSink& sink);

}  // namespace braid
