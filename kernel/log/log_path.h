// SPDX-License-Identifier: Apache-2.0
// Names of the files in _delta_log and the form in which data paths are compared (PROTOCOL: File Types; Add File, "path").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/environment.h"

namespace braid {

std::string CommitPath(int64_t version);             // "_delta_log/00000000000000000007.json"
std::string ChecksumPath(int64_t version);           // "_delta_log/00000000000000000007.crc"
std::string CheckpointPath(int64_t version);  // "_delta_log/00000000000000000007.checkpoint.parquet"
std::string TemporaryLogPath(Random& random);        // hidden from readers: becomes a file of the log by LogStore::MoveIfAbsent
inline constexpr std::string_view kLastCheckpointPath = "_delta_log/_last_checkpoint";

// A path as written in an action, percent-decoded: two spellings of one file compare equal.
std::string DecodePath(std::string_view path);
// The name by which the store finds the file of an action: relative names are plain there, absolute ones stay as written.
std::string StorePath(std::string_view path);
// A plain relative path as an action spells it: every byte that a URI path may not hold is percent-encoded ('%' too).
std::string EncodePath(std::string_view plain);

}  // namespace braid
