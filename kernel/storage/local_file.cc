// SPDX-License-Identifier: Apache-2.0
#include "kernel/storage/local_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace braid {
namespace {

struct Verdict {
	ErrorKind kind;
	const char* way_out;
};

Verdict Judge(FileAccess access, int error) {
	switch (error) {
		case ENOSPC:
		case EDQUOT:
		case EFBIG:
			return {ErrorKind::kNoSpace, "Free space or raise the quota there, then run the statement again"};
		case EROFS:
			return {ErrorKind::kReadOnly,
					"The file system is mounted read-only: the table can be queried but not changed there"};
		case EACCES:
		case EPERM:
			if (access == FileAccess::kRead) return {ErrorKind::kIo, "Grant this user permission to read it"};
			return {ErrorKind::kReadOnly,
					"Grant this user permission to write there; without it the table can only be queried"};
		case ENOENT:
		case ENOTDIR:
			return {ErrorKind::kNotFound, "Check the path"};
		case EEXIST:
			return {ErrorKind::kAlreadyExists, "Choose another name"};
		case EMFILE:
		case ENFILE:
			return {ErrorKind::kIo, "Too many open files: raise the limit (ulimit -n)"};
		default:
			return {ErrorKind::kIo, "Check the device and the system log, then try again"};
	}
}

}  // namespace

FileDescriptor::~FileDescriptor() {
	if (fd_ >= 0) close(fd_);
}

int FileDescriptor::Close() {
	const int fd = std::exchange(fd_, -1);
	return fd < 0 || close(fd) == 0 || errno == EINTR ? 0 : errno;
}

std::unexpected<Error> SystemError(FileAccess access, std::string_view action, const std::string& path, int error) {
	const Verdict verdict = Judge(access, error);
	return Fail(verdict.kind, "cannot " + std::string(action) + " " + path + ": " +
								  std::generic_category().message(error) + ". " + verdict.way_out + ".");
}

Result<FileDescriptor> OpenToRead(const std::string& path) {
	for (;;) {
		FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
		if (file.open()) return file;
		if (errno != EINTR) return SystemError(FileAccess::kRead, "open", path, errno);
	}
}

Result<FileDescriptor> CreateFile(const std::string& path) {
	for (;;) {
		FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
		if (file.open()) return file;
		if (errno != EINTR) return SystemError(FileAccess::kWrite, "create", path, errno);
	}
}

Status WriteAll(const FileDescriptor& file, std::string_view bytes, const std::string& path) {
	while (!bytes.empty()) {
		const ssize_t written = write(file.get(), bytes.data(), bytes.size());
		if (written > 0) {
			bytes.remove_prefix(static_cast<size_t>(written));
		} else if (written == 0) {
			return SystemError(FileAccess::kWrite, "write", path, ENOSPC);
		} else if (errno != EINTR) {
			return SystemError(FileAccess::kWrite, "write", path, errno);
		}
	}
	return {};
}

Status SyncFile(const FileDescriptor& file, const std::string& path) {
	while (fsync(file.get()) != 0) {
		if (errno != EINTR) return SystemError(FileAccess::kWrite, "make durable (fsync)", path, errno);
	}
	return {};
}

Status SyncPath(const std::string& path) {
	BRAID_TRY(const FileDescriptor file, OpenToRead(path));
	return SyncFile(file, path);
}

bool IsFileAt(const FileDescriptor& file, const std::string& path) {
	struct stat here {};
	struct stat there {};
	return fstat(file.get(), &here) == 0 && stat(path.c_str(), &there) == 0 && here.st_ino == there.st_ino &&
		   here.st_dev == there.st_dev;
}

Status CloseWritten(FileDescriptor file, const std::string& path) {
	const int error = file.Close();
	if (error != 0) return SystemError(FileAccess::kWrite, "finish writing", path, error);
	return {};
}

std::string ParentDirectory(const std::string& path) {
	const size_t slash = path.rfind('/');
	if (slash == std::string::npos) return ".";
	return slash == 0 ? "/" : path.substr(0, slash);
}

Result<std::vector<std::string>> MakeDirectories(const std::string& path) {
	std::vector<std::string> missing;
	struct stat info {};
	for (std::string directory = path; stat(directory.c_str(), &info) != 0; directory = ParentDirectory(directory)) {
		if (errno != ENOENT) return SystemError(FileAccess::kWrite, "create directory", directory, errno);
		missing.push_back(directory);
		if (directory == ParentDirectory(directory)) break;
	}
	std::ranges::reverse(missing);
	for (const std::string& directory : missing) {
		if (mkdir(directory.c_str(), 0777) != 0 && errno != EEXIST) {
			return SystemError(FileAccess::kWrite, "create directory", directory, errno);
		}
	}
	return missing;
}

}  // namespace braid
