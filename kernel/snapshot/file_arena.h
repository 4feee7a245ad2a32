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
	// The file with its text in this arena. Text that has an owner is not copied: the owner is kept.
	const LiveFile* Add(const AddFileView& add);
	const LiveFile* Add(const LiveFile& file);

	std::string_view Text(std::string_view text);
	size_t text_bytes() const { return text_bytes_; }

private:
	struct FreeBlock {
		size_t alignment = 0;
		void operator()(char* block) const;
	};
	// Partition values and tags repeat from file to file.
	std::string_view RepeatedText(std::string_view text, std::string_view& last);
	void NewBlock(size_t least);
	char* Allocate(size_t size, size_t alignment);
	const LiveFile* Add(const LiveFile& file, const std::shared_ptr<const void>* text_owner);

	std::vector<std::unique_ptr<char, FreeBlock>> blocks_;
	std::vector<std::shared_ptr<const void>> owners_;
	char* free_ = nullptr;
	size_t free_bytes_ = 0;
	size_t text_bytes_ = 0;
	std::deque<DvDescriptor> vectors_;
	std::string_view last_partition_values_, last_tags_, last_provider_;
};

}  // namespace braid
