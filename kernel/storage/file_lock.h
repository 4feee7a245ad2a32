// SPDX-License-Identifier: Apache-2.0
// FileLock: the advisory lock (flock) on a file of a table that no engine reads, for work that need not be done twice at a time. Held until the object
// goes; the system frees it when its holder dies. The file stays: taking it away would let two hold a lock on files of one name.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "kernel/storage/local_file.h"

namespace braid {

class FileLock {
public:
	// Makes the file, and its directories, if they are not there. Nothing: somebody else holds it.
	static Result<std::optional<FileLock>> Try(const std::string& path);

	FileLock(FileLock&&) noexcept = default;
	FileLock& operator=(FileLock&&) noexcept = default;
	~FileLock();

private:
	explicit FileLock(FileDescriptor file) : file_(std::move(file)) {}

	FileDescriptor file_;
};

}  // namespace braid
