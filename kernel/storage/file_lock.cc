// SPDX-License-Identifier: Apache-2.0
#include "kernel/storage/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

namespace braid {

// Unlocking, not only closing: a process that was forked meanwhile has the same open file.
FileLock::~FileLock() {
	if (file_.open()) flock(file_.get(), LOCK_UN);
}

Result<std::optional<FileLock>> FileLock::Try(const std::string& path) {
	BRAID_TRY(MakeDirectories(ParentDirectory(path)));
	FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
	if (!file.open()) return SystemError(FileAccess::kWrite, "open", path, errno);
	while (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
		if (errno == EWOULDBLOCK) return std::nullopt;
		if (errno != EINTR) return SystemError(FileAccess::kWrite, "lock", path, errno);
	}
	return FileLock(std::move(file));
}

}  // namespace braid
