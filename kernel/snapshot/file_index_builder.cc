// SPDX-License-Identifier: Apache-2.0
#include "kernel/snapshot/file_index_builder.h"

#include <algorithm>
#include <utility>

#include "kernel/snapshot/compared_path.h"

namespace braid {

namespace {

// The top is merged into the base when it holds more files than this and more than 1/32 of the base, or when half of the base is gone.
constexpr size_t kLeastMerge = 512;
constexpr size_t kBaseShare = 32;
// While a log is replayed, text of files that are gone again is given back once it is this much and half of all text.
constexpr size_t kDeadTextLimit = size_t {64} << 20;

// Adds that wait for their places: more than fit into the processor's queue would not come any faster.
constexpr size_t kWaiting = 16;

bool SameVector(const DvDescriptor* a, const DvDescriptor* b) {
	if (a == nullptr || b == nullptr) return a == b;
	return a->storage_type == b->storage_type && a->path_or_inline_dv == b->path_or_inline_dv && a->offset == b->offset;
}

size_t TextBytes(const LiveFile& file) { return file.path.size() + file.stats.size(); }

}  // namespace

FileIndexBuilder::FileIndexBuilder() : state_(std::make_unique<FileIndex::State>()) {}

FileIndexBuilder::FileIndexBuilder(const FileIndex& base)
	: state_(std::make_unique<FileIndex::State>(base.state())), fresh_(false) {}

FileIndexBuilder::Place FileIndexBuilder::Locate(uint32_t hash, std::string_view decoded,
												 const DvDescriptor* deletion_vector) const {
	const auto same = [&](const LiveFile* file) {
		return file != nullptr && SameVector(file->deletion_vector, deletion_vector) && SamePath(*file, decoded);
	};
	const FileLayer& top = state_->top;
	const uint32_t in_top = top.table.Find(hash, [&](uint32_t i) { return same(top.files[i]); });
	if (in_top != PathTable::kNone) return {true, in_top};
	const FileLayer& base = *state_->base;
	return {false, base.table.Find(hash, [&](uint32_t i) { return !state_->Hidden(i) && same(base.files[i]); })};
}

void FileIndexBuilder::Drop(uint32_t hash, const Place& place) {
	const LiveFile* file = nullptr;
	if (place.in_top) {
		std::swap(file, state_->top.files[place.ordinal]);
		state_->top.table.Erase(hash, place.ordinal);
	} else {
		file = state_->base->files[place.ordinal];
		if (state_->hidden.empty()) state_->hidden.resize((state_->base->files.size() + 63) / 64);
		state_->hidden[place.ordinal / 64] |= uint64_t {1} << (place.ordinal % 64);
	}
	--state_->count;
	AddBytes(-static_cast<uint64_t>(file->size));
	state_->dead_text += TextBytes(*file);
	if (fresh_ && state_->dead_text > kDeadTextLimit && state_->dead_text > arena_->text_bytes() / 2) DropDeadText();
}

// Unsigned, since a log may claim any size.
void FileIndexBuilder::AddBytes(uint64_t bytes) {
	state_->bytes = static_cast<int64_t>(static_cast<uint64_t>(state_->bytes) + bytes);
}

bool FileIndexBuilder::Add(const AddFileView& add) {
	const ComparedPath path(add.path);
	const uint32_t hash = path.hash();
	state_->top.table.Prefetch(hash);
	state_->base->table.Prefetch(hash);
	waiting_.push_back({hash, path.plain(), arena_->Add(add)});
	return waiting_.size() < kWaiting || Settle();
}

bool FileIndexBuilder::Settle() {
	FileLayer& top = state_->top;
	bool all_new = true;
	for (Waiting& waiting : waiting_) {
		const std::string decoded = waiting.plain ? std::string() : DecodePath(waiting.file->path);
		const std::string_view path = waiting.plain ? waiting.file->path : std::string_view(decoded);
		const Place place = Locate(waiting.hash, path, waiting.file->deletion_vector);
		if (place.in_top && place.ordinal != PathTable::kNone && place.ordinal >= commit_begin_) {
			added_twice_ = waiting.file->path;
			all_new = false;
		} else {
			if (place.ordinal != PathTable::kNone) Drop(waiting.hash, place);
			const LiveFile* file = std::exchange(waiting.file, nullptr);
			top.table.Insert(waiting.hash, static_cast<uint32_t>(top.files.size()));
			top.files.push_back(file);
			++state_->count;
			AddBytes(static_cast<uint64_t>(file->size));
		}
	}
	waiting_.clear();
	return all_new;
}

void FileIndexBuilder::BeginCommit() {
	Settle();
	commit_begin_ = state_->top.files.size();
}

void FileIndexBuilder::Remove(std::string_view path, const DvDescriptor* deletion_vector) {
	Settle();
	const ComparedPath compared(path);
	const uint32_t hash = compared.hash();
	const Place place = Locate(hash, compared.text(), deletion_vector);
	if (place.ordinal != PathTable::kNone) Drop(hash, place);
}

bool FileIndexBuilder::Contains(std::string_view path, const DvDescriptor* deletion_vector) const {
	const ComparedPath compared(path);
	return Locate(compared.hash(), compared.text(), deletion_vector).ordinal != PathTable::kNone;
}

void FileIndexBuilder::DropDeadText() {
	auto arena = std::make_shared<FileArena>();
	for (const LiveFile*& file : state_->top.files) {
		if (file != nullptr) file = arena->Add(*file);
	}
	for (Waiting& waiting : waiting_) {
		if (waiting.file != nullptr) waiting.file = arena->Add(*waiting.file);
	}
	arena_ = std::move(arena);
	state_->dead_text = 0;
}

// Keeps the arenas of the base unless half of their text is dead; the many small ones of the top become one.
void FileIndexBuilder::Merge() {
	FileIndex::State& state = *state_;
	size_t all_text = 0;
	for (const auto& arena : state.arenas) all_text += arena->text_bytes();
	const bool copy_base = state.dead_text > all_text / 2;
	auto arena = std::make_shared<FileArena>();
	auto merged = std::make_shared<FileLayer>();
	merged->files.reserve(state.count);
	merged->table.Reserve(state.count);
	const auto take = [&](const FileLayer& layer, bool copy, const auto& gone) {
		std::vector<uint32_t> ordinals(layer.files.size(), PathTable::kNone);
		for (uint32_t i = 0; i < layer.files.size(); ++i) {
			if (layer.files[i] == nullptr || gone(i)) continue;
			ordinals[i] = static_cast<uint32_t>(merged->files.size());
			merged->files.push_back(copy ? arena->Add(*layer.files[i]) : layer.files[i]);
		}
		layer.table.ForEach([&](uint32_t hash, uint32_t ordinal) {
			if (ordinals[ordinal] != PathTable::kNone) merged->table.Insert(hash, ordinals[ordinal]);
		});
	};
	take(*state.base, copy_base, [&](uint32_t i) { return state.Hidden(i); });
	take(state.top, true, [](uint32_t) { return false; });
	if (copy_base) state.dead_text = 0;
	state.arenas.resize(copy_base ? 0 : state.base_arenas);
	state.arenas.push_back(std::move(arena));
	state.base_arenas = state.arenas.size();
	state.base = std::move(merged);
	state.hidden.clear();
	state.top = {};
}

std::shared_ptr<const FileIndex> FileIndexBuilder::Finish() {
	Settle();
	FileIndex::State& state = *state_;
	state.arenas.push_back(std::move(arena_));
	if (fresh_) {
		state.base = std::make_shared<FileLayer>(std::exchange(state.top, {}));
		state.base_arenas = state.arenas.size();
	} else if (const size_t base = state.base->files.size();
			   state.top.files.size() > std::max(kLeastMerge, base / kBaseShare) ||
			   (base > kLeastMerge && state.count < base / 2)) {
		Merge();
	}
	return std::make_shared<FileIndex>(std::move(state_));
}

}  // namespace braid
