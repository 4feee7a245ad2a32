// SPDX-License-Identifier: Apache-2.0
#include "kernel/snapshot/file_arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <type_traits>

namespace braid {

namespace {

constexpr size_t kSmallestBlock = 1024;
constexpr size_t kHugePage = size_t {2} << 20;

}  // namespace

void FileArena::FreeBlock::operator()(char* block) const { ::operator delete(block, std::align_val_t(alignment)); }

void FileArena::NewBlock(size_t least) {
	size_t size = std::max(least, kSmallestBlock << std::min<size_t>(blocks_.size(), 11));
	size_t alignment = alignof(LiveFile);
	if (size >= kHugePage) {
		size = (size + kHugePage - 1) / kHugePage * kHugePage;
		alignment = kHugePage;
	}
	free_ = static_cast<char*>(::operator new(size, std::align_val_t(alignment)));
	free_bytes_ = size;
	blocks_.emplace_back(free_, FreeBlock {alignment});
	// A wish: filling a large index touches fresh memory all the time, and this makes it one page fault in 512.
	if (size >= kHugePage) madvise(free_, size, MADV_HUGEPAGE);
}

char* FileArena::Allocate(size_t size, size_t alignment) {
	const auto padding = [&] { return -reinterpret_cast<uintptr_t>(free_) & (alignment - 1); };
	if (padding() + size > free_bytes_) NewBlock(size);
	char* place = free_ + padding();
	const size_t taken = padding() + size;
	free_ += taken;
	free_bytes_ -= taken;
	return place;
}

std::string_view FileArena::Text(std::string_view text) {
	if (text.empty()) return {};
	char* copy = Allocate(text.size(), 1);
	std::memcpy(copy, text.data(), text.size());
	text_bytes_ += text.size();
	return {copy, text.size()};
}

std::string_view FileArena::RepeatedText(std::string_view text, std::string_view& last) {
	if (text != last) last = Text(text);
	return last;
}

const LiveFile* FileArena::Add(const LiveFile& file) { return Add(file, nullptr); }

const LiveFile* FileArena::Add(const LiveFile& file, const std::shared_ptr<const void>* text_owner) {
	static_assert(std::is_trivially_destructible_v<LiveFile>);
	LiveFile& copy = *new (Allocate(sizeof(LiveFile), alignof(LiveFile))) LiveFile(file);
	if (text_owner == nullptr) {
		copy.path = Text(file.path);
		copy.stats = Text(file.stats);
	} else {
		text_bytes_ += file.path.size() + file.stats.size();
		if (owners_.empty() || owners_.back() != *text_owner) owners_.push_back(*text_owner);
	}
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
	return Add(file, add.text_owner);
}

}  // namespace braid
