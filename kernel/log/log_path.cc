// SPDX-License-Identifier: Apache-2.0
#include "kernel/log/log_path.h"

#include "base/path.h"

namespace braid {

static std::string InLog(int64_t version, std::string_view suffix) {
  std::string digits = std::to_string(version);
  std::string path = "_delta_log/";
  path.append(digits.size() < 20 ? 20 - digits.size() : 0, '0').append(digits).append(suffix);
  return path;
}

std::string CommitPath(int64_t version) { return InLog(version, ".json"); }
std::string ChecksumPath(int64_t version) { return InLog(version, ".crc"); }
std::string ClassicCheckpointPath(int64_t version) { return InLog(version, ".checkpoint.parquet"); }

std::string DecodePath(std::string_view path) { return PercentDecode(path); }

}  // namespace braid
