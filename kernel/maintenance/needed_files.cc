// SPDX-License-Identifier: Apache-2.0
#include "kernel/maintenance/needed_files.h"

#include <filesystem>
#include <functional>
#include <utility>

#include "kernel/log/commit_file.h"
#include "kernel/log/log_path.h"

namespace braid {

namespace {

// Detours do not occur in paths that engines write; one that is not seen would cost the file.
bool HasDetours(std::string_view path) {
	return path.starts_with("./") || path.starts_with("../") || path.find("//") != std::string_view::npos ||
		   path.find("/./") != std::string_view::npos || path.find("/../") != std::string_view::npos;
}

std::string VectorPath(const std::string& root, const DvDescriptor* vector) {
	if (vector == nullptr || vector->storage_type == 'i') return "";
	const auto path = FilePath(*vector);
	return path ? PathBelow(root, *path) : "";
}

// Hands every file that a commit names to a function.
class NamedFiles : public ActionSink {
public:
	using Take = std::function<void(std::string_view log_path, const DvDescriptor* vector, bool is_add)>;
	explicit NamedFiles(Take take) : take_(std::move(take)) {}
	Status OnAdd(const AddFileView& add) override {
		take_(add.path, add.deletion_vector, true);
		return {};
	}
	Status OnRemove(const RemoveFileView& remove) override {
		take_(remove.path, remove.deletion_vector, false);
		return {};
	}
	Status OnAction(Action&& action) override {
		if (const auto* changes = std::get_if<AddCdcFile>(&action)) take_(changes->path, nullptr, false);
		return {};
	}

private:
	Take take_;
};

Status ReadNamedFiles(LogStore& store, const std::string& table, int64_t version, NamedFiles::Take take) {
	NamedFiles sink(std::move(take));
	ActionReader reader("", sink);
	return ReadActionFile(store, CommitPath(version), CommitName(table, version), reader);
}

}  // namespace

std::string PathBelow(const std::string& root, std::string_view log_path) {
	std::string path = DecodePath(log_path);
	if (HasDetours(path)) path = std::filesystem::path(path).lexically_normal().string();
	if (path.starts_with("../")) return "";
	if (!path.starts_with('/')) return path;
	const bool below = path.size() > root.size() && path.starts_with(root) && path[root.size()] == '/';
	return below ? path.substr(root.size() + 1) : "";
}

void NeededFiles::Add(std::string_view log_path) {
	if (std::string path = PathBelow(root_, log_path); !path.empty()) paths_.insert(std::move(path));
	// Some writers do not encode: then the file's name is what the log says.
	if (!IsPlainPath(log_path)) paths_.emplace(log_path);
}

void NeededFiles::Add(const DvDescriptor& vector) {
	if (std::string path = VectorPath(root_, &vector); !path.empty()) paths_.insert(std::move(path));
}

void NeededFiles::AddSnapshot(const Snapshot& snapshot, int64_t cutoff_ms) {
	for (const LiveFile* file : snapshot.files->Files()) {
		Add(file->path);
		if (file->deletion_vector) Add(*file->deletion_vector);
	}
	for (const auto& batch : snapshot.tombstones) {
		for (const auto& tombstone : *batch) {
			const DvDescriptor* vector = tombstone->deletion_vector ? &*tombstone->deletion_vector : nullptr;
			if (tombstone->deletion_timestamp.value_or(0) >= cutoff_ms) {
				Add(tombstone->path);
				if (vector) Add(*vector);
			} else {
				removed_.insert(PathBelow(root_, tombstone->path));
				removed_.insert(VectorPath(root_, vector));
			}
		}
	}
}

Status NeededFiles::AddCommits(LogStore& store, const std::string& table, int64_t first, int64_t last) {
	for (int64_t version = first; version <= last; version++) {
		const Status read =
			ReadNamedFiles(store, table, version, [&](std::string_view path, const DvDescriptor* vector, bool) {
				Add(path);
				if (vector) Add(*vector);
			});
		if (!read && read.error().kind != ErrorKind::kNotFound) return read;
	}
	return {};
}

Result<std::vector<std::string>> FilesRemovedBy(LogStore& store, const std::string& root, const std::string& table,
												int64_t version) {
	std::vector<std::string> files;
	BRAID_TRY(
		ReadNamedFiles(store, table, version, [&](std::string_view path, const DvDescriptor* vector, bool is_add) {
			if (is_add) return;
			files.push_back(PathBelow(root, path));
			files.push_back(VectorPath(root, vector));
		}));
	std::erase(files, "");
	return files;
}

}  // namespace braid
