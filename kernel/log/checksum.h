// SPDX-License-Identifier: Apache-2.0
// Version checksum files of any writer (PROTOCOL: Version Checksum File), read for the one thing that may stand nowhere else.
// A missing or broken file is as good as none.
#pragma once

#include <cstdint>
#include <optional>

#include "kernel/storage/log_store.h"

namespace braid {

// The in-commit timestamp of a version whose commit file is gone.
std::optional<int64_t> ReadChecksumTimestamp(LogStore& store, int64_t version);

}  // namespace braid
