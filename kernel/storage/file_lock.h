// SPDX-License-Identifier: Apache-2.0
// FileLock: an advisory lock (flock) on a file of a table that no engine reads, for work that is not to be done by two at a time. Held until the object
// goes; the system frees it when its holder dies. Who leaves last takes the file away, and a lock counts only on the file that still has its
// name, so no two hold locks on files of one name.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "kernel/storage/local_file.h"

namespace braid {

class FileLock {
public:
	enum class Kind { kExclusive, kShared };

	// Makes the file, and its directories, if they are not there. Nothing: somebody else holds it in a way that excludes ours.
	static Result<std::optional<FileLock>> Try(const std::string& path, Kind kind = Kind::kExclusive);

	FileLock(FileLock&&) noexcept = default;
	FileLock& operator=(FileLock&&) noexcept = default;
	~FileLock();

private:
	FileLock(FileDescriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

	FileDescriptor file_;
	std::string path_;
};

}  // namespace braid
