// SPDX-License-Identifier: Apache-2.0
// NeededFiles: the files below a table's root that some version needs, data files and the files of their deletion vectors alike (C90: one such file
// may hold several vectors, and stays while any of them is needed). Paths of the log are decoded once; names outside of the root (of clones) are
// nobody's business here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "kernel/snapshot/snapshot.h"
#include "kernel/storage/log_store.h"

namespace braid {

class NeededFiles {
public:
	explicit NeededFiles(std::string root) : root_(std::move(root)) {}

	// What the version needs, and versions before it that end (a file of them was removed) at or after `cutoff_ms`.
	void AddSnapshot(const Snapshot& snapshot, int64_t cutoff_ms);
	// Whatever the commits of these versions name: needed by some version from before the first of them to the last. Missing ones are passed over.
	Status AddCommits(LogStore& store, const std::string& table, int64_t first, int64_t last);

	void Add(std::string_view log_path);
	void Add(const DvDescriptor& vector);
	// `path`: relative, plain.
	bool Contains(std::string_view path) const { return paths_.contains(path); }
	// The log says that it was part of the table once.
	bool WasRemoved(std::string_view path) const { return removed_.contains(path); }

private:
	struct Hash {
		using is_transparent = void;
		size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
	};
	using Paths = std::unordered_set<std::string, Hash, std::equal_to<>>;

	const std::string root_;
	Paths paths_, removed_;
};

// The path below `root` of a file that an action names, plain and without detours; "" if it lies elsewhere.
std::string PathBelow(const std::string& root, std::string_view log_path);

// Every file below the root that the removes of a commit name, its change data files, and the files of their deletion vectors.
Result<std::vector<std::string>> FilesRemovedBy(LogStore& store, const std::string& root, const std::string& table,
												int64_t version);

}  // namespace braid
