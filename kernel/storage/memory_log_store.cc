// SPDX-License-Identifier: Apache-2.0
#include "kernel/storage/memory_log_store.h"

#include <algorithm>

namespace braid {

std::unexpected<Error> MemoryLogStore::Missing(std::string_view path) const {
	return Fail(ErrorKind::kNotFound, Location(path) + " does not exist");
}

std::string MemoryLogStore::Location(std::string_view path) const { return name_ + "/" + std::string(path); }

Result<std::vector<StoredFile>> MemoryLogStore::List(std::string_view directory, std::string_view first_name) {
	const std::string prefix = directory.empty() ? "" : std::string(directory) + "/";
	const std::lock_guard lock(mutex_);
	std::vector<StoredFile> found;
	bool exists = false;
	for (auto it = files_.lower_bound(prefix); it != files_.end() && it->first.starts_with(prefix); ++it) {
		exists = true;
		std::string name = it->first.substr(prefix.size());
		const size_t slash = name.find('/');
		const bool is_directory = slash != std::string::npos;
		if (is_directory) name.resize(slash);
		if (name < first_name || (is_directory && !found.empty() && found.back().name == name)) continue;
		const auto size = is_directory ? 0 : static_cast<int64_t>(it->second.bytes.size());
		found.push_back({std::move(name), size, it->second.modification_time_ms, is_directory});
	}
	if (!exists) return Missing(directory);
	std::ranges::sort(found, {}, &StoredFile::name);  // "a.x" stands before "a/x" in the map
	return found;
}

Result<std::string> MemoryLogStore::Read(std::string_view path) {
	const std::lock_guard lock(mutex_);
	const auto it = files_.find(path);
	if (it == files_.end()) return Missing(path);
	return it->second.bytes;
}

Result<std::string> MemoryLogStore::ReadRange(std::string_view path, int64_t offset, int64_t length) {
	BRAID_TRY(const std::string bytes, Read(path));
	if (offset < 0 || length < 0)
		return Fail(ErrorKind::kInvalidArgument, "cannot read a negative range of " + Location(path));
	if (offset >= static_cast<int64_t>(bytes.size())) return std::string();
	return bytes.substr(static_cast<size_t>(offset), static_cast<size_t>(length));
}

Status MemoryLogStore::ReadBlocks(std::string_view path, const std::function<Status(std::string_view block)>& sink) {
	constexpr size_t kBlockBytes = 64;  // small, so that readers meet block borders in tests
	BRAID_TRY(const std::string bytes, Read(path));
	for (std::string_view rest = bytes; !rest.empty(); rest.remove_prefix(std::min(rest.size(), kBlockBytes))) {
		BRAID_TRY(sink(rest.substr(0, kBlockBytes)));
	}
	return {};
}

Result<StoredFile> MemoryLogStore::Stat(std::string_view path) {
	const std::lock_guard lock(mutex_);
	const auto it = files_.find(path);
	if (it == files_.end()) return Missing(path);
	const size_t slash = path.rfind('/');
	return StoredFile {std::string(path.substr(slash == std::string_view::npos ? 0 : slash + 1)),
					   static_cast<int64_t>(it->second.bytes.size()), it->second.modification_time_ms, false};
}

Status MemoryLogStore::Insert(std::string_view path, std::string_view bytes, bool durable, bool replace) {
	const int64_t now = clock_.NowMs();
	const std::lock_guard lock(mutex_);
	Entry entry {std::string(bytes), now, durable};
	const auto [it, inserted] = files_.try_emplace(std::string(path), entry);
	if (!inserted && !replace) return Fail(ErrorKind::kAlreadyExists, Location(path) + " exists already");
	if (!inserted) it->second = std::move(entry);
	return {};
}

Status MemoryLogStore::PutIfAbsent(std::string_view path, std::string_view bytes) {
	return Insert(path, bytes, true, false);
}

Status MemoryLogStore::Put(std::string_view path, std::string_view bytes) { return Insert(path, bytes, true, true); }

Status MemoryLogStore::Create(std::string_view path, std::string_view bytes) {
	return Insert(path, bytes, false, false);
}

Status MemoryLogStore::MakeDurable(std::span<const std::string> paths) {
	const std::lock_guard lock(mutex_);
	for (const std::string& path : paths) {
		const auto it = files_.find(path);
		if (it == files_.end()) return Missing(path);
		it->second.durable = true;
	}
	return {};
}

Status MemoryLogStore::MoveIfAbsent(std::string_view from, std::string_view to) {
	const std::lock_guard lock(mutex_);
	const auto it = files_.find(from);
	if (it == files_.end()) return Missing(from);
	if (files_.contains(to)) return Fail(ErrorKind::kAlreadyExists, Location(to) + " exists already");
	auto node = files_.extract(it);
	node.key() = std::string(to);
	files_.insert(std::move(node));
	return {};
}

Status MemoryLogStore::Delete(std::string_view path) {
	const std::lock_guard lock(mutex_);
	if (const auto it = files_.find(path); it != files_.end()) files_.erase(it);
	return {};
}

void MemoryLogStore::LosePower() {
	const std::lock_guard lock(mutex_);
	std::erase_if(files_, [](const auto& file) { return !file.second.durable; });
}

std::vector<std::string> MemoryLogStore::Paths() const {
	const std::lock_guard lock(mutex_);
	std::vector<std::string> paths;
	for (const auto& [path, entry] : files_) paths.push_back(path);
	return paths;
}

}  // namespace braid
