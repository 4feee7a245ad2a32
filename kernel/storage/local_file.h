// SPDX-License-Identifier: Apache-2.0
// POSIX files for the local log store: an owned descriptor, whole-buffer writes, fsync of files and directories, and
// errno as Error. Guarantees: every call retries when a signal interrupts it; every error names the path, the system's
// reason and the way out.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace braid {

class FileDescriptor {
public:
	FileDescriptor() = default;
	explicit FileDescriptor(int fd) : fd_(fd) {}
	FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
	FileDescriptor& operator=(FileDescriptor&& other) noexcept {
		std::swap(fd_, other.fd_);
		return *this;
	}
	~FileDescriptor();

	int get() const { return fd_; }
	bool open() const { return fd_ >= 0; }
	int Close();  // errno of close(2), which reports late write errors on network file systems; 0 if all is well

private:
	int fd_ = -1;
};

enum class FileAccess { kRead, kWrite };

// "cannot <action> <path>: <reason>. <what to do>". Permission errors are kReadOnly when writing and kIo when reading.
[[nodiscard]] std::unexpected<Error> SystemError(FileAccess access, std::string_view action, const std::string& path,
												 int error);

Result<FileDescriptor> OpenToRead(const std::string& path);
// A new file, mode 0666 less umask. kAlreadyExists if there is one.
Result<FileDescriptor> CreateFile(const std::string& path);
Status WriteAll(const FileDescriptor& file, std::string_view bytes, const std::string& path);
Status SyncFile(const FileDescriptor& file, const std::string& path);
Status SyncPath(const std::string& path);                            // of a file or a directory, by name
bool IsFileAt(const FileDescriptor& file, const std::string& path);  // false: it was removed or renamed since
Status CloseWritten(FileDescriptor file, const std::string& path);
// mkdir -p. Answers the directories that were missing, outermost first, whoever made them in the end.
Result<std::vector<std::string>> MakeDirectories(const std::string& path);
std::string ParentDirectory(const std::string& path);

}  // namespace braid
