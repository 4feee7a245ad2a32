// SPDX-License-Identifier: Apache-2.0
// FileArena: owns the text, vectors and entries of many files in few large blocks, so that a million adds cost their bytes and little more.
// Addresses are stable; nothing is freed before the arena is.
#pragma once

#include <cstring>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "kernel/snapshot/file_index.h"
#include "kernel/storage/parquet_gateway.h"

namespace braid {

class FileArena {
public:
	// A copy of the file with its text in this arena.
	const LiveFile* Add(const AddFileView& add);
	const LiveFile* Add(const LiveFile& file);

	std::string_view Text(std::string_view text);
	size_t text_bytes() const { return text_bytes_; }

private:
	// Partition values and tags repeat from file to file.
	std::string_view RepeatedText(std::string_view text, std::string_view& last);
	LiveFile& NewFile();

	std::vector<std::unique_ptr<char[]>> blocks_;
	char* free_ = nullptr;
	size_t free_bytes_ = 0;
	size_t next_block_ = 1024;
	size_t text_bytes_ = 0;
	std::vector<std::vector<LiveFile>> files_;
	std::deque<DvDescriptor> vectors_;
	std::string_view last_partition_values_, last_tags_, last_provider_;
};

}  // namespace braid
