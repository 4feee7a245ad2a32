// SPDX-License-Identifier: Apache-2.0
// Version checksum: the state of one version in a few numbers, with protocol and metadata (PROTOCOL: Version Checksum File). Optional; written
// after the commit and never replacing one that is there. Not fsynced: a reader that meets a broken one does without.
#pragma once

#include <string>

#include "base/environment.h"
#include "kernel/snapshot/snapshot.h"

namespace braid {

std::string ChecksumText(const Snapshot& snapshot, const std::string& txn_id);
Status WriteChecksum(LogStore& store, Random& random, const Snapshot& snapshot, const std::string& txn_id);

}  // namespace braid
