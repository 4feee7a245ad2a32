// SPDX-License-Identifier: Apache-2.0
// Many vectors share a file, which is looked for once.
#include "kernel/maintenance/missing_files.h"

#include <algorithm>
#include <map>

#include "kernel/log/log_path.h"

namespace braid {

static Result<bool> Exists(LogStore& store, const std::string& path) {
	const auto file = store.Stat(path);
	if (file) return true;
	if (file.error().kind == ErrorKind::kNotFound) return false;
	return std::unexpected(file.error());
}

std::vector<NamedFile> NamesOf(std::span<const AddFile> files) {
	std::vector<NamedFile> names;
	for (const AddFile& file : files)
		names.push_back({file.path, file.deletion_vector ? &*file.deletion_vector : nullptr});
	return names;
}

std::string MissingFile::Describe(std::string_view path) const {
	std::string text(path);
	if (!data) text = "the deletion vector " + vector + " of " + text;
	return text;
}

std::string Describe(std::span<const MissingFile> missing, std::span<const NamedFile> files) {
	constexpr size_t kNamedFiles = 5;
	std::string text;
	for (const MissingFile& file : missing.first(std::min(kNamedFiles, missing.size())))
		text += (text.empty() ? "" : ", ") + file.Describe(files[file.index].path);
	return text + (missing.size() > kNamedFiles ? ", ..." : "");
}

Result<std::vector<MissingFile>> FindMissingFiles(LogStore& store, std::span<const NamedFile> files,
												  const std::function<bool()>& interrupted) {
	std::vector<MissingFile> missing;
	std::map<std::string, bool> vectors;  // by path: whether it is there
	for (size_t i = 0; i < files.size(); i++) {
		if (interrupted && interrupted()) return Fail(ErrorKind::kInterrupted, "Looking for files was interrupted");
		MissingFile found {.index = i};
		BRAID_TRY(const bool is_there, Exists(store, StorePath(files[i].path)));
		found.data = !is_there;
		const DvDescriptor* vector = files[i].deletion_vector;
		if (vector && vector->storage_type != 'i') {
			BRAID_TRY(const std::string path, FilePath(*vector));
			auto known = vectors.find(path);
			if (known == vectors.end()) {
				BRAID_TRY(const bool vector_is_there, Exists(store, path));
				known = vectors.emplace(path, vector_is_there).first;
			}
			if (!known->second) found.vector = path;
		}
		if (found.data || !found.vector.empty()) missing.push_back(std::move(found));
	}
	return missing;
}

}  // namespace braid
