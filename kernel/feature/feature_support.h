// SPDX-License-Identifier: Apache-2.0
// The one table of table features and what this build does with each (PROTOCOL: Table Features): read, append, change.
// An unsupported feature is refused by name and by the operation that it blocks; reading stays possible wherever the protocol allows it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/action/actions.h"

namespace braid {

// kMaintain: rows stay what they are (OPTIMIZE, REORG, VACUUM).
enum class TableOperation { kRead, kAppend, kMaintain, kChange, kAlter };

struct TableFeature {
	std::string_view name;
	bool reader_writer = false;     // listed in both lists; else in the writer list only
	int legacy_reader_version = 0;  // 0: not implied by a reader version
	int legacy_writer_version = 0;
	bool read = false, append = false, change = false;  // what we support on a table that has the feature
};

std::span<const TableFeature> TableFeatures();
// Feature names that the protocol switches on: listed ones, or those implied by legacy versions.
std::vector<std::string> EnabledWriterFeatures(const Protocol& protocol);
bool HasFeature(const Protocol& protocol, std::string_view feature);
// kCorrupt: lists that contradict the versions. kUnsupported: version or feature, with the operation named.
Status CheckProtocol(const Protocol& protocol, TableOperation operation, std::string_view table);

}  // namespace braid
