// SPDX-License-Identifier: Apache-2.0
#include "kernel/snapshot/file_arena.h"

#include <algorithm>

namespace braid {

namespace {

constexpr size_t kLargestBlock = size_t {1} << 20;
constexpr size_t kFilesPerChunk = 1024;

}  // namespace

std::string_view FileArena::Text(std::string_view text) {
	if (text.empty()) return {};
	if (text.size() > free_bytes_) {
		const size_t size = std::max(text.size(), next_block_);
		next_block_ = std::min(next_block_ * 2, kLargestBlock);
		blocks_.push_back(std::make_unique_for_overwrite<char[]>(size));
		free_ = blocks_.back().get();
		free_bytes_ = size;
	}
	char* copy = free_;
	std::memcpy(copy, text.data(), text.size());
	free_ += text.size();
	free_bytes_ -= text.size();
	text_bytes_ += text.size();
	return {copy, text.size()};
}

std::string_view FileArena::RepeatedText(std::string_view text, std::string_view& last) {
	if (text != last) last = Text(text);
	return last;
}

LiveFile& FileArena::NewFile() {
	if (files_.empty() || files_.back().size() == files_.back().capacity()) {
		const size_t capacity = files_.empty() ? 2 : std::min(files_.back().capacity() * 2, kFilesPerChunk);
		files_.emplace_back().reserve(capacity);
	}
	return files_.back().emplace_back();
}

const LiveFile* FileArena::Add(const LiveFile& file) {
	LiveFile& copy = NewFile();
	copy = file;
	copy.path = Text(file.path);
	copy.stats = Text(file.stats);
	copy.partition_values = RepeatedText(file.partition_values, last_partition_values_);
	copy.tags = RepeatedText(file.tags, last_tags_);
	copy.clustering_provider = RepeatedText(file.clustering_provider, last_provider_);
	if (file.deletion_vector != nullptr) copy.deletion_vector = &vectors_.emplace_back(*file.deletion_vector);
	return &copy;
}

const LiveFile* FileArena::Add(const AddFileView& add) {
	LiveFile file;
	file.path = add.path;
	file.partition_values = add.partition_values_json;
	file.stats = add.stats;
	if (add.tags_json != "{}") file.tags = add.tags_json;
	if (add.clustering_provider) file.clustering_provider = *add.clustering_provider;
	file.size = add.size;
	file.modification_time = add.modification_time;
	file.deletion_vector = add.deletion_vector;
	file.base_row_id = add.base_row_id;
	file.default_row_commit_version = add.default_row_commit_version;
	return Add(file);
}

}  // namespace braid
