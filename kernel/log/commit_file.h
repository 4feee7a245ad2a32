// SPDX-License-Identifier: Apache-2.0
// Reading commit files and compacted commits in blocks of bounded size.
#pragma once

#include <string>

#include "base/result.h"
#include "kernel/action/action_reader.h"
#include "kernel/storage/log_store.h"

namespace braid {

// "table X, version 7": how messages name a commit.
std::string CommitName(const std::string& table, int64_t version);
// Hands every action of the file to the reader's sink. kCorrupt names the line.
Status ReadActionFile(LogStore& store, const std::string& path, std::string name, ActionReader& reader);
// The commit's provenance; reads no more of the file than needed. An empty CommitInfo if the commit has none.
Result<CommitInfo> ReadCommitInfo(LogStore& store, const std::string& table, int64_t version);

}  // namespace braid
