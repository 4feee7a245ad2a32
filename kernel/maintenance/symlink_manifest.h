// SPDX-License-Identifier: Apache-2.0
// Manifests for readers that know neither Delta nor its log (GENERATE symlink_format_manifest): for each partition a text file with the places of
// its data files, one a line, in Hive's folders. Such readers apply no deletion vector and no column mapping, so tables with either are refused.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "kernel/snapshot/snapshot.h"
#include "kernel/storage/log_store.h"

namespace braid {

inline constexpr std::string_view kManifestFolder = "_symlink_format_manifest";

// Contents by path relative to the root, plain; a table without partitions has one even if it is empty.
Result<std::map<std::string, std::string>> SymlinkManifests(const Snapshot& table, const LogStore& store);
// Makes the manifests of the table these, each replaced as a whole; those of partitions that are gone are deleted.
Status WriteManifests(LogStore& store, const std::map<std::string, std::string>& manifests);

}  // namespace braid
