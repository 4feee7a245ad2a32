// SPDX-License-Identifier: Apache-2.0
// FileIndex: the active files of one table version, keyed by decoded path. Immutable; a newer version shares the older one's text and entries
// and holds only what changed, so that refreshing by one commit costs the commit, not the table.
// Text is kept as written in the log (statistics, partition values and tags as JSON text) and parsed when somebody asks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/action/actions.h"

namespace braid {

// Views into memory that the FileIndex owns: valid as long as the Snapshot is held.
struct LiveFile {
	std::string_view path;              // as in the log
	std::string_view partition_values;  // JSON object text
	std::string_view stats;             // JSON object text, "" if absent
	std::string_view tags;              // JSON object text, "" if absent
	std::string_view clustering_provider;
	int64_t size = 0;
	int64_t modification_time = 0;
	const DvDescriptor* deletion_vector = nullptr;
	std::optional<int64_t> base_row_id;
	std::optional<int64_t> default_row_commit_version;
};

Result<AddFile> ToAddFile(const LiveFile& file);

class FileIndex {
public:
	FileIndex();
	~FileIndex();
	FileIndex(const FileIndex&) = delete;

	size_t size() const;
	int64_t total_bytes() const;
	// In a stable order (that of the log, newest changes last).
	std::vector<const LiveFile*> Files() const;
	// By path as in the log (decoded inside); nullptr if not active.
	const LiveFile* Find(std::string_view path) const;

	struct State;
	const State& state() const { return *state_; }
	explicit FileIndex(std::unique_ptr<State> state);

private:
	std::unique_ptr<State> state_;
};

}  // namespace braid
