// SPDX-License-Identifier: Apache-2.0
#include "kernel/snapshot/file_index.h"

#include "kernel/action/action_reader.h"
#include "kernel/snapshot/compared_path.h"
#include "kernel/snapshot/file_index_builder.h"

namespace braid {

FileIndex::FileIndex() : state_(std::make_unique<State>()) {}
FileIndex::FileIndex(std::unique_ptr<State> state) : state_(std::move(state)) {}
FileIndex::~FileIndex() = default;

size_t FileIndex::size() const { return state_->count; }
int64_t FileIndex::total_bytes() const { return state_->bytes; }

std::vector<const LiveFile*> FileIndex::Files() const {
	std::vector<const LiveFile*> files;
	files.reserve(state_->count);
	const std::vector<const LiveFile*>& base = state_->base->files;
	for (size_t i = 0; i < base.size(); ++i) {
		if (base[i] != nullptr && !state_->Hidden(static_cast<uint32_t>(i))) files.push_back(base[i]);
	}
	for (const LiveFile* file : state_->top.files) {
		if (file != nullptr) files.push_back(file);
	}
	return files;
}

const LiveFile* FileIndex::Find(std::string_view path) const {
	const ComparedPath wanted(path);
	const FileLayer& top = state_->top;
	const uint32_t in_top = top.table.Find(
		wanted.hash(), [&](uint32_t i) { return top.files[i] != nullptr && SamePath(*top.files[i], wanted.text()); });
	if (in_top != PathTable::kNone) return top.files[in_top];
	const FileLayer& base = *state_->base;
	const uint32_t in_base = base.table.Find(wanted.hash(), [&](uint32_t i) {
		return base.files[i] != nullptr && !state_->Hidden(i) && SamePath(*base.files[i], wanted.text());
	});
	return in_base == PathTable::kNone ? nullptr : base.files[in_base];
}

Result<AddFile> ToAddFile(const LiveFile& file) {
	AddFileView view;
	view.path = file.path;
	view.partition_values_json = file.partition_values;
	view.stats = file.stats;
	view.tags_json = file.tags;
	view.size = file.size;
	view.modification_time = file.modification_time;
	view.data_change = true;
	view.deletion_vector = file.deletion_vector;
	view.base_row_id = file.base_row_id;
	view.default_row_commit_version = file.default_row_commit_version;
	if (!file.clustering_provider.empty()) view.clustering_provider = file.clustering_provider;
	return ToAddFile(view);
}

}  // namespace braid
