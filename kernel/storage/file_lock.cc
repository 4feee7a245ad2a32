// SPDX-License-Identifier: Apache-2.0
#include "kernel/storage/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

namespace braid {

static constexpr int kTries = 100;  // files and directories go when others leave

// Unlocking, not only closing: a process that was forked meanwhile has the same open file.
FileLock::~FileLock() {
	if (!file_.open()) return;
	const bool last = flock(file_.get(), LOCK_EX | LOCK_NB) == 0;
	if (last && IsFileAt(file_, path_)) unlink(path_.c_str());
	flock(file_.get(), LOCK_UN);
}

Result<std::optional<FileLock>> FileLock::Try(const std::string& path, Kind kind) {
	const int how = (kind == Kind::kShared ? LOCK_SH : LOCK_EX) | LOCK_NB;
	for (int tries = 0; tries < kTries; tries++) {
		BRAID_TRY(MakeDirectories(ParentDirectory(path)));
		FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
		if (!file.open() && errno == EACCES)
			file = FileDescriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));  // another user's
		if (!file.open()) {
			if (errno == ENOENT || errno == EINTR) continue;
			return SystemError(FileAccess::kWrite, "open", path, errno);
		}
		if (flock(file.get(), how) != 0) {
			if (errno == EWOULDBLOCK) return std::nullopt;
			if (errno == EINTR) continue;
			return SystemError(FileAccess::kWrite, "lock", path, errno);
		}
		if (IsFileAt(file, path)) return FileLock(std::move(file), path);
	}
	return std::nullopt;
}

}  // namespace braid
