// SPDX-License-Identifier: Apache-2.0
// Whether this build may write to a table: its features (feature_support.h) and, for features that restrict only while they are used, whether
// schema or properties use them. The one place that engine and committer ask.
#pragma once

#include "base/result.h"
#include "kernel/feature/feature_support.h"
#include "kernel/snapshot/snapshot.h"

namespace braid {

// kUnsupported names the feature and the column or property that uses it. A change of an append-only table is kInvalidArgument with
// DELTA_CANNOT_MODIFY_APPEND_ONLY. kRead is CheckProtocol alone.
Status CheckWrite(const Snapshot& snapshot, TableOperation operation);

}  // namespace braid
