// SPDX-License-Identifier: Apache-2.0
#include "kernel/storage/directory_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "kernel/storage/local_file.h"

namespace braid {

namespace {

int64_t Milliseconds(const timespec& time) { return time.tv_sec * int64_t {1000} + time.tv_nsec / 1'000'000; }

TreeEntry Describe(std::string path, const struct stat& info) {
	const TreeKind kind = S_ISREG(info.st_mode)   ? TreeKind::kFile
						  : S_ISDIR(info.st_mode) ? TreeKind::kDirectory
												  : TreeKind::kOther;
	return {std::move(path), kind, info.st_size, Milliseconds(info.st_mtim)};
}

class Walker {
public:
	Walker(const std::string& root, const TreeWalk& walk) : root_(root), walk_(walk) {}

	// `directory`: relative, "" for the root.
	Status Enter(const std::string& directory) {
		const std::string path = directory.empty() ? root_ : root_ + "/" + directory;
		if (walk_.interrupted && walk_.interrupted())
			return Fail(ErrorKind::kInterrupted, "The listing of " + path + " was interrupted");
		const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		const std::unique_ptr<DIR, int (*)(DIR*)> stream(fd < 0 ? nullptr : fdopendir(fd), &closedir);
		const bool vanished = !directory.empty() && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP);
		if (!stream && vanished) return {};
		if (!stream) return SystemError(FileAccess::kRead, "list", path, errno);
		const size_t before = found.size();
		std::vector<std::string> below;
		for (;;) {
			errno = 0;
			const dirent* entry = readdir(stream.get());
			if (entry == nullptr) break;
			const std::string_view name = entry->d_name;
			if (name == "." || name == "..") continue;
			if (!directory.empty() && name == walk_.not_beside) {
				found.resize(before);
				found.back().kind = TreeKind::kOther;
				return {};
			}
			Take(fd, *entry, directory, below);
		}
		if (errno != 0) return SystemError(FileAccess::kRead, "list", path, errno);
		for (const std::string& child : below) {
			struct stat info {};
			if (fstatat(fd, child.substr(child.rfind('/') + 1).c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
			found.push_back(Describe(child, info));
			if (found.back().kind == TreeKind::kDirectory) BRAID_TRY(Enter(child));
		}
		return {};
	}

	std::vector<TreeEntry> found;

private:
	void Take(int fd, const dirent& entry, const std::string& directory, std::vector<std::string>& below) {
		std::string path = directory.empty() ? entry.d_name : directory + "/" + entry.d_name;
		if (walk_.skip(entry.d_name)) {
			found.push_back({std::move(path), TreeKind::kOther, 0, 0});
		} else if (entry.d_type == DT_DIR) {
			below.push_back(std::move(path));
		} else if (entry.d_type == DT_REG && walk_.no_time(path)) {
			found.push_back({std::move(path), TreeKind::kFile, 0, 0});
		} else {
			struct stat info {};
			if (fstatat(fd, entry.d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) return;  // vanished
			if (S_ISDIR(info.st_mode)) {
				below.push_back(std::move(path));
			} else {
				found.push_back(Describe(std::move(path), info));
			}
		}
	}

	const std::string& root_;
	const TreeWalk& walk_;
};

}  // namespace

Result<std::vector<TreeEntry>> ListTree(const std::string& root, const TreeWalk& walk) {
	Walker walker(root, walk);
	BRAID_TRY(walker.Enter(""));
	return std::move(walker.found);
}

std::optional<TreeEntry> InspectBelow(const std::string& root, const std::string& path) {
	struct stat info {};
	for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
		const std::string directory = root + "/" + path.substr(0, slash);
		if (lstat(directory.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return std::nullopt;
	}
	if (lstat((root + "/" + path).c_str(), &info) != 0) return std::nullopt;
	return Describe(path, info);
}

}  // namespace braid
