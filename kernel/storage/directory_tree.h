// SPDX-License-Identifier: Apache-2.0
// What lies below a local directory. Symbolic links are seen, never followed; what vanishes meanwhile is left out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace braid {

enum class TreeKind {
	kFile,
	kDirectory,
	kOther,  // a link, a device, or a directory that was not entered
};

struct TreeEntry {
	std::string path;  // relative to the root, '/' between names
	TreeKind kind = TreeKind::kFile;
	int64_t size = 0;
	int64_t modification_time_ms = 0;
};

struct TreeWalk {
	std::function<bool(std::string_view name)> skip;     // by name, whatever it is: not looked at
	std::function<bool(std::string_view path)> no_time;  // a file whose size and time nobody asks for: they stay 0
	std::function<bool()> interrupted;                   // may be empty
	std::string not_beside;  // a directory (not the root) that holds this name is another program's: not entered
};

// A directory comes before what is in it. kNotFound: there is no root.
Result<std::vector<TreeEntry>> ListTree(const std::string& root, const TreeWalk& walk);
// One file below the root; nullopt if it is not there or reached through a link.
std::optional<TreeEntry> InspectBelow(const std::string& root, const std::string& path);

}  // namespace braid
